package gate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	all      = gate.ReceiveAll
	mentions = gate.ReceiveMentions

	noTicket    = gate.NoTicket
	contextOnly = gate.ContextOnly
	gone        = gate.OwnGone
	own         = gate.Own

	off     = gate.Off
	observe = gate.Observe
	auto    = gate.Auto

	silent  = gate.NotAddressed
	mention = gate.Mention
	direct  = gate.Direct
)

// who are the senders of the table: kind, allow list, bot list.
var who = map[string]point{
	"listed":      {kind: gate.Person, allow: gate.Yes},
	"unlisted":    {kind: gate.Person},
	"unknown":     {kind: gate.Person, allow: gate.Unknown},
	"bot":         {kind: gate.Bot},
	"unknown bot": {kind: gate.Bot, bots: gate.Unknown},
	"listed bot":  {kind: gate.Bot, bots: gate.Yes},
	"allowed bot": {kind: gate.Bot, allow: gate.Yes},
	"ci":          {kind: gate.NoSender},
	"nobody":      {kind: gate.Nobody, allow: gate.Yes, bots: gate.Yes},
}

// row reads the cells of a row in the order of page 02: listed not addressing,
// not listed addressing, not listed not addressing; e, i or - each.
func row(cells string) gate.Row {
	word := map[byte]gate.Strength{'e': gate.Explicit, 'i': gate.Inferred, '-': gate.None}
	return gate.Row{ListedUnaddressed: word[cells[0]], UnlistedAddressed: word[cells[1]], UnlistedUnaddressed: word[cells[2]]}
}

