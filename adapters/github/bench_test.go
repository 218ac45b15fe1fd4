package github_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
)

// BenchmarkTranslate is what a delivery costs on the request path, without the
// network: a comment that mentions nobody, and one that does.
func BenchmarkTranslate(b *testing.B) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, sample(b, "issue_comment.created.json")); err != nil {
		b.Fatal(err)
	}
	plain := compact.Bytes()
	for name, body := range map[string][]byte{"unaddressed": plain, "mention": edit(b, plain, with{"comment.body": mentioning})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				github.Translate(sampleSetting(), github.Delivery{Event: "issue_comment", GUID: "g", Body: body})
			}
		})
	}
}
