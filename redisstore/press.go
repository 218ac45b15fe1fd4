package redisstore

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// The first byte of a stored payload tells how to read the rest.
const (
	codecFlate = 'f' // flate; written by the first gateways
	codecS2    = 's' // an s2 block
	codecDict  = 'd' // the number of a dictionary, then an s2 block made with it
)

// dictionary1 is what platforms send: five deliveries, one a line, the most
// frequent last. It is part of the stored form, never to be changed: a better
// one gets the next number, and this one stays to read what is stored.
//
//go:embed dictionary/1.jsonl
var dictionary1 []byte

// dictReach is the longest body that a dictionary is used for; in a longer one
// it saves little.
const dictReach = 64 << 10

// press compresses bodies.
type press struct {
	dict    func() *s2.Dict
	scratch *sync.Pool
}

func newPress() press {
	return press{
		dict:    sync.OnceValue(func() *s2.Dict { return s2.MakeDict(dictionary1, nil) }),
		scratch: &sync.Pool{New: func() any { return new([]byte) }},
	}
}

// squeeze returns the stored form of a body, nil for none.
func (p press) squeeze(body []byte) []byte {
	if len(body) == 0 {
		return nil
	}
	if len(body) > dictReach {
		out := make([]byte, 1+s2.MaxEncodedLen(len(body)))
		out[0] = codecS2
		return out[:1+len(s2.Encode(out[1:], body))]
	}
	scratch, _ := p.scratch.Get().(*[]byte)
	defer p.scratch.Put(scratch)
	if need := s2.MaxEncodedLen(len(body)); cap(*scratch) < need {
		*scratch = make([]byte, need)
	}
	block := p.dict().Encode((*scratch)[:cap(*scratch)], body)
	return append([]byte{codecDict, 1}, block...)
}

// expand reads a stored form. One that only a newer gateway can read is
// ErrNewer (RS-7).
func (p press) expand(stored []byte) ([]byte, error) {
	switch {
	case len(stored) > 0 && stored[0] == codecFlate:
		return io.ReadAll(flate.NewReader(bytes.NewReader(stored[1:])))
	case len(stored) > 0 && stored[0] == codecS2:
		return s2.Decode(nil, stored[1:])
	case len(stored) > 1 && stored[0] == codecDict && stored[1] == 1:
		return p.dict().Decode(nil, stored[2:])
	}
	return nil, fmt.Errorf("raw payload: %w", orchestrator.ErrNewer)
}
