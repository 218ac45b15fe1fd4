package feishu

import (
	"encoding/json"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Outcome is what a body turned out to be. The zero value refuses.
type Outcome uint8

// The closed set of outcomes.
const (
	// Refused: not ours, or not to be believed; 401.
	Refused Outcome = iota
	// Ignored: ours, and nothing follows from it; 200, counted by Reason.
	Ignored
	// Challenge: the platform checks the address; it gets the challenge back.
	Challenge
	// CardClick: somebody answered a card. With a Reason the click is refused
	// by a toast and nobody is asked.
	CardClick
	// Triggered: a message that the gate must judge.
	Triggered
	// Changed: news of an earlier message, an edit or a recall (FS-4), or of a
	// chat that the bot came into or left (EN-5).
	Changed
)

// String is the word that `gatehouse replay` prints.
func (o Outcome) String() string {
	switch o {
	case Ignored:
		return "ignored"
	case Challenge:
		return "challenge"
	case CardClick:
		return "card"
	case Triggered:
		return "trigger"
	case Changed:
		return "change"
	case Refused:
		return "refused"
	}
	return "refused"
}

// MarshalText gives the word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Reason is why a body was refused or ignored: a fixed word for counters, logs
// and replay.
type Reason string

// Why a body is refused (FS-1). The sender is not told which.
const (
	ReasonSignature Reason = "bad_signature"
	ReasonUnsigned  Reason = "no_signature"
	ReasonPlain     Reason = "not_encrypted"
	ReasonDecrypt   Reason = "does_not_decrypt"
	ReasonMedia     Reason = "not_json"
	ReasonEnvelope  Reason = "no_envelope"
	ReasonToken     Reason = "wrong_token"
	ReasonApp       Reason = "wrong_app"
	ReasonTenant    Reason = "wrong_tenant"
	ReasonV1        Reason = "event_v1"
	ReasonOldCard   Reason = "old_card_callback"
)

// Why an event of ours is ignored (TR-3, TR-5, FS-2, FS-3, FS-4).
const (
	ReasonUnreadable   Reason = "unreadable"
	ReasonEmpty        Reason = "empty_content"
	ReasonOwn          Reason = "own_message"
	ReasonNobody       Reason = "unknown_sender"
	ReasonSourceOff    Reason = "source_off"
	ReasonNotReceived  Reason = "scope_not_received"
	ReasonNotAddressed Reason = "not_addressed"
	ReasonRecalled     Reason = "recalled"
	ReasonUpdated      Reason = "updated"
	ReasonRead         Reason = "message_read"
	ReasonReaction     Reason = "reaction"
	ReasonBotAdded     Reason = "bot_added"
	ReasonBotRemoved   Reason = "bot_removed"
	ReasonDisbanded    Reason = "chat_disbanded"
	ReasonChatChanged  Reason = "chat_changed"
	ReasonChatEntered  Reason = "chat_entered"
	ReasonMenu         Reason = "bot_menu"
	ReasonUnknownType  Reason = "unknown_type"
	ReasonPanic        Reason = "panic"
)

// Why a click is refused before anybody is asked.
const (
	ReasonForged     Reason = "forged_value"
	ReasonNoOperator Reason = "no_operator"
	ReasonNoMessage  Reason = "no_message"
)

// Event is what Translate makes of a body. Only the fields of its Outcome are
// set.
type Event struct {
	Outcome Outcome
	Reason  Reason
	// ID and Type are the platform's, Tenant the receiving tenant.
	ID, Type, Tenant string
	// Challenge is to be sent back.
	Challenge string
	Arrival   gate.Arrival
	Click     approvals.AnswerRequest
	// Stop is set instead where the click was on a Stop button (ST-2).
	Stop gate.StopClick
}

func refused(r Reason) Event { return Event{Outcome: Refused, Reason: r} }

func ignored(r Reason) Event { return Event{Outcome: Ignored, Reason: r} }

// message is an im.message.receive_v1 event (facts B.1).
type message struct {
	Sender struct {
		SenderID   ids  `json:"sender_id"`
		SenderType text `json:"sender_type"`
		TenantKey  text `json:"tenant_key"`
	} `json:"sender"`
	Message struct {
		MessageID   text            `json:"message_id"`
		RootID      text            `json:"root_id"`
		ParentID    text            `json:"parent_id"`
		ThreadID    text            `json:"thread_id"`
		CreateTime  text            `json:"create_time"`
		ChatID      text            `json:"chat_id"`
		ChatType    text            `json:"chat_type"`
		MessageType text            `json:"message_type"`
		Content     text            `json:"content"`
		Mentions    json.RawMessage `json:"mentions"`
	} `json:"message"`
}

// ids are the ways in which Feishu names one account.
type ids struct {
	OpenID  text `json:"open_id"`
	UnionID text `json:"union_id"`
	UserID  text `json:"user_id"`
	AppID   text `json:"app_id"`
}

// aliases are the other ids in the form of an allow list's entries (AD-11).
func (i ids) aliases() []string {
	var out []string
	if i.UnionID != "" {
		out = append(out, "union:"+string(i.UnionID))
	}
	if i.UserID != "" {
		out = append(out, "user:"+string(i.UserID))
	}
	if i.AppID != "" {
		out = append(out, string(i.AppID))
	}
	return out
}

// click is a card.action.trigger callback (facts C.1).
type click struct {
	Operator struct {
		ids
		TenantKey text `json:"tenant_key"`
	} `json:"operator"`
	Action struct {
		Value      json.RawMessage            `json:"value"`
		Tag        text                       `json:"tag"`
		Name       text                       `json:"name"`
		FormValue  map[string]json.RawMessage `json:"form_value"`
		Option     text                       `json:"option"`
		InputValue text                       `json:"input_value"`
	} `json:"action"`
	Context struct {
		OpenMessageID text `json:"open_message_id"`
		OpenChatID    text `json:"open_chat_id"`
	} `json:"context"`
}
