package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// The headers of a delivery (facts A1).
const (
	headerEvent     = "X-GitHub-Event"
	headerDelivery  = "X-GitHub-Delivery"
	headerSignature = "X-Hub-Signature-256"
)

// maxBody is GitHub's own cap on a payload (facts A1).
const maxBody = 25 << 20

// signature reads the one signature header: `sha256=` and 64 hex digits. The
// SHA-1 twin that comes beside it is not looked at, and two are none (facts F).
func signature(h http.Header) (sum []byte, ok bool) {
	values := h.Values(headerSignature)
	if len(values) != 1 {
		return nil, false
	}
	digits, ok := strings.CutPrefix(values[0], "sha256=")
	if !ok || len(digits) != 2*sha256.Size {
		return nil, false
	}
	sum, err := hex.DecodeString(digits)
	return sum, err == nil
}

// signedBy is the index of the secret that made the signature over the raw body,
// or -1. It takes the same time whichever it was: all are tried.
func signedBy(secrets []string, body, sum []byte) (index int) {
	index = -1
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		match := hmac.Equal(mac.Sum(nil), sum)
		if match && len(secret) >= minSecret {
			index = i
		}
	}
	return index
}

// media is how the body holds the JSON.
type media uint8

const (
	otherMedia media = iota // 415
	jsonMedia
	formMedia
)

func mediaOf(h http.Header) media {
	values := h.Values("Content-Type")
	if len(values) != 1 {
		return otherMedia
	}
	switch t, _, err := mime.ParseMediaType(values[0]); {
	case err != nil:
		return otherMedia
	case t == "application/json":
		return jsonMedia
	case t == "application/x-www-form-urlencoded":
		return formMedia
	}
	return otherMedia
}

var errForm = errors.New("not one payload field")

// payloadOf takes the JSON out of a body. A form has it in its one field
// `payload`; two of them would be read differently by different readers.
func payloadOf(m media, body []byte) ([]byte, error) {
	if m == jsonMedia {
		return body, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || len(form["payload"]) != 1 {
		return nil, errForm
	}
	return []byte(form.Get("payload")), nil
}

// name and GUID of a delivery, each given once; neither is signed.
func eventHeaders(h http.Header) (event, guid string, ok bool) {
	event, guid = one(h, headerEvent), one(h, headerDelivery)
	return event, guid, headerWord(event) && headerWord(guid)
}

func one(h http.Header, name string) string {
	if values := h.Values(name); len(values) == 1 {
		return strings.TrimSpace(values[0])
	}
	return ""
}

// headerWord: what an event's name or a GUID is made of.
func headerWord(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}
