package feishu

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// value is what a card's button carries and brings back: opaque ids and a
// signature, no authority (CA-6, facts C.9). Option is empty on the button that
// submits a text.
type value struct {
	Question approvals.ID `json:"q,omitempty"`
	Option   string       `json:"o,omitempty"`
	// Ticket is set, and the others are not, on a Stop button (ST-2).
	Ticket gate.TicketID `json:"t,omitempty"`
	MAC    string        `json:"s"`
}

// sign makes a button's value. The key is derived from the Source's encrypt
// key, so it is the same on every replica.
func (c Config) sign(question approvals.ID, option string) value {
	return value{Question: question, Option: option, MAC: c.mac(question, option)}
}

// signStop makes a Stop button's value. No question has an id like that.
func (c Config) signStop(t gate.TicketID) value {
	return value{Ticket: t, MAC: c.mac(approvals.ID("stop:"+t), "")}
}

// genuine verifies in constant time.
func (c Config) genuine(v value) bool {
	if v.Ticket != "" {
		return v.Question == "" && v.Option == "" && hmac.Equal([]byte(v.MAC), []byte(c.signStop(v.Ticket).MAC))
	}
	return v.Question != "" && v.MAC != "" && hmac.Equal([]byte(v.MAC), []byte(c.mac(v.Question, v.Option)))
}

func (c Config) mac(question approvals.ID, option string) string {
	key, err := hkdf.Key(sha256.New, []byte(c.EncryptKey), nil, "gatehouse feishu card value v1", sha256.Size)
	if err != nil {
		return "" // only for lengths that are not asked for here; verifies nothing, since no value has an empty MAC
	}
	h := hmac.New(sha256.New, key)
	for _, part := range [...]string{c.Workspace, string(question), option} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// readValue takes a value out of an action: an object, or a string holding one
// (facts C.1, F18).
func readValue(raw json.RawMessage) (v value, ok bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = json.RawMessage(s)
	}
	if json.Unmarshal(raw, &v) != nil || v.Question == "" && v.Ticket == "" || v.MAC == "" {
		return value{}, false
	}
	return v, true
}

// submitName is a form's submit button as a name: the documentation promises
// the name of a submit button, its value only seems to come too (facts C.6). It
// holds the same, with a shorter signature. "" for an id that is no UUID.
func (c Config) submitName(question approvals.ID, option string) string {
	mark := "s_"
	if option == approvals.OptionReject {
		mark = "r_"
	}
	id := strings.ReplaceAll(string(question), "-", "")
	mac := c.mac(question, option)
	if len(id) != uuidDigits || len(mac) < shortMAC {
		return "submit"
	}
	return mark + id + "_" + mac[:shortMAC]
}

// optionValue is an option in a list to choose from: its id with a short
// signature, since a list's value is a string (CA-6).
func (c Config) optionValue(question approvals.ID, option string) string {
	mac := c.mac(question, option)
	return option + "." + mac[:min(len(mac), shortMAC)]
}

// readOption verifies such a value and takes the option out of it.
func (c Config) readOption(question approvals.ID, s string) (option string, ok bool) {
	at := len(s) - shortMAC - 1
	if at < 1 {
		return "", false
	}
	option = s[:at]
	return option, hmac.Equal([]byte(s), []byte(c.optionValue(question, option)))
}

const (
	uuidDigits = 32
	shortMAC   = 16 // of base64: 96 bits
)

// readName takes the value out of such a name and verifies it.
func (c Config) readName(name string) (v value, ok bool) {
	if len(name) != len("s_")+uuidDigits+len("_")+shortMAC {
		return value{}, false
	}
	switch name[:2] {
	case "s_":
	case "r_":
		v.Option = approvals.OptionReject
	default:
		return value{}, false
	}
	id := name[2 : 2+uuidDigits]
	v.Question = approvals.ID(id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:])
	if v.MAC = c.mac(v.Question, v.Option); len(v.MAC) < shortMAC {
		return value{}, false
	}
	return v, hmac.Equal([]byte(name[3+uuidDigits:]), []byte(v.MAC[:shortMAC]))
}
