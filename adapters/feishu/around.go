package feishu

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"

	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	// nearPage is the longest page of messages that the platform gives, and
	// nearPages how many are read to pass what was said since.
	nearPage  = 50
	nearPages = 4
	// nearEnough is how many earlier messages are looked for: 20 and the
	// opening, which may be among them (EV-2a).
	nearEnough = 21
)

var (
	errTakenBack = errors.New("it was taken back, or is later")
	errManySince = errors.New("too much was said since")
)

// Surrounder reads what was said near a message (EV-2a).
type Surrounder struct{ bot *Bot }

// NewSurrounder returns the Surrounder of bot's Source.
func NewSurrounder(bot *Bot) *Surrounder { return &Surrounder{bot} }

// Around implements the orchestrator's port. Earlier messages are those of the
// Trigger's topic, else of its chat: what people point at with "this" stands
// there. Messages that were recalled are not given, nor what an edited one
// reads since (GH-5 has its like here). It needs the bot to be in the chat, and
// in a group the scope im:message.group_msg (facts B.5); a part without is
// unread.
func (s *Surrounder) Around(ctx context.Context, t gate.Trigger) gate.Surroundings {
	var opening, replied, earlier found
	var reading sync.WaitGroup
	if t.Place.Root != "" && t.Place.Root != t.IDs.Message {
		reading.Go(func() { opening = s.one(ctx, t, t.Place.Root) })
	}
	if t.ReplyTo != "" && t.ReplyTo != t.Place.Root {
		reading.Go(func() { replied = s.one(ctx, t, t.ReplyTo) })
	}
	reading.Go(func() { earlier = s.before(ctx, t) })
	reading.Wait()
	if t.ReplyTo != "" && t.ReplyTo == t.Place.Root {
		replied = opening
	}
	out := gate.Surroundings{Opening: opening.first(), RepliedTo: replied.first(), Earlier: earlier.quotes}
	opening.missing(gate.PartOpening, &out)
	replied.missing(gate.PartRepliedTo, &out)
	earlier.missing(gate.PartEarlier, &out)
	return out
}

// found are quotes, and why not all of them.
type found struct {
	quotes []gate.Quote
	err    error
}

func (f found) first() *gate.Quote {
	if len(f.quotes) == 0 {
		return nil
	}
	return &f.quotes[0]
}

func (f found) missing(part gate.Part, in *gate.Surroundings) {
	if f.err != nil {
		in.Unread = append(in.Unread, gate.Unread{Part: part, Why: f.err.Error()})
	}
}

// one reads a single message.
func (s *Surrounder) one(ctx context.Context, t gate.Trigger, id string) found {
	got, err := s.bot.api.message(ctx, id)
	if err != nil {
		return found{err: err}
	}
	if len(got) > 0 {
		if q, ok := s.quote(t, got[0]); ok {
			return found{quotes: []gate.Quote{q}}
		}
	}
	return found{err: errTakenBack}
}

// before reads the topic or chat back from the Trigger. A topic's messages
// cannot be asked for by time, so what was said since is passed over.
func (s *Surrounder) before(ctx context.Context, t gate.Trigger) (f found) {
	defer func() { slices.Reverse(f.quotes) }() // oldest first, as they were said
	query := larkcore.QueryParams{}
	query.Set("container_id_type", "chat")
	query.Set("container_id", t.Place.Chat)
	if t.Place.Topic != "" {
		query.Set("container_id_type", "thread")
		query.Set("container_id", t.Place.Topic)
	} else {
		query.Set("end_time", strconv.FormatInt(t.OccurredAt.Unix()+1, 10))
	}
	query.Set("sort_type", "ByCreateTimeDesc")
	query.Set("page_size", strconv.Itoa(nearPage))
	for range nearPages {
		p, err := s.bot.api.messages(ctx, query)
		if err != nil {
			f.err = err
			return f
		}
		for _, m := range p.messages {
			if q, ok := s.quote(t, m); ok {
				f.quotes = append(f.quotes, q)
			}
		}
		if p.next == "" || len(f.quotes) >= nearEnough {
			return f
		}
		query.Set("page_token", p.next)
	}
	f.err = errManySince
	return f
}

// quote is a message as of the Trigger's time; false for what was recalled, is
// later, or was said by nobody.
func (s *Surrounder) quote(t gate.Trigger, in stored) (gate.Quote, bool) {
	at, ok := instant(in.CreateTime)
	if !ok || in.Deleted || at.After(t.OccurredAt) || in.Kind == "system" || string(in.MessageID) == t.IDs.Message {
		return gate.Quote{}, false
	}
	q := gate.Quote{Message: string(in.MessageID), At: at}
	q.Sender, q.Own = s.author(in)
	if in.changedAfter(t.OccurredAt) {
		q.Edited = true
		return q, true
	}
	who := newPeople(in.Mentions, s.bot.OpenID(), Setting{Config: s.bot.cfg}.everyone())
	q.Text = readContent(string(in.Kind), string(in.Body.Content), who).markdown
	return q, true
}

// changedAfter: it was edited, and not provably before.
func (in stored) changedAfter(t time.Time) bool {
	at, ok := instant(in.UpdateTime)
	return in.Updated && (!ok || at.After(t))
}

// author is who said a message, in the API's terms (facts section 0): user is a
// person, app is a bot, by its App ID.
func (s *Surrounder) author(in stored) (who gate.Sender, own bool) {
	id := string(in.Sender.ID)
	switch in.Sender.Kind {
	case "user":
		who = gate.Sender{Kind: gate.Person, ID: id}
	case "app", "bot":
		who = gate.Sender{Kind: gate.Bot, ID: id}
	default:
		return gate.Sender{}, false
	}
	if tenant := string(in.Sender.Tenant); s.bot.Tenant() != "" && tenant != s.bot.Tenant() {
		who.Tenant = tenant
	}
	own = id == s.bot.cfg.AppID || id != "" && id == s.bot.OpenID() || s.bot.sent.has(string(in.MessageID))
	return who, own
}
