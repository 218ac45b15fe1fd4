package redisstore_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// TestRS7ADictionaryNeverChanges: stored payloads need it byte for byte.
func TestRS7ADictionaryNeverChanges(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("dictionary/1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const want = "ea48456486c5b99e87b9cee074dfdc0ed02b2a7de7629e5673756bd28c243cff"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
		t.Errorf("dictionary 1 is %x, want %s: add another one instead", sum, want)
	}
}

func TestRS6APayloadComesBackWhole(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 70_000)
	rnd := rand.NewChaCha8([32]byte{})
	_, _ = rnd.Read(noise)
	bodies := [][]byte{[]byte("{"), []byte(`{"schema":"2.0"}`), noise[:100], noise, noise[:64<<10], otherRepository(t, 1), bytes.Repeat(otherRepository(t, 2), 9)}
	samples, err := filepath.Glob("../adapters/*/testdata/samples/*.json")
	if err != nil || len(samples) < 20 {
		t.Fatalf("samples: %d, %v", len(samples), err)
	}
	for _, path := range samples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, text)
	}
	for i, body := range bodies {
		stored := redisstore.Squeeze(body)
		got, err := redisstore.Expand(stored)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("body %d of %d B comes back as %d B, %v", i, len(body), len(got), err)
		}
	}
	if got := redisstore.Squeeze(nil); got != nil {
		t.Errorf("Squeeze(nil) = %q", got)
	}
}

// TestRS7PayloadsOfOlderGatewaysAreRead: what was stored with flate or plain
// s2, and what only a newer gateway can read.
func TestRS7PayloadsOfOlderGatewaysAreRead(t *testing.T) {
	t.Parallel()
	c := trial(t)
	s := openStore(t, redisstore.Options{Client: c})
	var flated bytes.Buffer
	w, err := flate.NewWriter(&flated, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("hello"))
	_ = w.Close()
	for what, row := range map[string]struct {
		stored string
		newer  bool
	}{
		"flate": {"f" + flated.String(), false}, "s2": {"s" + string(s2.Encode(nil, []byte("hello"))), false},
		"a later dictionary": {"d\x02" + string(s2.Encode(nil, []byte("hello"))), true}, "a later codec": {"z...", true},
	} {
		c.Set(t.Context(), "{w}:raw:trg_1", row.stored, 0)
		got, err := s.Raw(t.Context(), gate.TriggerID("trg_1"))
		if row.newer != errors.Is(err, orchestrator.ErrNewer) || (!row.newer && (err != nil || string(got) != "hello")) {
			t.Errorf("RS-7: Raw of %s = %q, %v", what, got, err)
		}
	}
	for _, broken := range []string{"d\x01\xff\xff\xff", "s\xff", "fxx", "d\x01"} {
		c.Set(t.Context(), "{w}:raw:trg_1", broken, 0)
		if got, err := s.Raw(t.Context(), "trg_1"); err == nil && len(got) > 0 {
			t.Errorf("Raw of %q = %q, want an error", broken, got)
		}
	}
}

// FuzzExpand: no stored bytes make it panic, and what it squeezes comes back.
func FuzzExpand(f *testing.F) {
	f.Add([]byte("d\x01\x05\x10hello"))
	f.Add([]byte("fxx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1 && (b[0] == 's' || b[0] == 'd') {
			if n, err := s2.DecodedLen(bytes.TrimPrefix(b[1:], []byte{1})); err != nil || n > 1<<20 {
				return // it says how long it is, and is believed
			}
		}
		_, _ = redisstore.Expand(b)
		if len(b) == 0 {
			return
		}
		if got, err := redisstore.Expand(redisstore.Squeeze(b)); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%q comes back as %q, %v", b, got, err)
		}
	})
}
