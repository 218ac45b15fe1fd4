package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// deliver sends a body to the running gateway, signed as the platform would.
func (c replayCmd) deliver(ctx context.Context, cfg *config.Config, s *config.Source, _ string, body []byte) (replayed, error) {
	url := c.URL
	if url == "" {
		url = "http://" + cfg.Listen + "/webhooks/" + string(s.ID)
	}
	key := s.Feishu.EncryptKey.Reveal()
	sealed := fmt.Appendf(nil, `{"encrypt":%q}`, feishusim.Encrypt(key, body))
	header := feishusim.Sign(key, time.Now(), sealed)
	status, err := post(ctx, url, sealed, header)
	if err != nil {
		return replayed{}, fmt.Errorf("deliver to %s: %w; is the gateway running?", url, err)
	}
	if status != http.StatusOK {
		return replayed{Outcome: "refused", Reason: fmt.Sprintf("the gateway answered %d", status)}, nil
	}
	return replayed{Outcome: "delivered", Reason: "the gateway took it; see GET /v1/triggers"}, nil
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
