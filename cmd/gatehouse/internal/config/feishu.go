package config

import "github.com/gatehouse-bot/gatehouse/gate"

// Transport is how Feishu's events come.
type Transport string

// The transports.
const (
	Webhook   Transport = "webhook"
	WebSocket Transport = "websocket"
)

// Feishu is what a Source of kind feishu has.
type Feishu struct {
	Transport         Transport
	AppID             string
	AppSecret         Secret
	EncryptKey        Secret
	VerificationToken Secret
	Receive           FeishuReceive
	ReplyInThread     bool // FS-3
}

// FeishuReceive is what of Feishu enters the system.
type FeishuReceive struct {
	Chats      map[string]gate.Receive // by chat id
	OtherChats gate.Receive            // mentions or off
	Direct     bool
	AtAll      bool // @all addresses the agent (AD-6a)
}

func newFeishu() *Feishu {
	return &Feishu{
		Transport:     Webhook,
		ReplyInThread: true,
		Receive:       FeishuReceive{Chats: map[string]gate.Receive{}, Direct: true},
	}
}

func readFeishu(o *object, f *Feishu) {
	enum(o.key("transport"), &f.Transport, Webhook, WebSocket)
	o.must("app_id", "it is on the app's page, cli_…").text(&f.AppID)
	o.mustSecret("app_secret", "it is on the app's page, next to the app id", &f.AppSecret)
	if f.Transport == Webhook {
		const why = "a webhook without it takes anybody's events; it is under Events & callbacks"
		o.mustSecret("encrypt_key", why, &f.EncryptKey)
		o.mustSecret("verification_token", why, &f.VerificationToken)
	} else {
		o.secret("encrypt_key", &f.EncryptKey)
		o.secret("verification_token", &f.VerificationToken)
	}
	o.key("reply_in_thread").boolean(&f.ReplyInThread)
	o.key("receive").object(func(o *object) { readFeishuReceive(o, &f.Receive) })
}

func readFeishuReceive(o *object, to *FeishuReceive) {
	o.key("chats").entries(func(id string, n node) {
		if !some(id) {
			n.faultKey("want a chat's id, oc_…")
		}
		var r gate.Receive
		named(n, &r, "all", "mentions", "off")
		to.Chats[id] = r
	})
	named(o.key("other_chats"), &to.OtherChats, "mentions", "off")
	o.key("direct").boolean(&to.Direct)
	o.key("at_all").boolean(&to.AtAll)
}

// scopes are the receiving scopes: a direct message always addresses, so that
// all are received.
func (r FeishuReceive) scopes() map[gate.Scope]gate.Receive {
	scopes := map[gate.Scope]gate.Receive{gate.OtherChats: r.OtherChats}
	for id, receive := range r.Chats {
		scopes[gate.ChatScope(id)] = receive
	}
	if r.Direct {
		scopes[gate.DirectChat] = gate.ReceiveAll
	}
	return scopes
}
