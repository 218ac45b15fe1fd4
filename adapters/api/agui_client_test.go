package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// aguiTool is where the client is, with its package and lock file.
const aguiTool = "../../deploy/tools/agui"

// node is the program, with the client's package there. A machine without them
// skips the test, but not the project's own check.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(aguiTool, "node_modules", "@ag-ui", "client"))
	}
	if err == nil {
		return path
	}
	if os.Getenv("GATEHOUSE_REQUIRE_NODE") != "" {
		t.Fatalf("no AG-UI client: %v; run npm ci in deploy/tools/agui", err)
	}
	t.Skipf("NOT CHECKED with a real AG-UI client: %v; run npm ci in deploy/tools/agui", err)
	return ""
}

// aguiStep is what the client says of one run.
type aguiStep struct {
	Name, Outcome, Error string

	Events     []string
	IDs        []string
	Expired    bool
	Interrupts []struct{ ID, Reason, Message, ToolCallID, ExpiresAt string }
}

// The npm package @ag-ui/client is interrupted by questions, and resumes with
// their answers (AP-9).
func TestARealAGUIClient(t *testing.T) {
	t.Parallel()
	program := node(t)
	o := newOffice(t)
	server := httptest.NewServer(o.h)
	t.Cleanup(server.Close)

	a := o.remote(agent)
	o.speak("lin", "oc_1/om_1", "@bot deploy 1.4.2")
	id := a.ticket()
	a.inputs(id, "?wait=10s")
	permission, _ := a.post(id+"/decisions", strings.Replace(permit, `"tool"`, `"callId":"call_1","tool"`, 1))
	time.Sleep(2 * time.Millisecond) // questions are listed by the millisecond
	choice, _ := a.post(id+"/decisions", strings.Replace(pick, `,"allowFreeText":true`, "", 1))

	// The executor works on when it has both answers.
	go func() {
		for got := 0; got < 2; {
			got += len(a.inputs(id, "?wait=30s").Items)
		}
		a.act(id, `{"action":"report","kind":"done","text":"deployed"}`)
	}()
	out, err := exec.CommandContext(t.Context(), program, filepath.Join(aguiTool, "client.mjs"), server.URL+"/v1/sessions/"+id+"/run", ops).Output()
	if err != nil {
		t.Fatalf("client: %v\n%s", err, out)
	}
	var steps []aguiStep
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var s aguiStep
		if err := d.Decode(&s); err != nil {
			t.Fatalf("client wrote %v: %s", err, out)
		}
		steps = append(steps, s)
	}
	if len(steps) != 5 {
		t.Fatalf("the client did %d steps, want 5:\n%s", len(steps), out)
	}
	first, without, pending, resumed, left := steps[0], steps[1], steps[2], steps[3], steps[4]
	ids := []string{permission.ID, choice.ID}
	want(t, "a run with open questions ends with an interrupt (AP-9)", words(first.Events, first.Outcome, first.Error), "[RUN_STARTED RUN_FINISHED] interrupt")
	want(t, "its ids are the questions' (AP-9)", slices.Equal(pending.IDs, ids), true)
	want(t, "an approval is a tool call (AP-9)", words(first.Interrupts[0].Reason, first.Interrupts[0].ToolCallID, first.Interrupts[0].Message), "tool_call call_1 deploy?")
	want(t, "a choice is a confirmation (AP-9)", words(first.Interrupts[1].Reason, first.Interrupts[1].Message), "confirmation which?")
	want(t, "it expires at the deadline (AP-9)", first.Interrupts[0].ExpiresAt, permission.Deadline.Format(time.RFC3339Nano))
	want(t, "which the client can read", pending.Expired, false)
	want(t, "no next run while an interrupt is open (AP-9)", strings.Contains(without.Error, "pending interrupt"), true)
	want(t, "the resumed run ends with the Ticket", words(resumed.Events, resumed.Outcome, resumed.Error), "[RUN_STARTED RUN_FINISHED] success")
	want(t, "nothing is pending", len(left.IDs), 0)
	_, said := a.say("GET", id+"/decisions/"+permission.ID, "")
	want(t, "the approval was given (AP-2)", said, "200 answered allowed_once")
	_, said = a.say("GET", id+"/decisions/"+choice.ID, "")
	want(t, "and the choice made", said, "200 answered")
}
