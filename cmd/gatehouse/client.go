package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// gatewayFlags say where the running gateway is: --config names its admin
// address and first operator token; --url and --token, or GATEHOUSE_URL and
// GATEHOUSE_TOKEN, go first.
type gatewayFlags struct {
	Config string `default:"${config}" placeholder:"FILE" help:"The configuration of the running gateway (${default})."`
	URL    string `env:"GATEHOUSE_URL" placeholder:"URL" help:"The admin listener, instead of the configuration's."`
	Token  string `env:"GATEHOUSE_TOKEN" placeholder:"TOKEN" help:"A token, instead of the configuration's first operator's."`
}

// client calls the admin listener of the running gateway.
type client struct {
	url, token string
	http       *http.Client
}

func (f gatewayFlags) client(a *app) (*client, error) {
	c := &client{url: strings.TrimSuffix(f.URL, "/"), token: f.Token, http: &http.Client{Timeout: 30 * time.Second}}
	if c.url != "" && c.token != "" {
		return c, nil
	}
	cfg, faults := config.Load(f.Config, a.env)
	if cfg == nil {
		return nil, fmt.Errorf("where is the gateway? give --url and --token, or a good --config: %w", faults.Err())
	}
	if c.url == "" {
		c.url = "http://" + cfg.Admin.Listen
	}
	if c.token == "" {
		c.token = cfg.Admin.Operator().Token.Reveal()
	}
	return c, nil
}

// errNotRunning: nobody answers where the gateway should be.
var errNotRunning = errors.New("is it running?")

// get reads a JSON answer; a problem document becomes an error with its code.
func (c *client) get(ctx context.Context, path string, to any) error {
	return c.send(ctx, http.MethodGet, path, nil, nil, to)
}

// send makes a call and reads its JSON answer. A body is sent as it is when it
// is bytes, else as JSON.
func (c *client) send(ctx context.Context, method, path string, header http.Header, body, to any) error {
	data, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return fmt.Errorf("write request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the gateway at %s: %w; %w", c.url, errors.Unwrap(err), errNotRunning)
	}
	defer res.Body.Close()
	answer := io.LimitReader(res.Body, 16<<20)
	if res.StatusCode != http.StatusOK {
		var p struct {
			Code, Detail string
			Faults       []string
		}
		_ = json.NewDecoder(answer).Decode(&p)
		return fmt.Errorf("%s %s: %s %s: %s", method, path, res.Status, p.Code, strings.Join(append([]string{p.Detail}, p.Faults...), "\n"))
	}
	return json.NewDecoder(answer).Decode(to)
}
