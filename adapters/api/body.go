package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// maxBody bounds what a call may send.
const maxBody = 1 << 20

// bodyReader reads a request's body.
type bodyReader struct {
	w http.ResponseWriter
	r *http.Request
}

// json decodes one JSON value, and nothing after it. Unknown fields are left
// alone: fields may be added.
func (b bodyReader) json(to any) error {
	if media, _, err := mime.ParseMediaType(b.r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return errMedia
	}
	d := json.NewDecoder(http.MaxBytesReader(b.w, b.r.Body, maxBody))
	if err := d.Decode(to); err != nil {
		return badBody(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more than one JSON value", errBadBody)
	}
	return nil
}

func badBody(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return errBodyTooLarge
	}
	return fmt.Errorf("%w: %w", errBadBody, err)
}

// maxWait bounds a long poll.
const maxWait = time.Minute

// wait reads ?wait=30s: how long the caller is willing to wait, at most a
// minute; none when left out.
func (q query) wait() (time.Duration, error) {
	v := q.get("wait")
	if v == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, badQuery("wait is a duration such as 30s.")
	}
	return min(d, maxWait), nil
}
