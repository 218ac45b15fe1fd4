package feishusim_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"
	larkevent "github.com/larksuite/oapi-sdk-go/v3/event"
	"github.com/larksuite/oapi-sdk-go/v3/event/dispatcher"
	"github.com/larksuite/oapi-sdk-go/v3/event/dispatcher/callback"
	larkim "github.com/larksuite/oapi-sdk-go/v3/service/im/v1"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
)

const card = `{"schema":"2.0","config":{"update_multi":true},"body":{"elements":[{"tag":"markdown","content":"Deploy?"},
{"tag":"button","text":{"tag":"plain_text","content":"Yes"},"behaviors":[{"type":"callback","value":{"option":"yes"}}]}]}}`

// platform is a Sim with its API served.
func platform(t *testing.T) (*feishusim.Sim, *larkcore.Config) {
	t.Helper()
	sim := feishusim.New(feishusim.App{})
	api := httptest.NewServer(sim)
	t.Cleanup(api.Close)
	config := &larkcore.Config{
		BaseUrl: api.URL, AppId: sim.App().ID, AppSecret: sim.App().Secret, AppType: larkcore.AppTypeSelfBuilt,
		ReqTimeout: 5 * time.Second, LogLevel: larkcore.LogLevelError, Logger: quiet{},
	}
	larkcore.NewSerialization(config)
	larkcore.NewHttpClient(config)
	return sim, config
}

type quiet struct{}

func (quiet) Debug(context.Context, ...any) {}
func (quiet) Info(context.Context, ...any)  {}
func (quiet) Warn(context.Context, ...any)  {}
func (quiet) Error(context.Context, ...any) {}

// dispatch serves the SDK's own dispatcher, which checks signature and
// encryption.
func dispatch(t *testing.T, app feishusim.App, on func(*dispatcher.EventDispatcher)) string {
	t.Helper()
	d := dispatcher.NewEventDispatcher(app.Token, app.EncryptKey)
	d.InitConfig(larkevent.WithLogger(quiet{}))
	on(d)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		resp := d.Handle(r.Context(), &larkevent.EventReq{Header: r.Header, Body: body, RequestURI: r.RequestURI})
		w.WriteHeader(resp.StatusCode)
		_, _ = w.Write(resp.Body)
	}))
	t.Cleanup(hook.Close)
	return hook.URL
}

func TestTheSDKTakesTheSimsMessages(t *testing.T) {
	t.Parallel()
	sim, _ := platform(t)
	var got *larkim.P2MessageReceiveV1
	hook := dispatch(t, sim.App(), func(d *dispatcher.EventDispatcher) {
		d.OnP2MessageReceiveV1(func(_ context.Context, e *larkim.P2MessageReceiveV1) error {
			got = e
			return nil
		})
	})
	lin := sim.Person("林岚")
	said := sim.Say(sim.Group("ops"), lin, "@bot deploy")
	a, err := sim.Deliver(t.Context(), hook, said)
	if err != nil || a.Status != http.StatusOK || got == nil {
		t.Fatalf("the dispatcher answered %d %s, %v", a.Status, a.Body, err)
	}
	m := got.Event.Message
	if *m.MessageId != said.Message || *m.Content != `{"text":"@_user_1 deploy"}` || *got.Event.Sender.SenderId.OpenId != lin.OpenID || *m.Mentions[0].Id.OpenId != sim.App().BotOpenID {
		t.Errorf("the dispatcher read %s", larkcore.Prettify(got.Event))
	}
}

func TestTheSDKTakesTheSimsChallengeAndClicks(t *testing.T) {
	t.Parallel()
	sim, _ := platform(t)
	hook := dispatch(t, sim.App(), func(d *dispatcher.EventDispatcher) {
		d.OnP2CardActionTrigger(func(_ context.Context, e *callback.CardActionTriggerEvent) (*callback.CardActionTriggerResponse, error) {
			return &callback.CardActionTriggerResponse{Toast: &callback.Toast{Type: "info", Content: e.Event.Action.Value["option"].(string)}}, nil
		})
	})
	a, err := sim.Challenge(t.Context(), hook)
	if err != nil || a.Challenge == "" {
		t.Errorf("challenge = %s, %v", a.Body, err)
	}
	shown := feishusim.Message{ID: "om_1", Chat: "oc_1", Type: "interactive", Content: json.RawMessage(card)}
	for _, what := range []string{"Yes", "yes"} {
		a, err = sim.Click(t.Context(), hook, shown, sim.Person("林岚"), what)
		if err != nil || a.Toast.Content != "yes" {
			t.Errorf("click %s = %s, %v", what, a.Body, err)
		}
	}
	if _, err = sim.Click(t.Context(), hook, shown, sim.Person("林岚"), "Maybe"); err == nil {
		t.Error("click on a button that is not there = nil, want an error")
	}
}

