package github

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// message is what somebody wrote, and where.
type message struct {
	post
	object object
	kind   gate.Kind
	scope  gate.Scope
	// number is the or pull request's; a comment on a commit has
	// commit instead.
	number int64
	commit string
	title  string
	// topic is the top comment of the review thread, replyTo the comment
	// replied to, or 0.
	topic, replyTo int64
	// review is the id of the review that it belongs to, or 0.
	review int64
	// at is when it was said, where that is not created_at.
	at timestamp
	// byAuthor: it is the author's though somebody else sent the event.
	byAuthor bool
}

// created makes the Trigger of a new message. It is its author's, who must also
// be who the event is from: nobody speaks for another (facts C1).
func (c *call) created(m message) Event {
	who, drop := c.author(m)
	if drop != "" {
		return ignored(drop)
	}
	if !m.byAuthor && !m.User.same(c.Sender) {
		return ignored(ReasonNotAuthor)
	}
	at := m.at
	if at.IsZero() {
		at = m.CreatedAt
	}
	if m.UpdatedAt.After(at.Time) {
		at = m.UpdatedAt // a review comment keeps the time of its draft; what counts is when it was published (TR-6)
	}
	addressing := gate.NotAddressed
	if Mentions(m.Body, c.Config.slug()) {
		addressing = gate.Mention
	}
	action := c.Action
	if m.object == objPull {
		action = "opened" // a pull request is new once (GH-2)
	}
	keys := []string{c.key(m, action), gate.MessageKey(c.Config.ID, messageID(m.object, m.ID))}
	return c.trigger(m, who, addressing, at.Time, keys)
}

// edited makes news of an edit, if the author made it: a maintainer who edits
// somebody's comment must not speak for them (GH-5, facts B3). One that adds the
// mention can become a Trigger (TR-4).
func (c *call) edited(m message) Event {
	if c.Changes.Body == nil { // hiding a comment, a title, a base branch: no text changed
		return ignored(ReasonNoTextChange)
	}
	who, drop := c.author(m)
	switch {
	case drop != "":
		return ignored(drop)
	case !m.User.same(c.Sender):
		return ignored(ReasonNotAuthor)
	}
	key := c.key(m, "edited:"+cmp.Or(m.UpdatedAt.version(), textVersion(c.Changes.Body.From, m.Body)))
	addressing, slug := gate.NotAddressed, c.Config.slug()
	if Mentions(m.Body, slug) {
		addressing = gate.Mention
	}
	adds := addressing == gate.Mention && !Mentions(c.Changes.Body.From, slug)
	ev := c.trigger(m, who, addressing, m.UpdatedAt.Time, []string{key})
	if ev.Outcome != Triggered {
		return ev
	}
	ev.Arrival.Change, ev.Arrival.OnlyIfLive = gate.Change{Kind: gate.ChangeEdit, Adds: adds}, false
	if !adds {
		ev.Outcome, ev.Reason, ev.Arrival.Raw = Changed, ReasonEdited, nil
	}
	return ev
}

// textVersion tells edits apart of what carries no updated_at, as a review does
// (TR-1): by what the text was and is.
func textVersion(from, to string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(from)) + ":" + from + to))
	return hex.EncodeToString(sum[:16])
}

// recalled makes news of a deletion, whoever deleted it and whatever scopes are
// received now: what was said is to be forgotten (TR-4a). A deleted text is
// never run.
func (c *call) recalled(m message) Event {
	w := c.place(m)
	return Event{Outcome: Changed, Reason: ReasonRecalled, Thread: w.thread, Arrival: gate.Arrival{
		Trigger: gate.Trigger{
			Workspace: c.Config.Workspace, Source: c.Config.ID, Scope: m.scope, Thread: w.thread, Place: w.place, Kind: m.kind,
			IDs:        gate.PlatformIDs{Message: messageID(m.object, m.ID), Delivery: c.GUID},
			OccurredAt: c.Now, ReceivedAt: c.Now,
		},
		Keys:   []string{gate.DeliveryKey(c.Config.ID, c.GUID), c.key(m, "deleted")},
		Lane:   string(w.thread),
		Change: gate.Change{Kind: gate.ChangeRecall},
	}}
}

// author is who wrote the message, or why it is dropped. Our own is dropped
// first (GH-6).
func (c *call) author(m message) (who gate.Sender, drop Reason) {
	if c.isOwn(m.User, m.Via) {
		return gate.Sender{}, ReasonOwn
	}
	if who = m.User.sender(m.Via); who.Kind == gate.Nobody {
		return who, ReasonNobody
	}
	return who, ""
}

// trigger puts the Arrival together, if the Source listens to the scope. What
// does not address the agent where only that is received counts only on a live
// Thread (AD-9).
func (c *call) trigger(m message, who gate.Sender, a gate.Addressing, at time.Time, keys []string) Event {
	if !c.Source.Listens(m.scope) {
		return ignored(ReasonNotReceived)
	}
	if at.IsZero() {
		at = c.Now
	}
	w := c.place(m)
	text, plain := c.texts(m.Body, a)
	t := gate.Trigger{
		Workspace: c.Config.Workspace, Source: c.Config.ID, Scope: m.scope, Thread: w.thread, Place: w.place, Title: m.title,
		Kind: m.kind, Sender: who, Addressing: a, Text: text, Plain: plain, URL: m.URL,
		IDs: gate.PlatformIDs{Message: messageID(m.object, m.ID), Delivery: c.GUID}, OccurredAt: at.UTC(), ReceivedAt: c.Now,
	}
	if m.review != 0 {
		t.Bundle = "review:" + strconv.FormatInt(m.review, 10)
	}
	if m.replyTo != 0 {
		t.ReplyTo = messageID(m.object, m.replyTo)
	}
	keys = append([]string{gate.DeliveryKey(c.Config.ID, c.GUID)}, keys...)
	return Event{Outcome: Triggered, Thread: w.thread, Arrival: gate.Arrival{
		Trigger: t, Keys: keys, Lane: string(w.thread), OnlyIfLive: !c.Source.Receives(m.scope).Takes(a), Raw: c.raw(),
	}}
}

// key is the dedupe key of an object (TR-1): by the repository's numeric id,
// since names are changed and used again (facts B4).
func (c *call) key(m message, action string) string {
	return strings.Join([]string{
		string(c.Config.ID), strconv.FormatInt(c.Repository.ID, 10), string(m.object), strconv.FormatInt(m.ID, 10), action,
	}, ":")
}

// texts are the Markdown and what is left of it without code, quotes and
// comments, both without the agent's own mention at their start.
func (c *call) texts(body string, a gate.Addressing) (text, plain string) {
	text = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	plain = markdown.Plain(text)
	if a == gate.Mention {
		slug := c.Config.slug()
		return cutMention(text, slug), cutMention(plain, slug)
	}
	return text, plain
}

// maxRaw is the largest body that is kept for replay. Whatever makes a Trigger
// is far smaller; a body that is not must not go through the store.
const maxRaw = 1 << 20

func (c *call) raw() []byte {
	if len(c.Body) > maxRaw {
		return nil
	}
	return c.Body
}
