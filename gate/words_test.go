package gate_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// word is a closed set's value with its wire word.
type word interface {
	~uint8
	fmt.Stringer
	encoding.TextMarshaler
}

// closed checks that the values 0, 1, 2 … have these words and read them back,
// and that nothing else does.
func closed[T word, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, words ...string) {
	t.Helper()
	for i, w := range words {
		var back T
		text, err := T(i).MarshalText()
		if string(text) != w || err != nil || T(i).String() != w {
			t.Errorf("MarshalText(%d) = %q, %v, want %q", i, text, err, w)
		}
		if err := P(&back).UnmarshalText([]byte(w)); err != nil || back != T(i) {
			t.Errorf("UnmarshalText(%q) = %d, %v, want %d", w, back, err, i)
		}
	}
	past := T(len(words))
	if text, err := past.MarshalText(); err == nil {
		t.Errorf("MarshalText(%d) = %q, want an error", past, text)
	}
	if got, want := past.String(), fmt.Sprintf("invalid(%d)", len(words)); got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	back := T(1)
	if err := P(&back).UnmarshalText([]byte("nonsense")); err == nil || back != 1 {
		t.Errorf("UnmarshalText(nonsense) = %d, %v, want an error and no change", back, err)
	}
}

func TestClosedSetsHaveTheirWireWords(t *testing.T) {
	t.Parallel()
	closed[gate.SenderKind](t, "", "person", "bot", "none")
	closed[gate.Addressing](t, "none", "mention", "direct")
	closed[gate.Receive](t, "off", "mentions", "all")
	closed[gate.Mode](t, "off", "observe", "auto")
	closed[gate.Cell](t, "", "listed_unaddressed", "unlisted_addressed", "unlisted_unaddressed")
	closed[gate.Membership](t, "no", "unknown", "yes")
	closed[gate.Strength](t, "none", "inferred", "explicit")
	closed[gate.Standing](t, "none", "context", "gone", "own")
	closed[gate.MandateState](t, "", "active", "withdrawn", "revoked")
	closed[gate.RevalidationOutcome](t, "waits", "fails", "stands")
}

var basisWords = map[string]gate.Basis{
	"":                                  {},
	"allow_list":                        {Kind: gate.AllowList},
	"follow_up":                         {Kind: gate.FollowUp},
	"follow_up_unlisted":                {Kind: gate.FollowUpUnlisted},
	"bot_list":                          {Kind: gate.BotList},
	"cell:ci/unlisted_unaddressed":      {Kind: gate.TableCell, Row: gate.CI, Cell: gate.UnlistedUnaddressed},
	"cell:chat:oc_1/listed_unaddressed": {Kind: gate.TableCell, Row: gate.ChatScope("oc_1"), Cell: gate.ListedUnaddressed},
	"cell:a/b/unlisted_addressed":       {Kind: gate.TableCell, Row: "a/b", Cell: gate.UnlistedAddressed},
}

func TestBasisIsOneWordOnTheWire(t *testing.T) {
	t.Parallel()
	for w, b := range basisWords {
		text, err := b.MarshalText()
		if string(text) != w || err != nil || b.String() != w {
			t.Errorf("MarshalText(%+v) = %q, %v, want %q", b, text, err, w)
		}
		var back gate.Basis
		if err := back.UnmarshalText([]byte(w)); err != nil || back != b {
			t.Errorf("UnmarshalText(%q) = %+v, %v, want %+v", w, back, err, b)
		}
	}
}

func TestBasisRefusesWhatNamesNoLine(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"cell", "cell:", "cell:/", "cell:ci", "cell:ci/", "cell:/unlisted_addressed", "cell:ci/none", "cell:unlisted_addressed", "Allow_list", "x"} {
		b := gate.Basis{Kind: gate.AllowList}
		if err := b.UnmarshalText([]byte(w)); err == nil || b.Kind != gate.AllowList {
			t.Errorf("UnmarshalText(%q) = %+v, %v, want an error and no change", w, b, err)
		}
	}
	for _, b := range []gate.Basis{
		{Kind: 9}, {Kind: gate.TableCell}, {Kind: gate.TableCell, Row: "ci"},
		{Kind: gate.TableCell, Cell: gate.UnlistedAddressed}, {Kind: gate.TableCell, Row: "ci", Cell: 9},
	} {
		if text, err := b.MarshalText(); err == nil {
			t.Errorf("MarshalText(%#v) = %q, want an error", b, text)
		}
	}
}

func FuzzBasis(f *testing.F) {
	for w := range basisWords {
		f.Add([]byte(w))
	}
	f.Add([]byte("cell"))
	f.Add([]byte("cell:/"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var b, back gate.Basis
		if b.UnmarshalText(text) != nil {
			return
		}
		again, err := b.MarshalText()
		if err != nil || !slices.Equal(again, text) {
			t.Fatalf("MarshalText(%+v) = %q, %v, want %q", b, again, err, text)
		}
		if err := back.UnmarshalText(again); err != nil || back != b {
			t.Fatalf("UnmarshalText(%q) = %+v, %v, want %+v", again, back, err, b)
		}
	})
}

func TestAMandateReadsBack(t *testing.T) {
	t.Parallel()
	m := newResume(byMention, "---").m
	m.Sender.Aliases = []string{"al"}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back gate.Mandate
	if err := json.Unmarshal(text, &back); err != nil || fmt.Sprintf("%#v", back) != fmt.Sprintf("%#v", m) {
		t.Errorf("Unmarshal(%s) = %+v, %v, want %+v", text, back, err, m)
	}
}

func TestAVerdictIsReadableJSON(t *testing.T) {
	t.Parallel()
	v := gate.Verdict{Strength: gate.Inferred, Basis: basisWords["cell:ci/unlisted_unaddressed"], Rule: "AD-5", Reason: gate.ReasonCellInferred}
	text, err := json.Marshal(v)
	want := `{"strength":"inferred","basis":"cell:ci/unlisted_unaddressed","rule":"AD-5","reason":"the table says inferred"}`
	if string(text) != want || err != nil {
		t.Errorf("Marshal(%+v) = %s, %v, want %s", v, text, err, want)
	}
}
