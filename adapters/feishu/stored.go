package feishu

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"
)

// stored is a message as the API gives it (facts B.1).
type stored struct {
	MessageID  text `json:"message_id"`
	RootID     text `json:"root_id"`
	ParentID   text `json:"parent_id"`
	ThreadID   text `json:"thread_id"`
	Kind       text `json:"msg_type"`
	CreateTime text `json:"create_time"`
	UpdateTime text `json:"update_time"`
	Deleted    bool `json:"deleted"`
	Updated    bool `json:"updated"`
	ChatID     text `json:"chat_id"`
	Sender     struct {
		ID     text `json:"id"`
		IDType text `json:"id_type"`
		Kind   text `json:"sender_type"`
		Tenant text `json:"tenant_key"`
	} `json:"sender"`
	Body struct {
		Content text `json:"content"`
	} `json:"body"`
	Mentions json.RawMessage `json:"mentions"`
}

// page is one page of messages; next is the token of the next, or "".
type page struct {
	messages []stored
	next     string
}

// message reads one message. A merged-forward message comes with its children
// behind it (facts B.3).
func (a *api) message(ctx context.Context, id string) ([]stored, error) {
	p, err := a.read(ctx, "read message", "/open-apis/im/v1/messages/:message_id", larkcore.PathParams{"message_id": id}, nil)
	return p.messages, err
}

// messages reads a page of a chat or a topic.
func (a *api) messages(ctx context.Context, query larkcore.QueryParams) (page, error) {
	return a.read(ctx, "list messages", "/open-apis/im/v1/messages", nil, query)
}

// read is decoded by ourselves: the SDK's own types lose a whole answer for one
// odd field (facts F20).
func (a *api) read(ctx context.Context, what, path string, params larkcore.PathParams, query larkcore.QueryParams) (page, error) {
	resp, err := a.call(ctx, what, func(ctx context.Context, as larkcore.RequestOptionFunc) (*larkcore.ApiResp, error) {
		req := &larkcore.ApiReq{
			HttpMethod: http.MethodGet, ApiPath: path, PathParams: params, QueryParams: query,
			SupportedAccessTokenTypes: []larkcore.AccessTokenType{larkcore.AccessTokenTypeTenant},
		}
		return larkcore.Request(ctx, req, a.config, as)
	})
	if err != nil {
		return page{}, err
	}
	var answer struct {
		Data struct {
			Items   []stored `json:"items"`
			HasMore bool     `json:"has_more"`
			Next    text     `json:"page_token"`
		} `json:"data"`
	}
	if err := json.Unmarshal(resp.RawBody, &answer); err != nil {
		return page{}, fmt.Errorf("%s: %w", what, &apiError{status: resp.StatusCode})
	}
	p := page{messages: answer.Data.Items}
	if answer.Data.HasMore {
		p.next = string(answer.Data.Next)
	}
	return p, nil
}
