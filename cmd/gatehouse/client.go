package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// get reads a JSON answer; a problem document becomes an error with its code.
func (c *client) get(ctx context.Context, path string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the gateway at %s: %w; is it running?", c.url, errors.Unwrap(err))
	}
	defer res.Body.Close()
	body := io.LimitReader(res.Body, 16<<20)
	if res.StatusCode != http.StatusOK {
		var p struct{ Code, Detail string }
		_ = json.NewDecoder(body).Decode(&p)
		return fmt.Errorf("GET %s: %s %s: %s", path, res.Status, p.Code, p.Detail)
	}
	return json.NewDecoder(body).Decode(to)
}
