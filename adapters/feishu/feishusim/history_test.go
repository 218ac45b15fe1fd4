package feishusim_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	larkim "github.com/larksuite/oapi-sdk-go/v3/service/im/v1"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
)

// TestTheSDKReadsHistory: a chat and a topic can be read page by page, with the
// platform's own conditions.
func TestTheSDKReadsHistory(t *testing.T) {
	t.Parallel()
	sim, config := platform(t)
	im := larkim.New(config)
	lin, ops := sim.Person("林岚"), sim.Group("ops")
	as := as(t, sim, config)
	list := func(build func(*larkim.ListMessageReqBuilder)) *larkim.ListMessageResp {
		t.Helper()
		b := larkim.NewListMessageReqBuilder().SortType("ByCreateTimeDesc")
		build(b)
		resp, err := im.Message.List(t.Context(), b.Build(), as)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	chat := func(b *larkim.ListMessageReqBuilder) { b.ContainerIdType("chat").ContainerId(ops.ID) }
	texts := func(r *larkim.ListMessageResp) (out string) {
		for _, m := range r.Data.Items {
			out += *m.Body.Content + " "
		}
		return strings.NewReplacer(`{"text":"`, "", `"}`, "").Replace(strings.TrimSpace(out))
	}
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	root := sim.Say(ops, lin, "one", feishusim.At(at))
	sim.Say(ops, sim.Bot("ci"), "two", feishusim.At(at.Add(time.Minute)))
	gone := sim.Say(ops, lin, "three", feishusim.At(at.Add(2*time.Minute)))
	sim.Recall(gone.Message)

	page := list(func(b *larkim.ListMessageReqBuilder) { chat(b); b.PageSize(2) })
	if texts(page) != "This message was recalled two" || !*page.Data.HasMore || !*page.Data.Items[0].Deleted || *page.Data.Items[1].Sender.SenderType != "app" {
		t.Errorf("the first page = %s", texts(page))
	}
	page = list(func(b *larkim.ListMessageReqBuilder) { chat(b); b.PageSize(2).PageToken(*page.Data.PageToken) })
	if texts(page) != "one" || *page.Data.HasMore {
		t.Errorf("the second page = %s", texts(page))
	}
	page = list(func(b *larkim.ListMessageReqBuilder) {
		chat(b)
		b.StartTime(sec(at.Add(time.Minute))).EndTime(sec(at.Add(time.Minute)))
	})
	if texts(page) != "two" {
		t.Errorf("the messages of a second = %s, want two", texts(page))
	}
	_, err := im.Message.Reply(t.Context(), larkim.NewReplyMessageReqBuilder().MessageId(root.Message).Body(
		larkim.NewReplyMessageReqBodyBuilder().MsgType("text").Content(`{"text":"in topic"}`).ReplyInThread(true).Build()).Build(), as)
	if err != nil {
		t.Fatal(err)
	}
	topic := sim.Message(root.Message).Topic
	if got := texts(list(func(b *larkim.ListMessageReqBuilder) { b.ContainerIdType("thread").ContainerId(topic) })); got != "in topic one" {
		t.Errorf("the topic = %s", got)
	}
	if got := texts(list(chat)); strings.Contains(got, "in topic") {
		t.Errorf("the chat = %s, want only the root of the topic", got)
	}
	for name, b := range map[string]func(*larkim.ListMessageReqBuilder){
		"a topic by time":  func(b *larkim.ListMessageReqBuilder) { b.ContainerIdType("thread").ContainerId(topic).EndTime("1") },
		"too long a page":  func(b *larkim.ListMessageReqBuilder) { chat(b); b.PageSize(51) },
		"a strange choice": func(b *larkim.ListMessageReqBuilder) { b.ContainerIdType("x").ContainerId(ops.ID) },
	} {
		if r := list(b); r.Success() || r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s = %d, want a refusal", name, r.Code)
		}
	}
	sim.Fail(feishusim.Fault{Call: "list", Code: 230027})
	if r := list(chat); r.Code != 230027 {
		t.Errorf("without the scope = %d, want 230027", r.Code)
	}
	ops.Gone = true
	sim.SetChat(ops)
	if r := list(chat); r.Code != 230002 {
		t.Errorf("outside the chat = %d, want 230002", r.Code)
	}
}

func sec(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
