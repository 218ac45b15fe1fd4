package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v66/github"
)

// Account asks GitHub whose login this is today, and returns the account's
// numeric id; "" if GitHub says that there is no such account (GH-6). A bot's
// login ends in "[bot]".
func (b *Bot) Account(ctx context.Context, login string) (string, error) {
	client := b.api.reader(ctx)
	who, _, err := client.Users.Get(ctx, url.PathEscape(login))
	var e *apiError
	switch err = said(err); {
	case errors.As(err, &e) && e.status == http.StatusNotFound:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look up an account: %w", err)
	case !strings.EqualFold(who.GetLogin(), login) || who.GetID() <= 0:
		return "", errors.New("look up an account: github answered with another one")
	}
	return strconv.FormatInt(who.GetID(), 10), nil
}

// reader is a connection that may read what is public.
func (a *api) reader(ctx context.Context) *gh.Client {
	if a.account != nil {
		return a.account.Client
	}
	return a.anyone(ctx)
}
