package feishu

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"
)

// tokens is the tenant access token of one Source. The SDK's own cache is
// process-global and has no single flight (facts D.4, F26), and it repeats a
// refused call with the same token.
type tokens struct {
	// turn is held by the one who fetches; the others wait for it or for
	// their context.
	turn   chan struct{}
	config *larkcore.Config
	now    func() time.Time

	value string
	until time.Time
}

// tokenSpare: a token is not used in its last minutes.
const tokenSpare = 5 * time.Minute

func newTokens(config *larkcore.Config) *tokens {
	return &tokens{turn: make(chan struct{}, 1), config: config, now: time.Now}
}

// get returns a token other than bad: the cached one, or a new one that a
// single caller fetches.
func (t *tokens) get(ctx context.Context, bad string) (string, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if t.value != "" && t.value != bad && t.now().Before(t.until) {
		return t.value, nil
	}
	return t.fetch(ctx)
}

func (t *tokens) fetch(ctx context.Context) (string, error) {
	t.value = ""
	resp, err := larkcore.Request(ctx, &larkcore.ApiReq{
		HttpMethod: http.MethodPost, ApiPath: larkcore.TenantAccessTokenInternalUrlPath,
		Body:                      &larkcore.SelfBuiltTenantAccessTokenReq{AppID: t.config.AppId, AppSecret: t.config.AppSecret},
		SupportedAccessTokenTypes: []larkcore.AccessTokenType{larkcore.AccessTokenTypeNone},
	}, t.config)
	if err != nil {
		return "", trim(err)
	}
	var got struct {
		Token  string `json:"tenant_access_token"`
		Expire int    `json:"expire"`
	}
	if err := answered(resp); err != nil {
		return "", err
	}
	if json.Unmarshal(resp.RawBody, &got) != nil || got.Token == "" {
		return "", &apiError{status: resp.StatusCode}
	}
	life := time.Duration(got.Expire) * time.Second
	t.value, t.until = got.Token, t.now().Add(life-min(tokenSpare, life/2))
	return t.value, nil
}
