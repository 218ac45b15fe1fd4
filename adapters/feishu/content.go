package feishu

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/gate"
)

const nameRunes = 120

// said is what a message says: Markdown, and the files it names.
type said struct {
	markdown string
	files    []gate.Attachment
}

// readContent turns the content of any message type into Markdown with its
// attachments named (FS-2, facts B.3). Content that is no JSON object reads as
// an empty one: what the message is, is still said. An unknown type is said to
// be unsupported; it is never an error.
func readContent(kind, content string, p *people) said {
	raw := []byte(content)
	var c content1
	_ = json.Unmarshal(raw, &c)
	switch kind {
	case "text":
		return said{markdown: settleOwn(p.resolve(noNUL(string(c.Text))))}
	case "post":
		return readPost(raw, p)
	case "interactive":
		return readCard(raw, p)
	case "merge_forward":
		return said{markdown: "[merged forward]"}
	case "share_chat":
		return said{markdown: label("shared chat", string(c.ChatID))}
	case "share_user":
		return said{markdown: label("shared user", string(c.UserID))}
	case "location":
		return said{markdown: location(c)}
	case "image", "file", "folder", "audio", "media", "sticker":
		return readFile(kind, c)
	}
	return said{markdown: label("unsupported", kind)}
}

// content1 holds the fields of all simple message types.
type content1 struct {
	Text      text `json:"text"`
	ImageKey  text `json:"image_key"`
	FileKey   text `json:"file_key"`
	FileName  text `json:"file_name"`
	Duration  text `json:"duration"` // milliseconds
	ChatID    text `json:"chat_id"`
	UserID    text `json:"user_id"`
	Name      text `json:"name"`
	Longitude text `json:"longitude"`
	Latitude  text `json:"latitude"`
}

func readFile(kind string, c content1) said {
	name := fileName(string(c.FileName))
	key := string(c.FileKey)
	shown := name
	switch kind {
	case "image":
		key = string(c.ImageKey)
	case "audio":
		shown = seconds(string(c.Duration))
		return said{markdown: strings.TrimSpace("[audio "+shown) + "]", files: files(kind, "", key)}
	}
	return said{markdown: label(kind, shown), files: files(kind, name, key)}
}

// files names an attachment; a folder cannot be fetched and a message without a
// key has none.
func files(kind, name, key string) []gate.Attachment {
	if key == "" {
		return nil
	}
	return []gate.Attachment{{Kind: kind, Name: name, Key: key}}
}

func location(c content1) string {
	where := oneLine(string(c.Name), nameRunes)
	if c.Latitude != "" && c.Longitude != "" {
		where = strings.TrimSpace(fmt.Sprintf("%s (%s, %s)", where, oneLine(string(c.Latitude), 20), oneLine(string(c.Longitude), 20)))
	}
	return label("location", where)
}

func seconds(ms string) string {
	n, err := strconv.ParseFloat(ms, 64)
	if err != nil || n < 0 || n > 1e9 {
		return ""
	}
	return strconv.FormatFloat(n/1000, 'f', 1, 64) + "s"
}

// label is "[what]" or "[what: detail]".
func label(what, detail string) string {
	what, detail = oneLine(what, 40), oneLine(detail, nameRunes)
	if detail == "" {
		return "[" + what + "]"
	}
	return "[" + what + ": " + detail + "]"
}

// fileName makes an untrusted name harmless: one line, no path.
func fileName(s string) string {
	return oneLine(strings.NewReplacer("/", "_", `\`, "_").Replace(s), nameRunes)
}

// oneLine takes out control, bidirectional and invisible characters, folds
// white space, and keeps at most max runes.
func oneLine(s string, max int) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = n > 0
			continue
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			continue
		}
		if n == max {
			b.WriteRune('…')
			break
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func noNUL(s string) string { return strings.ReplaceAll(s, "\x00", "") }
