package githubsim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Answer is what the webhook answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Deliver signs a delivery and posts it as JSON.
func (s *Sim) Deliver(ctx context.Context, hook string, d Delivery) (Answer, error) {
	return s.send(ctx, hook, d, false)
}

func (s *Sim) send(ctx context.Context, hook string, d Delivery, again bool) (Answer, error) {
	body, header := s.Sealed(d)
	a, err := s.Post(ctx, hook, body, header)
	s.attempted(d, hook, again, a, err)
	return a, err
}

// DeliverForm posts it as a form, which is what a hook sends that was made
// without a content type. The signature is over the form.
func (s *Sim) DeliverForm(ctx context.Context, hook string, d Delivery) (Answer, error) {
	body := []byte(url.Values{"payload": {string(d.Body)}}.Encode())
	_, header := s.Sealed(d)
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	header.Set("X-Hub-Signature-256", Sign(s.app.Secret, body))
	return s.Post(ctx, hook, body, header)
}

// Sealed gives a delivery's body and the headers that GitHub sends with it.
func (s *Sim) Sealed(d Delivery) ([]byte, http.Header) {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitHub-Hookshot/sim")
	h.Set("X-GitHub-Event", d.Event)
	h.Set("X-GitHub-Delivery", d.GUID)
	h.Set("X-GitHub-Hook-ID", "1")
	h.Set("X-GitHub-Hook-Installation-Target-Type", "integration")
	h.Set("X-GitHub-Hook-Installation-Target-ID", fmt.Sprint(s.app.ID))
	h.Set("X-Hub-Signature-256", Sign(s.app.Secret, d.Body))
	return d.Body, h
}

// Sign is the value of X-Hub-Signature-256 for a body as it goes over the wire.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Post posts a body as it is.
func (s *Sim) Post(ctx context.Context, hook string, body []byte, header http.Header) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("post webhook: %w", err)
	}
	req.Header = header.Clone()
	client := s.Client
	if client == nil {
		client = &http.Client{Timeout: 5 * time.Second}
	}
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("post webhook: %w", err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxRequest))
	if err != nil {
		return Answer{}, fmt.Errorf("read webhook answer: %w", err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: got}, nil
}

// set puts a value at a dotted path of a JSON object.
func set(v map[string]any, path string, to any) {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		inner, ok := v[k].(map[string]any)
		if !ok {
			inner = map[string]any{}
			v[k] = inner
		}
		v = inner
	}
	v[keys[len(keys)-1]] = to
}
