package github

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxAnswer bounds what is read of an answer, maxFault of one that is no
// success.
const (
	maxAnswer = 8 << 20
	maxFault  = 64 << 10
)

var errForeignHost = errors.New("a request to another host was refused")

// fence is the innermost transport: below it there is only the network. It lets
// nothing out that does not go to the configured host, since what stands above
// has put the token into every request it saw (facts E4), and it bounds what
// comes back.
type fence struct {
	base http.RoundTripper
	to   *url.URL
}

// RoundTrip implements http.RoundTripper.
func (f *fence) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != f.to.Scheme || r.URL.Host != f.to.Host {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, errForeignHost
	}
	resp, err := f.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
		return resp, nil
	}
	// ghinstallation leaves such a body open (facts E1): it is read here.
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// sameHostReadsOnly is a CheckRedirect. A POST that is redirected would become
// a GET without its body, and a foreign host would get the token (facts E4):
// such an answer is given back as it is.
func (f *fence) sameHostReadsOnly(r *http.Request, via []*http.Request) error {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !read || via[0].Method != r.Method || r.URL.Scheme != f.to.Scheme || r.URL.Host != f.to.Host || len(via) > 3 {
		return http.ErrUseLastResponse
	}
	return nil
}

// client is an http.Client whose requests pass through auth and then the fence.
func (f *fence) client(auth http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{Transport: auth, Timeout: timeout, CheckRedirect: f.sameHostReadsOnly}
}

// bearer signs in with an account's token.
type bearer struct {
	token string
	base  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(r)
}
