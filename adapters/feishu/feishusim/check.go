package feishusim

import "encoding/json"

// checkContent refuses what the platform would refuse, or returns nil.
func (s *Sim) checkContent(in sendBody) *apiReply {
	if len(in.UUID) > maxUUID {
		return refuse(99992402, "field validation failed: uuid is longer than 50")
	}
	switch in.Type {
	case "text":
		return checkText(in.Content)
	case "post":
		return checkPost(in.Content)
	case "interactive":
		return s.cards.check(in.Content)
	}
	return refuse(230001, "msg_type is not supported by the simulation")
}

func refuse(code int, msg string) *apiReply {
	r := bad(code, msg)
	return &r
}

func checkText(content string) *apiReply {
	var t struct {
		Text *string `json:"text"`
	}
	switch {
	case json.Unmarshal([]byte(content), &t) != nil || t.Text == nil || *t.Text == "":
		return refuse(230001, "content is not a text")
	case len(content) > maxText:
		return refuse(230025, "the text is too long")
	}
	return nil
}

// checkPost wants the locale level that a post has when it is sent.
func checkPost(content string) *apiReply {
	var locales map[string]struct {
		Content [][]map[string]any `json:"content"`
	}
	if json.Unmarshal([]byte(content), &locales) != nil || len(locales) == 0 {
		return refuse(230001, "content is not a post")
	}
	for locale, post := range locales {
		if len(post.Content) == 0 {
			return refuse(230001, "post has no content under "+locale)
		}
	}
	if len(content) > maxCard {
		return refuse(230025, "the post is too long")
	}
	return nil
}