// as gives a token to a call, as a client without cache does.
func as(t *testing.T, sim *feishusim.Sim, config *larkcore.Config) larkcore.RequestOptionFunc {
	t.Helper()
	resp, err := larkcore.Request(t.Context(), &larkcore.ApiReq{
		HttpMethod: http.MethodPost, ApiPath: larkcore.TenantAccessTokenInternalUrlPath,
		Body:                      &larkcore.SelfBuiltTenantAccessTokenReq{AppID: sim.App().ID, AppSecret: sim.App().Secret},
		SupportedAccessTokenTypes: []larkcore.AccessTokenType{larkcore.AccessTokenTypeNone},
	}, config)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Token string `json:"tenant_access_token"`
	}
	if err := json.Unmarshal(resp.RawBody, &got); err != nil {
		t.Fatal(err)
	}
	return larkcore.WithTenantAccessToken(got.Token)
}

func TestTheSDKsClientIsAnswered(t *testing.T) {
	t.Parallel()
	sim, config := platform(t)
	im, token := larkim.New(config), as(t, sim, config)
	create := larkim.NewCreateMessageReqBuilder().ReceiveIdType("chat_id").Body(larkim.NewCreateMessageReqBodyBuilder().
		ReceiveId(sim.Group("ops").ID).MsgType("interactive").Content(card).Uuid("row-1").Build()).Build()
	first, err := im.Message.Create(t.Context(), create, token)
	if err != nil || !first.Success() {
		t.Fatalf("Create = %v, %v", first, err)
	}
	id := *first.Data.MessageId
	again, err := im.Message.Create(t.Context(), create, token)
	if err != nil || *again.Data.MessageId != id {
		t.Errorf("Create again = %v, %v, want the same message: uuid", again, err)
	}
	sim.Now = func() time.Time { return time.Now().Add(61 * time.Minute) }
	later, err := im.Message.Create(t.Context(), create, token)
	if err != nil || *later.Data.MessageId == id {
		t.Errorf("Create an hour later = %v, %v, want a new message", later, err)
	}
	got, err := im.Message.Get(t.Context(), larkim.NewGetMessageReqBuilder().MessageId(id).Build(), token)
	if err != nil || !got.Success() || *got.Data.Items[0].MsgType != "interactive" {
		t.Errorf("Get = %v, %v", got, err)
	}
}

func TestTheSimRefuses(t *testing.T) {
	t.Parallel()
	sim, config := platform(t)
	im, token := larkim.New(config), as(t, sim, config)
	gone := sim.Group("gone")
	gone.Gone = true
	sim.SetChat(gone)
	for name, tt := range map[string]struct {
		chat, kind, content, uuid string
		code                      int
	}{
		"a chat that the bot is not in":  {gone.ID, "text", `{"text":"x"}`, "", 230002},
		"a chat that nobody knows":       {"oc_x", "text", `{"text":"x"}`, "", 230002},
		"D.1 a post without a locale":    {sim.Group("ops").ID, "post", `{"title":"","content":[]}`, "", 230001},
		"D.1 text that is no JSON":       {sim.Group("ops").ID, "text", `hello`, "", 230001},
		"a card of JSON 1.0":             {sim.Group("ops").ID, "interactive", `{"elements":[]}`, "", 230099},
		"C.6 the action module of 1.0":   {sim.Group("ops").ID, "interactive", `{"schema":"2.0","config":{"update_multi":true},"body":{"elements":[{"tag":"action"}]}}`, "", 230099},
		"C.3 a nameless field in a form": {sim.Group("ops").ID, "interactive", `{"schema":"2.0","config":{"update_multi":true},"body":{"elements":[{"tag":"form","name":"f","elements":[{"tag":"input"},{"tag":"button","name":"b","form_action_type":"submit"}]}]}}`, "", 230099},
		"D.1 a uuid over 50 characters":  {sim.Group("ops").ID, "text", `{"text":"x"}`, string(make([]byte, 51)), 99992402},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := im.Message.Create(t.Context(), larkim.NewCreateMessageReqBuilder().ReceiveIdType("chat_id").Body(
				larkim.NewCreateMessageReqBodyBuilder().ReceiveId(tt.chat).MsgType(tt.kind).Content(tt.content).Uuid(tt.uuid).Build()).Build(), token)
			if err != nil || resp.Code != tt.code {
				t.Errorf("Create = %v, %v, want code %d", resp, err, tt.code)
			}
		})
	}
	if n := len(sim.Messages()); n != 0 {
		t.Errorf("%d messages, want none", n)
	}
}
