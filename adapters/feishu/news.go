package feishu

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// news is an event about an earlier message. A recall names it at the top; of an
// edit the shape is not documented, so only its ids are taken (facts B.6).
type news struct {
	MessageID  text `json:"message_id"`
	ChatID     text `json:"chat_id"`
	RecallTime text `json:"recall_time"`
	Message    struct {
		MessageID  text `json:"message_id"`
		ChatID     text `json:"chat_id"`
		UpdateTime text `json:"update_time"`
	} `json:"message"`
}

// readNews makes news of a recall or an edit (TR-4, TR-4a). It counts in every
// scope: what was said is to be forgotten though nothing is received there now.
func (s Setting) readNews(env envelope, change gate.Change, why Reason) Event {
	var n news
	if json.Unmarshal(env.Event, &n) != nil {
		return ignored(ReasonUnreadable)
	}
	id, chat := string(n.MessageID), string(n.ChatID)
	if id == "" {
		id, chat = string(n.Message.MessageID), string(n.Message.ChatID)
	}
	if !platformID(id) || !platformID(chat) {
		return ignored(ReasonUnreadable)
	}
	t := gate.Trigger{
		Workspace: s.Config.Workspace, Source: s.Config.ID, Kind: gate.KindMessage, Place: gate.Place{Chat: chat},
		IDs:        gate.PlatformIDs{Event: string(env.Header.EventID), Message: id},
		OccurredAt: s.Now, ReceivedAt: s.Now,
	}
	for _, at := range [...]text{n.RecallTime, n.Message.UpdateTime, env.Header.CreateTime} {
		if when, ok := instant(at); ok {
			t.OccurredAt = when
			break
		}
	}
	key := string(s.Config.ID) + ":" + string(change.Kind) + ":" + id
	if env.Header.EventID != "" {
		key = string(s.Config.ID) + ":event:" + string(env.Header.EventID)
	}
	return Event{Outcome: Changed, Reason: why, Arrival: gate.Arrival{
		Trigger: t, Keys: []string{key}, Lane: string(s.thread(chat, id)), Change: change,
	}}
}

// Rereader reads edited messages back (FS-4).
type Rereader struct {
	bot    *Bot
	source func() gate.Source
}

// NewRereader returns the Rereader of bot's Source.
func NewRereader(bot *Bot, source func() gate.Source) *Rereader { return &Rereader{bot, source} }

// Reread implements the orchestrator's port: what the message reads now. It is
// false for one that was deleted, and for what has no author with an open_id,
// such as our own. Its error is a *gate.SendError.
func (r *Rereader) Reread(ctx context.Context, t gate.Trigger) (gate.Trigger, bool, error) {
	found, err := r.bot.api.message(ctx, t.IDs.Message)
	if err != nil {
		return t, false, sendError(err)
	}
	if len(found) == 0 {
		return t, false, &gate.SendError{Class: gate.SendDropped, Reason: "feishu gave no message"}
	}
	s := Setting{
		Config: r.bot.cfg, Source: r.source(), BotOpenID: r.bot.OpenID(), Tenant: r.bot.Tenant(), Sent: r.bot.sent.has, Now: t.ReceivedAt,
	}
	now, ok := s.reread(t, found[0])
	return now, ok, nil
}

// reread is what an edited message reads now. The API does not say whether its
// chat is a DM: one that is not configured counts as any other group, and where
// the message is known its own scope and Thread hold.
func (s Setting) reread(t gate.Trigger, in stored) (gate.Trigger, bool) {
	if in.Deleted || in.Sender.IDType != "open_id" || in.Sender.Kind != "user" || string(in.MessageID) != t.IDs.Message {
		return t, false
	}
	who := newPeople(in.Mentions, s.BotOpenID, s.everyone())
	what := readContent(string(in.Kind), string(in.Body.Content), who)
	var m message
	m.Message.ChatID, m.Message.RootID, m.Message.ThreadID = in.ChatID, in.RootID, in.ThreadID
	t.Addressing = s.addressing(m, who)
	t.Scope, _, _ = s.scope(m, t.Addressing)
	t.Sender = gate.Sender{Kind: gate.Person, ID: string(in.Sender.ID)}
	if tenant := string(in.Sender.Tenant); s.Tenant != "" && tenant != s.Tenant {
		t.Sender.Tenant = tenant
	}
	t.Text, t.Plain, t.Attachments = what.markdown, markdown.Plain(what.markdown), what.files
	t.ReplyTo = string(in.ParentID)
	s.place(&t, m)
	if at, ok := instant(in.UpdateTime); ok && at.After(t.OccurredAt) {
		t.OccurredAt = at
	}
	return t, true
}
