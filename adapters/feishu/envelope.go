package feishu

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// text is a JSON value that should be a string. Numbers are taken as they are
// written and everything else is empty: one field of an odd type must not lose
// a message (facts B.1, F20).
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(b []byte) error {
	*t = ""
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
		return nil
	}
	var n json.Number
	if json.Unmarshal(b, &n) == nil {
		*t = text(n)
	}
	return nil
}

// envelope is the outside of everything that comes in (facts A.2, A.6): a v2
// event or callback, a challenge, and enough of the retired forms to name them.
type envelope struct {
	Schema text           `json:"schema"`
	Header envelopeHeader `json:"header"`
	Event  json.RawMessage

	Type      text `json:"type"` // url_verification; v1: event_callback
	Token     text `json:"token"`
	Challenge text `json:"challenge"`

	UUID          text            `json:"uuid"`            // v1
	OpenMessageID text            `json:"open_message_id"` // the old card callback
	Action        json.RawMessage `json:"action"`          // the old card callback
}

type envelopeHeader struct {
	EventID    text `json:"event_id"`
	EventType  text `json:"event_type"`
	CreateTime text `json:"create_time"`
	Token      text `json:"token"`
	AppID      text `json:"app_id"`
	TenantKey  text `json:"tenant_key"`
}

var errEnvelope = errors.New("not one JSON object")

// decodeEnvelope reads one JSON object; unknown and odd fields are no error.
func decodeEnvelope(plain []byte) (envelope, error) {
	var e envelope
	if trimmed := bytes.TrimSpace(plain); len(trimmed) == 0 || trimmed[0] != '{' {
		return e, errEnvelope
	}
	if json.Unmarshal(plain, &e) != nil {
		return envelope{}, errEnvelope
	}
	return e, nil
}

func (e envelope) isChallenge() bool { return e.Schema == "" && e.Type == "url_verification" }

// isV1 reports the first event format, which is not spoken any more (FS-4).
func (e envelope) isV1() bool { return e.Schema == "" && (e.Type == "event_callback" || e.UUID != "") }

// isOldCard reports the retired card callback (facts C.8), which never is
// encrypted.
func (e envelope) isOldCard() bool {
	return e.Schema == "" && e.OpenMessageID != "" && len(e.Action) > 0
}

// instant reads a platform time by its number of digits: seconds, milli-,
// micro- or nanoseconds (facts section 0). ok is false when it is none.
func instant(s text) (t time.Time, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(s)), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}, false
	}
	switch digits := len(strconv.FormatInt(n, 10)); {
	case digits <= 11:
		return time.Unix(n, 0).UTC(), true
	case digits <= 14:
		return time.UnixMilli(n).UTC(), true
	case digits <= 17:
		return time.UnixMicro(n).UTC(), true
	default:
		return time.Unix(0, n).UTC(), true
	}
}
