package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestIdentifyTellsWhichSourceFailsAndWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		g := &gateway{log: slog.New(slog.NewTextHandler(&logged, nil))}
		tries := 0
		start := time.Now()
		g.identify(t.Context(), "feishu-main", plug{identify: func(context.Context) (string, error) {
			switch tries++; {
			case time.Since(start) > 90*time.Second:
				return "bot", nil
			case tries == 1:
				return "", errors.New("get bot info: feishu does not answer")
			}
			return "", errors.New("get bot info: feishu answered code 10014")
		}})
		const away = `level=WARN msg="ask who the bot is" source=feishu-main err="get bot info: feishu does not answer"`
		const failed, done = `level=WARN msg="ask who the bot is" source=feishu-main err="get bot info: feishu answered code 10014"`, `level=INFO msg="bot identity" source=feishu-main name=bot`
		if text := logged.String(); strings.Count(text, away) != 1 || strings.Count(text, failed) != 2 || strings.Count(text, done) != 1 || strings.Count(text, "\n") != 4 {
			t.Errorf("%d tries are logged as\n%s\nwant each failure once, again after a minute, and the name", tries, text)
		}
	})
}
