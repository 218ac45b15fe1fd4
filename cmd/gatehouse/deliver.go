package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// deliver sends a body to the running gateway, signed as the platform would.
func (c replayCmd) deliver(ctx context.Context, cfg *config.Config, s *config.Source, event string, body []byte) (replayed, error) {
	url := c.URL
	if url == "" {
		url = "http://" + cfg.Listen + "/webhooks/" + string(s.ID)
	}
	sealed, header := seal(s, event, body)
	status, err := post(ctx, url, sealed, header)
	if err != nil {
		return replayed{}, fmt.Errorf("deliver to %s: %w; is the gateway running?", url, err)
	}
	if status != http.StatusOK {
		return replayed{Outcome: "refused", Reason: fmt.Sprintf("the gateway answered %d", status)}, nil
	}
	return replayed{Outcome: "delivered", Reason: "the gateway took it; see GET /v1/triggers"}, nil
}

// seal signs a body with the Source's own secret.
func seal(s *config.Source, event string, body []byte) ([]byte, http.Header) {
	if s.Platform() == gate.GitHub {
		return body, http.Header{
			"X-Github-Event": {event}, "X-Github-Delivery": {uuid.NewSHA1(uuid.NameSpaceOID, body).String()},
			"X-Hub-Signature-256": {githubsim.Sign(s.GitHub.WebhookSecrets[0].Reveal(), body)},
		}
	}
	key := s.Feishu.EncryptKey.Reveal()
	sealed := fmt.Appendf(nil, `{"encrypt":%q}`, feishusim.Encrypt(key, body))
	return sealed, feishusim.Sign(key, time.Now(), sealed)
}

func post(ctx context.Context, url string, body []byte, header http.Header) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, nil
}

// force takes a body in through the admin listener, as an operator (TR-7).
func (c replayCmd) force(ctx context.Context, a *app, s *config.Source, event string, body []byte) (replayed, error) {
	gw, err := gatewayFlags{Config: c.Config, URL: c.URL, Token: c.Token}.client(a)
	if err != nil {
		return replayed{}, err
	}
	var out replayed
	asked := map[string]any{"event": event, "body": json.RawMessage(body)}
	err = gw.send(ctx, http.MethodPost, "/v1/sources/"+string(s.ID)+"/replay", nil, asked, &out)
	return out, err
}

// Replay takes a recorded body in for an operator who forces it (TR-7).
func (g *gateway) Replay(ctx context.Context, source gate.SourceID, event string, body []byte, by string) (api.Replayed, error) {
	p, ok := g.plugs[source]
	if !ok {
		return api.Replayed{}, orchestrator.ErrNotFound
	}
	r := p.read(event, body)
	if r.arrival == nil || r.arrival.Change.Kind != gate.NoChange {
		return api.Replayed{Outcome: r.outcome, Reason: r.reason}, nil
	}
	id, receipt, err := g.service.Replay(ctx, *r.arrival, by)
	if receipt != orchestrator.Stored {
		return api.Replayed{Outcome: "ignored", Reason: string(receipt)}, err
	}
	return api.Replayed{Outcome: r.outcome, Trigger: id}, nil
}
