package feishu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"
	larkim "github.com/larksuite/oapi-sdk-go/v3/service/im/v1"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// target is where a message goes.
type target struct {
	chat string
	// anchors are the messages to reply to, best first; none: into the chat.
	anchors []string
	direct  bool
}

// targetOf finds the thread that an Outgoing belongs to (OUT-2). A DM's answer
// quotes only what it is told to quote.
func targetOf(out gate.Outgoing) target {
	t := target{chat: out.Place.Chat, direct: out.Direct}
	if out.Message != "" {
		t.anchors = append(t.anchors, out.Message)
	}
	if out.Place.Root != "" && out.Place.Root != out.Message && !out.Direct {
		t.anchors = append(t.anchors, out.Place.Root)
	}
	return t
}

// post sends the first form that is taken. Each degradation is new content and
// has a uuid of its own, derived from the same id.
func (s *Sender) post(ctx context.Context, to target, uuid string, forms []form) (gate.Sent, error) {
	var sent gate.Sent
	var err error
	for i, f := range forms {
		sent, err = s.deliver(ctx, to, uuidFor(uuid, i, ""), f)
		if classOf(err) != classContent {
			break
		}
		s.log.Warn("content refused, degrading", "reason", f.kind, "err", err)
	}
	if err == nil {
		s.bot.sent.add(sent.Message)
	}
	return sent, err
}

// deliver replies to the first anchor that is still there, else says it in the
// chat, once, and says so (facts D.3, anchor gone).
func (s *Sender) deliver(ctx context.Context, to target, uuid string, f form) (gate.Sent, error) {
	for i, anchor := range to.anchors {
		sent, err := s.replyTo(ctx, anchor, uuidFor(uuid, i, "a"), f, s.bot.cfg.ReplyInThread && !to.direct)
		if classOf(err) != classAnchor {
			return sent, err
		}
		s.log.Warn("the message to reply to is gone", "err", err)
	}
	if len(to.anchors) > 0 {
		f = f.movedForm()
		uuid = uuidFor(uuid, 1, "c")
	}
	return s.create(ctx, to.chat, uuid, f)
}

// movedForm is the form of the same kind that says that the message is not where it
// belongs; a question's card has none, it says itself what it is about.
func (f form) movedForm() form {
	if f.moved == "" {
		return f
	}
	return form{kind: f.kind, content: f.moved}
}

// replyTo repeats without the flag where the chat has no topics (230071).
func (s *Sender) replyTo(ctx context.Context, anchor, uuid string, f form, inThread bool) (gate.Sent, error) {
	sent, err := s.replyOnce(ctx, anchor, uuid, f, inThread)
	if inThread && classOf(err) == classNoTopic {
		return s.replyOnce(ctx, anchor, uuid, f, false)
	}
	return sent, err
}

func (s *Sender) replyOnce(ctx context.Context, anchor, uuid string, f form, inThread bool) (gate.Sent, error) {
	body := larkim.NewReplyMessageReqBodyBuilder().MsgType(f.kind).Content(f.content).Uuid(uuid)
	if inThread {
		body.ReplyInThread(true)
	}
	req := larkim.NewReplyMessageReqBuilder().MessageId(anchor).Body(body.Build()).Build()
	resp, err := s.bot.api.call(ctx, callReply, func(ctx context.Context, as larkcore.RequestOptionFunc) (*larkcore.ApiResp, error) {
		r, err := s.bot.api.im.Message.Reply(ctx, req, as)
		if err != nil {
			return nil, err
		}
		return r.ApiResp, nil
	})
	return sentOf(resp, err)
}

func (s *Sender) create(ctx context.Context, chat, uuid string, f form) (gate.Sent, error) {
	req := larkim.NewCreateMessageReqBuilder().ReceiveIdType(receiverType(chat)).
		Body(larkim.NewCreateMessageReqBodyBuilder().ReceiveId(chat).MsgType(f.kind).Content(f.content).Uuid(uuid).Build()).Build()
	resp, err := s.bot.api.call(ctx, "send", func(ctx context.Context, as larkcore.RequestOptionFunc) (*larkcore.ApiResp, error) {
		r, err := s.bot.api.im.Message.Create(ctx, req, as)
		if err != nil {
			return nil, err
		}
		return r.ApiResp, nil
	})
	return sentOf(resp, err)
}

// receiverType: a Place whose chat is a person's open_id is a DM that does not
// exist yet (CA-1, "else by DM").
func receiverType(chat string) string {
	if len(chat) > 3 && chat[:3] == "ou_" {
		return "open_id"
	}
	return "chat_id"
}

func (s *Sender) patch(ctx context.Context, message, content string) error {
	req := larkim.NewPatchMessageReqBuilder().MessageId(message).
		Body(larkim.NewPatchMessageReqBodyBuilder().Content(content).Build()).Build()
	_, err := s.bot.api.call(ctx, callPatch, func(ctx context.Context, as larkcore.RequestOptionFunc) (*larkcore.ApiResp, error) {
		r, err := s.bot.api.im.Message.Patch(ctx, req, as)
		if err != nil {
			return nil, err
		}
		return r.ApiResp, nil
	})
	return err
}

func (s *Sender) addReaction(ctx context.Context, message, emoji string) error {
	req := larkim.NewCreateMessageReactionReqBuilder().MessageId(message).
		Body(larkim.NewCreateMessageReactionReqBodyBuilder().ReactionType(larkim.NewEmojiBuilder().EmojiType(emoji).Build()).Build()).Build()
	_, err := s.bot.api.call(ctx, "react", func(ctx context.Context, as larkcore.RequestOptionFunc) (*larkcore.ApiResp, error) {
		r, err := s.bot.api.im.MessageReaction.Create(ctx, req, as)
		if err != nil {
			return nil, err
		}
		return r.ApiResp, nil
	})
	return err
}

func sentOf(resp *larkcore.ApiResp, err error) (gate.Sent, error) {
	if err != nil {
		return gate.Sent{}, err
	}
	var got struct {
		Data struct {
			MessageID string `json:"message_id"`
			ChatID    string `json:"chat_id"`
		} `json:"data"`
	}
	if json.Unmarshal(resp.RawBody, &got) != nil || got.Data.MessageID == "" {
		return gate.Sent{}, &apiError{status: resp.StatusCode}
	}
	return gate.Sent{Message: got.Data.MessageID, Chat: got.Data.ChatID}, nil
}

// partUUID is the uuid of a part: the Outgoing's own id for the first, one that
// is derived from it for the others, so that a retry repeats each part and no
// part stands for another.
func partUUID(id string, part int) string {
	if part == 0 {
		return fit(id)
	}
	return fit(id + "-" + strconv.Itoa(part+1))
}

// uuidFor derives the uuid of the n-th variant of a message; the 0th is it.
func uuidFor(uuid string, n int, mark string) string {
	if n == 0 {
		return uuid
	}
	return fit(uuid + "." + mark + strconv.Itoa(n))
}

// fit keeps a uuid within the platform's 50 characters, and apart from others.
func fit(uuid string) string {
	if len(uuid) <= maxUUID {
		return uuid
	}
	sum := sha256.Sum256([]byte(uuid))
	return hex.EncodeToString(sum[:16])
}
