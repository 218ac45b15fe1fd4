package feishu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"
	larkim "github.com/larksuite/oapi-sdk-go/v3/service/im/v1"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/logs"
)

// api is the open platform's API as one app uses it.
type api struct {
	config *larkcore.Config
	tokens *tokens
	im     *larkim.V1
}

func newAPI(cfg Config) *api {
	config := &larkcore.Config{
		BaseUrl: cfg.baseURL(), AppId: cfg.AppID, AppSecret: cfg.AppSecret, AppType: larkcore.AppTypeSelfBuilt,
		HttpClient: &boundedClient{http: &http.Client{
			Timeout:       cfg.requestTimeout(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}},
		Logger: silent{}, LogLevel: larkcore.LogLevelError,
	}
	larkcore.NewSerialization(config)
	return &api{config: config, tokens: newTokens(config), im: larkim.New(config)}
}

// call makes one API call with the tenant's token. When the platform takes the
// token for invalid, it is made once more with a new one (facts D.4).
func (a *api) call(ctx context.Context, what string, do func(context.Context, larkcore.RequestOptionFunc) (*larkcore.ApiResp, error)) (*larkcore.ApiResp, error) {
	bad := ""
	for try := 0; ; try++ {
		token, err := a.tokens.get(ctx, bad)
		if err != nil {
			return nil, fmt.Errorf("%s: get a tenant token: %w", what, err)
		}
		resp, err := do(ctx, larkcore.WithTenantAccessToken(token))
		if err == nil {
			err = answered(resp)
		} else {
			err = trim(err)
		}
		err = of(what, err)
		if try == 0 && classOf(err) == classToken {
			bad = token
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		return resp, nil
	}
}

// apiError is an answer of the platform that is not a success. It holds no text
// of the platform's: an answer can quote what was sent, or be a whole page
// (facts F27). What its code means is said in our own words.
type apiError struct {
	// call is what was asked: some codes mean different things to different
	// calls (facts section 0).
	call   string
	status int
	code   int
	// sub is the ErrCode inside a 230099's message (facts D.3).
	sub   int
	after time.Duration
}

func (e *apiError) Error() string {
	if _, why := classes(e.call, e.code); e.code != 0 && why != unknownCode {
		return e.numbers() + ": " + why
	}
	return e.numbers()
}

func (e *apiError) numbers() string {
	switch {
	case e.sub != 0:
		return fmt.Sprintf("feishu answered code %d/%d (HTTP %d)", e.code, e.sub, e.status)
	case e.code != 0:
		return fmt.Sprintf("feishu answered code %d (HTTP %d)", e.code, e.status)
	}
	return fmt.Sprintf("feishu answered HTTP %d", e.status)
}

// of names the call that an error answered.
func of(call string, err error) error {
	var e *apiError
	if errors.As(err, &e) {
		e.call = call
	}
	return err
}

// answered reads code and status: business errors come with HTTP 400 or 200,
// the code decides (facts D.2).
func answered(resp *larkcore.ApiResp) error {
	var body struct {
		Code *int   `json:"code"`
		Msg  string `json:"msg"`
	}
	err := json.Unmarshal(resp.RawBody, &body)
	if err == nil && body.Code != nil && *body.Code == 0 && resp.StatusCode < 300 {
		return nil
	}
	e := &apiError{status: resp.StatusCode, after: waitOf(resp.Header)}
	if err == nil && body.Code != nil {
		e.code, e.sub = *body.Code, subCode(body.Msg)
	}
	return e
}

// waitOf is the wait that a rate limit names, in seconds (facts D.2).
func waitOf(h http.Header) time.Duration {
	for _, name := range [...]string{"X-Ogw-Ratelimit-Reset", "Retry-After"} {
		if s, err := strconv.Atoi(h.Get(name)); err == nil && s > 0 && s < 24*3600 {
			return time.Duration(s) * time.Second
		}
	}
	return 0
}

// subCode finds "ErrCode: 11310" in a message, or 0.
func subCode(msg string) int {
	const mark = "ErrCode:"
	i := bytes.Index([]byte(msg), []byte(mark))
	if i < 0 {
		return 0
	}
	n := 0
	_, _ = fmt.Sscanf(msg[i+len(mark):], " %d", &n)
	return n
}

// boundedClient keeps an answer small and JSON: anything else becomes an
// apiError here, before the SDK makes an error of the whole page (facts F27).
type boundedClient struct{ http *http.Client }

const maxAnswer = 1 << 20

// Do implements the SDK's HttpClient.
func (c *boundedClient) Do(r *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(r) //nolint:gosec // the SDK builds the URL from the operator's base_url
	if err != nil {
		return nil, unreached(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, unreached(err)
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media != "application/json" || !json.Valid(body) || resp.StatusCode == http.StatusGatewayTimeout {
		return nil, &apiError{status: resp.StatusCode, after: waitOf(resp.Header)}
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// unreachable stands for what went wrong below HTTP; the address and the query
// of the SDK's and net/http's errors stay out of logs.
type unreachable struct{ why string }

func (e *unreachable) Error() string {
	if e.why == "" {
		return "feishu does not answer"
	}
	return "feishu does not answer: " + e.why
}

// unreached is taken before the SDK makes an error without a cause of it.
func unreached(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return &unreachable{logs.Why(err)}
}

// trim keeps of an error only what may be logged.
func trim(err error) error {
	var e *apiError
	var u *unreachable
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &u):
		return u
	}
	return unreached(err)
}

// silent keeps the SDK from logging: its debug lines hold whole requests.
type silent struct{}

func (silent) Debug(context.Context, ...any) {}
func (silent) Info(context.Context, ...any)  {}
func (silent) Warn(context.Context, ...any)  {}
func (silent) Error(context.Context, ...any) {}
