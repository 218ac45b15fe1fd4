package approvals

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// The bounds of what is asked and answered, in bytes unless said (DE-2).
const (
	MaxPrompt      = 16 << 10
	MaxOptions     = 20 // options
	MaxText        = 16 << 10
	MaxPreview     = 256 << 10
	MaxReason      = 4 << 10
	MaxDescription = 1 << 10
	MaxWord        = 256 // ids, labels, names of tools, entries of answerers
	MaxAnswerers   = 50  // entries
)

// Invalid is an ErrInvalid that says what is wrong: a field, and what is wanted
// of it. Its words are for the asker.
type Invalid string

func (i Invalid) Error() string        { return ErrInvalid.Error() + ": " + string(i) }
func (i Invalid) Is(target error) bool { return target == ErrInvalid }

func invalid(format string, args ...any) error { return Invalid(fmt.Sprintf(format, args...)) }

// check returns the first thing that is wrong with a request, naming its
// field, or nil (DE-2).
func check(r Request, s Session, cfg Settings) error {
	if s.ID == "" {
		return invalid("session: is missing")
	}
	if err := word("requestId", r.RequestID); err != nil {
		return err
	}
	if len(r.Prompt) > MaxPrompt {
		return invalid("prompt: %d bytes, at most %d", len(r.Prompt), MaxPrompt)
	}
	if err := checkKind(r); err != nil {
		return err
	}
	if err := checkRecommendation(r); err != nil {
		return err
	}
	if err := checkAnswerers("answerers", r.Answerers, s, cfg); err != nil || r.Kind != Approval {
		return err
	}
	return checkAnswerers("review", s.Review.Reviewers, s, cfg)
}

func checkKind(r Request) error {
	switch r.Kind {
	case Approval:
		return checkApproval(r)
	case Clarification, Choice:
		return checkFree(r)
	}
	return invalid("kind: %q is none of approval, clarification, choice", r.Kind)
}

// checkApproval holds an approval to one operation and the host's two options
// (AP-1, AP-2a).
func checkApproval(r Request) error {
	op := r.Operation
	switch {
	case len(r.Options) > 0:
		return invalid("options: an approval has the host's own")
	case op == nil:
		return invalid("operation: an approval names one")
	case strings.TrimSpace(op.Reason) == "":
		return invalid("operation.reason: is missing")
	case len(op.Reason) > MaxReason:
		return invalid("operation.reason: %d bytes, at most %d", len(op.Reason), MaxReason)
	case len(op.Preview) > MaxPreview:
		return invalid("operation.preview: %d bytes, at most %d", len(op.Preview), MaxPreview)
	case len(op.CallID) > MaxWord:
		return invalid("operation.callId: %d bytes, at most %d", len(op.CallID), MaxWord)
	}
	return word("operation.tool", op.Tool)
}

// checkFree holds the other kinds to something that can be answered.
func checkFree(r Request) error {
	switch {
	case r.Operation != nil:
		return invalid("operation: only an approval has one")
	case strings.TrimSpace(r.Prompt) == "":
		return invalid("prompt: is missing")
	case len(r.Options) == 0 && !r.AllowFreeText:
		return invalid("options: at least one, or allowFreeText")
	case len(r.Options) > MaxOptions:
		return invalid("options: %d, at most %d", len(r.Options), MaxOptions)
	}
	return checkOptions(r.Options)
}

func checkOptions(options []Option) error {
	seen := make(map[string]bool, len(options))
	for i, o := range options {
		if err := word(fmt.Sprintf("options[%d].id", i), o.ID); err != nil {
			return err
		}
		switch {
		case !utf8.ValidString(o.ID) || strings.ContainsFunc(o.ID, unicode.IsControl): // a card's buttons carry it
			return invalid("options[%d].id: has characters that nobody can see", i)
		case seen[o.ID]:
			return invalid("options[%d].id: %q is not unique", i, o.ID)
		case len(o.Label) > MaxWord:
			return invalid("options[%d].label: %d bytes, at most %d", i, len(o.Label), MaxWord)
		case len(o.Description) > MaxDescription:
			return invalid("options[%d].description: %d bytes, at most %d", i, len(o.Description), MaxDescription)
		}
		seen[o.ID] = true
	}
	return nil
}

func checkRecommendation(r Request) error {
	options := r.Options
	if r.Kind == Approval {
		options = []Option{{ID: OptionApprove}, {ID: OptionReject}}
	}
	if r.Recommendation == "" || offers(options, r.Recommendation) {
		return nil
	}
	return invalid("recommendation: %q is no option", r.Recommendation)
}

// checkAnswerers refuses a list that could never let anybody answer (DE-2): the
// asker's own, or the reviewers of a matched rule (RU-4).
func checkAnswerers(field string, list []string, s Session, cfg Settings) error {
	if len(list) > MaxAnswerers {
		return invalid("%s: %d entries, at most %d", field, len(list), MaxAnswerers)
	}
	possible := len(list) == 0
	for i, entry := range list {
		if err := word(fmt.Sprintf("%s[%d]", field, i), entry); err != nil {
			return err
		}
		possible = possible || canAnswer(entry, s, cfg)
	}
	if !possible {
		return invalid("%s: nobody on the list may answer", field)
	}
	return nil
}

// canAnswer reports whether an entry may match one of those who may answer at
// all: the approvers, and the requester (CA-3). Approvers always may: an
// operator counts as one.
func canAnswer(entry string, s Session, cfg Settings) bool {
	isRequester, _ := gate.OnList([]string{entry}, s.Requester)
	switch {
	case entry == gate.AnswererApprovers:
		return true
	case entry == gate.AnswererRequester || isRequester == gate.Yes:
		return s.Requester.Kind == gate.Person && !cfg.FourEyes
	case gate.NeedsLookup(entry), entry == gate.NoReviewer:
		return false // only ids are compared
	case cfg.Approvers == nil:
		return true
	}
	return slices.ContainsFunc(cfg.Approvers, func(a string) bool { return mayBeOne(a, entry) })
}

// mayBeOne reports whether two entries may name one person: they are equal, or
// of different forms, which only a look-up could compare.
func mayBeOne(a, b string) bool {
	a, b = strings.TrimPrefix(a, "id:"), strings.TrimPrefix(b, "id:")
	return strings.EqualFold(a, b) || form(a) != form(b)
}

// form is how an entry names somebody: "union:", "ou_", "0" (a number), or ""
// (a login).
func form(entry string) string {
	prefix, _, named := strings.Cut(entry, ":")
	switch {
	case named:
		return prefix + ":"
	case strings.HasPrefix(entry, "ou_"):
		return "ou_"
	case strings.Trim(entry, "0123456789") == "":
		return "0"
	}
	return ""
}

func offers(options []Option, id string) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.ID == id })
}

// word checks a short, non-blank string.
func word(field, s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return invalid("%s: is missing", field)
	case len(s) > MaxWord:
		return invalid("%s: %d bytes, at most %d", field, len(s), MaxWord)
	}
	return nil
}
