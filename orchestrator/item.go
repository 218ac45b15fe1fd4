package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// Item is one entry of an orchestrator_route call: a Trigger and an action.
type Item struct {
	Trigger      gate.TriggerID `json:"trigger"`
	Action       Action         `json:"action"`
	Ticket       gate.TicketID  `json:"ticket,omitempty"`
	Title        string         `json:"title,omitempty"`
	Brief        string         `json:"brief,omitempty"`
	Executor     string         `json:"executor,omitempty"`
	Reason       string         `json:"reason,omitempty"`
	PublicReason string         `json:"public_reason,omitempty"`
	// Text is that of a note (RO-9a).
	Text string `json:"text,omitempty"`
}

// Ruling is what an item is judged under (RO-9): the policy version, or that
// of the Eval it belongs to; and who decides.
type Ruling struct {
	Eval          gate.EvalID
	PolicyVersion int
	By            string
	// Evaluated: the item comes out of an evaluation of every rule (RU-1).
	Evaluated bool
	Verdicts  []RuleVerdict
}

// Who decides, unless a person did in the panel.
const (
	ByMainSession = "main_session"
	ByGateway     = "gateway"
)

// Code is why an item was refused; the words are part of the contract (page
// 07).
type Code string

// The codes of route errors.
const (
	CodeUnknownTrigger     Code = "unknown_trigger"
	CodeUnknownTicket      Code = "unknown_ticket"
	CodeMissingField       Code = "missing_field"
	CodeUnknownAction      Code = "unknown_action"
	CodeNeedsEvaluation    Code = "needs_evaluation"
	CodeOwnedByExecutor    Code = "owned_by_executor"
	CodeAlreadyDecided     Code = "already_decided"
	CodeNotQueued          Code = "not_queued"
	CodeStalePolicy        Code = "stale_policy"
	CodeNeedsNewAccept     Code = "needs_new_accept"
	CodeBotCannotStop      Code = "bot_cannot_stop"
	CodeNotOnTicketThread  Code = "not_on_ticket_thread"
	CodeNotAdmitted        Code = "not_admitted"
	CodeModeForbids        Code = "mode_forbids"
	CodeNoMatchingRule     Code = "no_matching_rule"
	CodeVerdictsIncomplete Code = "verdicts_incomplete"
	CodeRequeueLimit       Code = "requeue_limit"
	CodeExecutorNotAllowed Code = "executor_not_allowed"
	CodeSenderNotListed    Code = "sender_not_listed"
	CodeRecalled           Code = "recalled"
)

// RouteError is a refused item: a code for programs, and a message that tells
// a model what to do instead (RO-1).
type RouteError struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Result is what became of one item (RO-1).
type Result struct {
	Index    int           `json:"index"`
	OK       bool          `json:"ok"`
	Deduped  bool          `json:"deduped"`
	Ticket   gate.TicketID `json:"ticket,omitempty"`
	Decision DecisionID    `json:"decision,omitempty"`
	Error    *RouteError   `json:"error,omitempty"`
}

func refused(code Code, message string) Result {
	return Result{Error: &RouteError{Code: code, Message: message}}
}
