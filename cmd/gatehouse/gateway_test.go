package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

func TestIdentifyTellsWhichSourceFailsAndWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		g := &gateway{log: slog.New(slog.NewTextHandler(&logged, nil))}
		tries := 0
		g.identify(t.Context(), "feishu-main", plug{identify: func(context.Context) (string, error) {
			if tries++; tries < 3 {
				return "", errors.New("get bot info: feishu answered code 10014")
			}
			return "bot", nil
		}})
		const failed, done = `level=WARN msg="ask who the bot is" source=feishu-main err="get bot info: feishu answered code 10014"`, `level=INFO msg="bot identity" source=feishu-main name=bot`
		if text := logged.String(); strings.Count(text, failed) != 2 || strings.Count(text, done) != 1 || strings.Count(text, "\n") != 3 {
			t.Errorf("log = %s, want two failures and the name", text)
		}
	})
}
