package orchestrator

import (
	"fmt"
	"strings"
)

// phrase is something that the gateway itself says.
type phrase int

const (
	sayRefused phrase = iota
	sayAccepted
	sayDeclined
	sayStopped
	sayStopWhich
	sayNothingToStop
	sayUndecided
	sayNotResumed
	sayHelp
	sayNewThread
	sayMayNotStop
)

// phrases in the two languages of the configuration; %[1]s is the Ticket's
// short id, %[2]s its title.
var phrases = map[string][]string{
	"zh": {
		sayRefused:       "抱歉，您没有权限在这里发起任务。",
		sayAccepted:      "已受理 `%[1]s`：%[2]s",
		sayDeclined:      "这条请求没有被受理。",
		sayStopped:       "已停止 `%[1]s`：%[2]s",
		sayStopWhich:     "这里有多个进行中的任务，请说明要停止哪一个：%[1]s",
		sayNothingToStop: "这里没有进行中的任务。",
		sayUndecided:     "这条请求暂时无法判定，已通知管理员。",
		sayNotResumed:    "之前的任务不能继续，如需新的处理请 @我。",
		sayHelp:          "@我 并说明要做什么，有权限的人就可以发起任务；在同一个话题里回复会交给正在处理的任务，只说“停”会停止它。私聊里 `/new` 开始一个新的话题。",
		sayMayNotStop:    "只有请求人和审批人可以停止 `%[1]s`。",
		sayNewThread:     "好的，接下来是一个新的话题。",
	},
	"en": {
		sayRefused:       "Sorry, you may not start work here.",
		sayAccepted:      "Accepted `%[1]s`: %[2]s",
		sayDeclined:      "This request was not taken up.",
		sayStopped:       "Stopped `%[1]s`: %[2]s",
		sayStopWhich:     "There are several tasks here; say which one to stop: %[1]s",
		sayNothingToStop: "There is no task under way here.",
		sayUndecided:     "This could not be decided; an operator was told.",
		sayNotResumed:    "The earlier task cannot go on; mention me to ask for new work.",
		sayHelp:          "Mention me and say what to do; whoever may can start a task. A reply in the same thread goes to its task, and nothing but \"stop\" stops it. In a direct message, `/new` starts a new conversation.",
		sayMayNotStop:    "Only its requester and the approvers may stop `%[1]s`.",
		sayNewThread:     "All right, this is a new conversation.",
	},
}

func (w *work) text(p phrase, args ...any) string {
	list, ok := phrases[w.Settings.Language]
	if !ok {
		list = phrases["en"]
	}
	if len(args) == 0 {
		return list[p]
	}
	return fmt.Sprintf(list[p], args...)
}

// oneLine is the first line of a text, cut at a length in runes.
func oneLine(text string, most int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	r := []rune(strings.TrimSpace(line))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most-1]) + "…"
}
