package githubsim

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const tokenLife = time.Hour

// signedIn reads the Authorization header: none, the App's JWT, an
// installation's token or the account's. Anything else is not signed in.
func (s *Sim) signedIn(c *apiCall) bool {
	header := c.r.Header.Get("Authorization")
	if header == "" {
		return true
	}
	scheme, value, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "token") {
		return false
	}
	s.mu.Lock()
	until, installation := s.tokens[value]
	installation = installation && !s.suspended
	s.mu.Unlock()
	switch {
	case value == s.app.Token:
		c.auth, c.by = "token", s.Self()
	case installation && s.Now().Before(until):
		c.auth, c.by = "installation", s.SelfBot()
	case s.isJWT(value):
		c.auth = "jwt"
	default:
		return false
	}
	return true
}

// isJWT checks signature, issuer and time of the App's own token.
func (s *Sim) isJWT(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	claims, err2 := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || err2 != nil {
		return false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&s.key().PublicKey, crypto.SHA256, sum[:], sig) != nil {
		return false
	}
	var in struct {
		Issuer string `json:"iss"`
		Until  int64  `json:"exp"`
	}
	return json.Unmarshal(claims, &in) == nil && in.Issuer == strconv.FormatInt(s.app.ID, 10) && s.Now().Unix() < in.Until
}

func (s *Sim) appInfo(*apiCall) apiReply {
	return good(map[string]any{"id": s.app.ID, "slug": s.app.Slug, "name": s.app.Slug})
}

func (s *Sim) installations(*apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []any{}
	seen := map[string]bool{}
	for _, r := range s.repos {
		if !seen[r.Owner] {
			out = append(out, s.installationOf(r.Owner))
		}
		seen[r.Owner] = true
	}
	return good(out)
}

func (s *Sim) installationOf(owner string) map[string]any {
	return map[string]any{"id": s.installed, "app_id": s.app.ID, "account": map[string]any{"login": owner}}
}

func (s *Sim) installation(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repos[strings.ToLower(c.path[1]+"/"+c.path[2])]
	if !ok {
		return notFound()
	}
	return good(s.installationOf(r.Owner))
}

func (s *Sim) token(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.number(2) != s.installed {
		return notFound()
	}
	if s.suspended {
		return bad(http.StatusForbidden, "This installation has been suspended")
	}
	token := "ghs_sim" + strconv.FormatInt(s.id(), 10)
	until := s.Now().Add(tokenLife)
	s.tokens[token] = until
	return made(map[string]any{"token": token, "expires_at": until.UTC().Format(time.RFC3339)})
}

// me is refused to an installation, as GitHub does.
func (s *Sim) me(c *apiCall) apiReply {
	if c.auth == "installation" {
		return bad(http.StatusForbidden, "Resource not accessible by integration")
	}
	return good(userJSON(c.by))
}

func (s *Sim) user(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	login := strings.ToLower(c.path[1])
	for _, a := range [...]Account{s.Self(), s.SelfBot(), s.accounts[login]} {
		if a.ID != 0 && strings.EqualFold(a.Login, login) {
			return good(userJSON(a))
		}
	}
	return notFound()
}
