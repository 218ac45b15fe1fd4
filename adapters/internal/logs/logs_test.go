package logs_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/logs"
)

func TestWhy(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"no such host":                   &net.DNSError{IsNotFound: true, Name: "secret.example"},
		"its name cannot be looked up":   &net.DNSError{Name: "secret.example", IsTimeout: true},
		"its certificate is not trusted": &tls.CertificateVerificationError{Err: errors.New("x")},
		"it does not speak TLS":          tls.RecordHeaderError{Msg: "x"},
		"connection refused":             &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"connection reset":               &net.OpError{Op: "read", Err: syscall.ECONNRESET},
		"no route to it":                 &net.OpError{Op: "dial", Err: syscall.ENETUNREACH},
		"timed out":                      context.DeadlineExceeded,
		"":                               io.ErrUnexpectedEOF,
	} {
		if got := logs.Why(fmt.Errorf("get https://secret.example/?q=secret: %w", err)); got != want {
			t.Errorf("Why(%v) = %q, want %q", err, got, want)
		}
	}
	if got := logs.Why(&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}); got != "no route to it" {
		t.Errorf("Why of no way to the host = %q", got)
	}
}

func TestWhyOfRealFailures(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for want, url := range map[string]string{"its certificate is not trusted": secure.URL, "connection refused": gone.URL} {
		if got := logs.Why(get(t, url)); got != want {
			t.Errorf("Why(%s) = %q, want %q", url, got, want)
		}
	}
}

func get(t *testing.T, url string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func TestSeldom(t *testing.T) {
	t.Parallel()
	s := logs.NewSeldom(time.Minute)
	start := time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		kind string
		at   time.Duration
		want bool
	}{
		{"a", 0, true}, {"a", 0, false}, {"b", 0, true}, {"a", 59 * time.Second, false}, {"a", time.Minute, true},
		{"a", 90 * time.Second, false}, {"a", -time.Hour, true}, // the clock was set back
	} {
		if got := s.Now(c.kind, start.Add(c.at)); got != c.want {
			t.Errorf("%d: Now(%s, %v) = %v, want %v", i, c.kind, c.at, got, c.want)
		}
	}
}

func TestSeldomLetsOneOfManyThrough(t *testing.T) {
	t.Parallel()
	s, now := logs.NewSeldom(time.Minute), time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	through := 0
	for range 50 {
		wg.Go(func() {
			if s.Now("a", now) {
				mu.Lock()
				through++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if through != 1 {
		t.Errorf("%d lines got through, want 1", through)
	}
}