var admissions = []struct {
	name    string
	who     string
	says    gate.Addressing
	scope   gate.Scope
	receive gate.Receive
	thread  gate.Standing
	cells   string
	mode    gate.Mode
	want    string
}{
	{"TR-5 nobody is heard in a scope that is off", "listed", mention, "issues", gate.ReceiveOff, own, "eee", auto, "none  TR-5"},
	{"AD-12 nobody is admitted as nobody", "nobody", mention, "issues", all, own, "eee", auto, "none  AD-12"},

	{"AD-1 a listed bot that addresses the agent is inferred", "listed bot", mention, "issues", mentions, noTicket, "---", auto, "inferred bot_list AD-1"},
	{"AD-1 a listed bot that posts where all is received is inferred", "listed bot", silent, "issues", all, noTicket, "---", auto, "inferred bot_list AD-1"},
	{"AD-1 a listed bot that posts where mentions are received is refused", "listed bot", silent, "issues", mentions, own, "eee", auto, "none  AD-1"},
	{"AD-1 a listed bot is never explicit, whatever the table says", "listed bot", mention, "issues", all, own, "eee", auto, "inferred bot_list AD-1"},
	{"AD-1 another bot is refused, whatever the table says", "bot", mention, "issues", all, own, "eee", auto, "none  AD-1"},
	{"AD-1 a bot on the allow list is no listed bot", "allowed bot", mention, "issues", all, own, "eee", auto, "none  AD-1"},
	{"AD-11 a bot whose list cannot be read is refused", "unknown bot", mention, "issues", all, noTicket, "---", auto, "none  AD-1"},
	{"AD-6 a listed bot is refused in mode off", "listed bot", mention, "issues", all, noTicket, "---", off, "none  AD-6"},

	{"AD-2 a listed person who addresses the agent is explicit", "listed", mention, "issues", mentions, noTicket, "---", auto, "explicit allow_list AD-2"},
	{"AD-2 a listed person is explicit in a DM", "listed", direct, "direct", all, noTicket, "---", auto, "explicit allow_list AD-2"},
	{"AD-2 a listed person is explicit in mode off", "listed", mention, "chat:oc_1", mentions, noTicket, "---", off, "explicit allow_list AD-2"},
	{"AD-2 a listed person who addresses is no follow-up", "listed", mention, "issues", all, own, "eee", auto, "explicit allow_list AD-2"},
	{"AD-11 a person whose list cannot be read is not listed", "unknown", mention, "issues", all, noTicket, "---", auto, "none  AD-5"},
	{"AD-6a an @all in the text is not addressing", "listed", silent, "chat:oc_1", all, noTicket, "---", auto, "none  AD-5"},

	{"AD-3 a listed follow-up is explicit, addressed or not", "listed", silent, "issues", all, own, "---", auto, "explicit follow_up AD-3"},
	{"AD-3 a listed follow-up is explicit in mode off", "listed", silent, "issues", all, own, "---", off, "explicit follow_up AD-3"},
	{"AD-3 an unlisted follow-up is inferred", "unlisted", silent, "issues", all, own, "---", auto, "inferred follow_up_unlisted AD-3"},
	{"AD-3 an unlisted follow-up that addresses is inferred", "unlisted", mention, "issues", all, own, "---", auto, "inferred follow_up_unlisted AD-3"},
	{"AD-3 an unlisted follow-up is explicit where its cell says so", "unlisted", silent, "issues", all, own, "--e", auto, "explicit cell:issues/unlisted_unaddressed AD-3"},
	{"AD-3 the cell is that of the message's own addressing", "unlisted", silent, "issues", all, own, "-e-", auto, "inferred follow_up_unlisted AD-3"},
	{"AD-3 a follow-up bypasses an inferred cell", "unlisted", silent, "issues", all, own, "--i", auto, "inferred follow_up_unlisted AD-3"},
	{"AD-6 an unlisted follow-up is refused in mode off", "unlisted", silent, "issues", all, own, "---", off, "none  AD-6"},
	{"AD-6 an unlisted follow-up by a cell is explicit in mode off", "unlisted", silent, "issues", all, own, "--e", off, "explicit cell:issues/unlisted_unaddressed AD-3"},
	{"AD-9 a live thread is heard where mentions are received", "listed", silent, "issues", mentions, own, "---", auto, "explicit follow_up AD-3"},
	{"AD-9 an unlisted one is heard there, and its cell is not available", "unlisted", silent, "issues", mentions, own, "--e", auto, "inferred follow_up_unlisted AD-3"},

	{"AD-4 a thread read along gives no follow-up strength", "listed", silent, "issues", all, contextOnly, "---", auto, "none  AD-5"},
	{"AD-4 a thread of stopped tickets gives none either", "listed", silent, "issues", all, gone, "---", auto, "none  AD-5"},
	{"AD-4 such a thread uses the table", "unlisted", silent, "issues", all, gone, "--i", auto, "inferred cell:issues/unlisted_unaddressed AD-5"},
	{"AD-4 such a thread uses AD-2", "listed", mention, "issues", all, contextOnly, "---", auto, "explicit allow_list AD-2"},

	{"AD-5 a listed person's remark uses its cell", "listed", silent, "chat:oc_1", all, noTicket, "i--", auto, "inferred cell:chat:oc_1/listed_unaddressed AD-5"},
	{"AD-5 a listed person's remark can be explicit", "listed", silent, "chat:oc_1", all, noTicket, "e--", off, "explicit cell:chat:oc_1/listed_unaddressed AD-5"},
	{"AD-5 an unlisted person's mention uses its cell", "unlisted", mention, "comments", mentions, noTicket, "-i-", observe, "inferred cell:comments/unlisted_addressed AD-5"},
	{"AD-5 an unlisted person's remark uses its cell", "unlisted", silent, "pulls", all, noTicket, "--i", auto, "inferred cell:pulls/unlisted_unaddressed AD-5"},
	{"AD-5 an unlisted person's DM uses its cell", "unlisted", direct, "direct", all, noTicket, "-i-", auto, "inferred cell:direct/unlisted_addressed AD-5"},
	{"AD-5 CI uses the one cell of its row", "ci", silent, "ci", all, noTicket, "--i", auto, "inferred cell:ci/unlisted_unaddressed AD-5"},
	{"AD-5 a cell that is left out is none", "unlisted", mention, "issues", all, noTicket, "e-e", auto, "none  AD-5"},
	{"AD-6 an inferred cell is refused in mode off", "unlisted", mention, "issues", all, noTicket, "-i-", off, "none  AD-6"},
	{"AD-6 CI is refused in mode off", "ci", silent, "ci", all, noTicket, "--i", off, "none  AD-6"},

	{"AD-7 CI is never explicit: nobody asked", "ci", silent, "ci", all, noTicket, "--e", auto, "none  AD-5"},
	{"AD-7 no person has the cell of ci", "unlisted", silent, "ci", all, noTicket, "eee", auto, "none  AD-5"},
	{"AD-7 other chats have no cell for remarks", "unlisted", silent, "other_chats", all, noTicket, "eee", auto, "none  AD-5"},
	{"AD-7 a scope that no table has gives nothing", "unlisted", mention, "nowhere", all, noTicket, "eee", auto, "none  AD-5"},

	{"AD-8 an explicit cell lets anyone ask by mention", "unlisted", mention, "chat:oc_1", mentions, noTicket, "-e-", auto, "explicit cell:chat:oc_1/unlisted_addressed AD-8"},
	{"AD-8 also on a thread with tickets", "unlisted", mention, "chat:oc_1", mentions, own, "-e-", auto, "explicit cell:chat:oc_1/unlisted_addressed AD-8"},
	{"AD-8 also in mode off", "unlisted", mention, "chat:oc_1", mentions, gone, "-e-", off, "explicit cell:chat:oc_1/unlisted_addressed AD-8"},
	{"AD-8 also where the list cannot be read", "unknown", mention, "chat:oc_1", mentions, noTicket, "-e-", auto, "explicit cell:chat:oc_1/unlisted_addressed AD-8"},

	{"AD-9 a remark is not received where mentions are", "listed", silent, "issues", mentions, noTicket, "eee", auto, "none  AD-9"},
	{"AD-9 nor on a thread that is only read along", "unlisted", silent, "issues", mentions, contextOnly, "eee", auto, "none  AD-9"},
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	for _, r := range admissions {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := who[r.who]
			p.addressing, p.scope, p.receive, p.standing = r.says, r.scope, r.receive, r.thread
			p.cells, p.mode = row(r.cells), r.mode
			in := newInput(p.scope)
			in.move(p)
			v := in.admit()
			if got := strings.Join([]string{v.Strength.String(), v.Basis.String(), v.Rule}, " "); got != r.want {
				t.Errorf("Admit(%s) = %s, want %s", p, show(v), r.want)
			}
		})
	}
}
