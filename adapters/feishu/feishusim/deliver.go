package feishusim

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is what the webhook answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Challenge, Toast and Card are read from the body; zero where there is
	// none.
	Challenge string
	Toast     Toast
	// Card is the card that the answer puts in the clicked one's place, or nil.
	Card json.RawMessage
}

// Toast is the line that is shown to the one who clicked.
type Toast struct {
	Type    string            `json:"type"`
	Content string            `json:"content"`
	I18n    map[string]string `json:"i18n"`
}

// Deliver seals an event and posts it.
func (s *Sim) Deliver(ctx context.Context, hook string, e Event) (Answer, error) {
	body, header := s.Seal(e.Body)
	return s.Post(ctx, hook, body, header)
}

// Challenge posts a url_verification as the console does: encrypted, and
// without signature headers.
func (s *Sim) Challenge(ctx context.Context, hook string) (Answer, error) {
	s.mu.Lock()
	word := s.id("challenge-")
	s.mu.Unlock()
	plain, _ := json.Marshal(map[string]string{"challenge": word, "token": s.app.Token, "type": "url_verification"})
	body, _ := s.Seal(plain)
	return s.Post(ctx, hook, body, http.Header{"Content-Type": {"application/json; charset=utf-8"}})
}

// Seal encrypts a plaintext body and gives the headers that sign it.
func (s *Sim) Seal(plain []byte) ([]byte, http.Header) {
	body, _ := json.Marshal(map[string]string{"encrypt": Encrypt(s.app.EncryptKey, plain)})
	return body, Sign(s.app.EncryptKey, s.Now(), body)
}

// Encrypt is the platform's AES-256-CBC: base64 of IV and ciphertext.
func Encrypt(encryptKey string, plain []byte) string {
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	padded := append(bytes.Clone(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)
	out := make([]byte, aes.BlockSize+len(padded))
	_, _ = rand.Read(out[:aes.BlockSize])
	key := sha256.Sum256([]byte(encryptKey))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // a key of 32 bytes is always accepted
	}
	cipher.NewCBCEncrypter(block, out[:aes.BlockSize]).CryptBlocks(out[aes.BlockSize:], padded)
	return base64.StdEncoding.EncodeToString(out)
}

// Sign gives the headers of a body as it goes over the wire.
func Sign(encryptKey string, at time.Time, body []byte) http.Header {
	ts, nonce := strconv.FormatInt(at.Unix(), 10), strconv.FormatInt(at.UnixNano()%1e9, 10)
	sum := sha256.Sum256(append([]byte(ts+nonce+encryptKey), body...))
	return http.Header{
		"Content-Type":             {"application/json; charset=utf-8"},
		"X-Lark-Request-Timestamp": {ts},
		"X-Lark-Request-Nonce":     {nonce},
		"X-Lark-Signature":         {hex.EncodeToString(sum[:])},
	}
}

// Post posts a body as it is and reads the answer.
func (s *Sim) Post(ctx context.Context, hook string, body []byte, header http.Header) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("post webhook: %w", err)
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
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
	return readAnswer(resp, got), nil
}

func readAnswer(resp *http.Response, body []byte) Answer {
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
	var in struct {
		Challenge string `json:"challenge"`
		Toast     Toast  `json:"toast"`
		Card      struct {
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		} `json:"card"`
	}
	if json.Unmarshal(body, &in) == nil {
		a.Challenge, a.Toast = in.Challenge, in.Toast
		if in.Card.Type == "raw" {
			a.Card = in.Card.Data
		}
	}
	return a
}

// Click presses a button of a card and does with the answer what a client does:
// a card in it takes the clicked one's place. The button is named by its label,
// its name, or a string in its value, such as an option's id. The card is
// looked at as it was when the caller got it, so a click on an old copy is
// possible.
func (s *Sim) Click(ctx context.Context, hook string, card Message, by Person, what string) (Answer, error) {
	e, err := s.Clicked(card, by, what)
	if err != nil {
		return Answer{}, err
	}
	return s.press(ctx, hook, card, e)
}

// Submit fills the form of a card and presses its submit button. What is chosen
// from a list is named by what the list shows.
func (s *Sim) Submit(ctx context.Context, hook string, card Message, by Person, fields map[string]string) (Answer, error) {
	e := s.Submitted(card, by, fields)
	if e.Body == nil {
		return Answer{}, fmt.Errorf("card %s has no form to submit", card.ID)
	}
	return s.press(ctx, hook, card, e)
}

// Submitted is the callback of a form's submit button, to be delivered later or
// twice; the zero Event if the card has no form.
func (s *Sim) Submitted(card Message, by Person, fields map[string]string) Event {
	for _, b := range card.Buttons() {
		if b.Submit {
			return s.clickEvent(card, by, b, card.filled(fields))
		}
	}
	return Event{}
}

// Clicked is the callback of a click, to be delivered later or twice.
func (s *Sim) Clicked(card Message, by Person, what string) (Event, error) {
	var labels []string
	for _, b := range card.Buttons() {
		if b.is(what) {
			return s.clickEvent(card, by, b, nil), nil
		}
		labels = append(labels, b.Label)
	}
	return Event{}, fmt.Errorf("card %s has no button %q, only: %s", card.ID, what, strings.Join(labels, ", "))
}

// press delivers a click and does with its answer what a client does. An update
// of the card that came before the answer is undone (C.4).
func (s *Sim) press(ctx context.Context, hook string, card Message, e Event) (Answer, error) {
	before := s.Message(card.ID)
	a, err := s.Deliver(ctx, hook, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byID[card.ID]
	switch {
	case m == nil:
	case err == nil && a.Status == http.StatusOK && a.Card != nil && s.cards.check(string(a.Card)) == nil:
		s.revise(m, a.Card)
	case m.patches != before.patches && bytes.Equal(m.Content, m.patch):
		s.revise(m, before.Content)
	}
	return a, err
}

func (s *Sim) clickEvent(card Message, by Person, b Button, fields map[string]string) Event {
	action := map[string]any{"tag": "button"}
	if b.Value != nil {
		action["value"] = b.Value
	}
	if b.Submit {
		action["name"], action["form_value"] = b.Name, fields
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	operator := idsOf(by)
	operator["tenant_key"] = by.Tenant
	// Callbacks give their time in microseconds.
	return s.event("card.action.trigger", card.ID, milli(s.Now())+"000", map[string]any{
		"operator": operator, "token": "c-" + s.id("update"), "action": action, "host": "im_message",
		"context": map[string]any{"open_message_id": card.ID, "open_chat_id": card.Chat},
	})
}
