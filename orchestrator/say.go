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
	sayNoSuchTask
	sayStoppedElsewhere
	sayNoTasks
	sayMoreTasks
	sayWaitsForBoth
	sayWaitsForYou
	sayWaitsForApprovers
	sayWaitsForOthers
	sayMuted
	sayUnmuted
	sayMayNotMute
	sayCompleted
	sayFailed
	sayBudget
	sayBudgetGoOn
	sayBudgetStop
	sayNoSuchQuestion
	sayMayNotAnswer
	sayInvalidAnswer
	sayTooLate
	sayWhichQuestion
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
		sayHelp: "@我 并说明要做什么，有权限的人就可以发起任务；在同一个话题里回复会交给正在处理的任务，只说“停”会停止它。\n\n" +
			"- `/status` 我发起的任务：进行到哪一步，在等谁\n- `/stop` 加短编号，停止这个任务\n" +
			"- `/mute` 本话题的任务在出结果之前不再报告进展（结果和提问照常），`/unmute` 恢复\n- `/new` 在私聊里开始一个新的话题",
		sayMayNotStop:        "只有请求人和审批人可以停止 `%[1]s`。",
		sayNewThread:         "好的，接下来是一个新的话题。",
		sayNoSuchTask:        "没有您可以停止的这个编号的任务。",
		sayStoppedElsewhere:  "已停止 `%[1]s`。",
		sayNoTasks:           "您没有进行中的任务。",
		sayMoreTasks:         "- 另有 %[1]d 个任务不在这里显示",
		sayWaitsForBoth:      "问题 `%[1]s` 在等您或审批人答复",
		sayWaitsForYou:       "问题 `%[1]s` 在等您答复",
		sayWaitsForApprovers: "问题 `%[1]s` 在等审批人答复",
		sayWaitsForOthers:    "问题 `%[1]s` 在等指定的人答复",
		sayMuted:             "好的，出结果之前这里不再报告进展；`/unmute` 恢复。",
		sayUnmuted:           "好的，这里会继续报告进展。",
		sayMayNotMute:        "只有请求人、审批人和名单上的人可以这样做。",
		sayCompleted:         "已完成 `%[1]s`：%[2]s",
		sayFailed:            "没有完成 `%[1]s`：%[2]s",
		sayBudget:            "这个任务今天的预算（%[1]s 轮，%[2]s 分钟，%[3]s token；0 为不限）已用完，处理已暂停。是否再给一份预算继续？不回答则明天（UTC）继续。",
		sayBudgetGoOn:        "继续",
		sayBudgetStop:        "停止",
		sayNoSuchQuestion:    "这里没有编号为 `%[1]s` 的问题。",
		sayMayNotAnswer:      "您不能回答问题 `%[1]s`。",
		sayInvalidAnswer:     "这不是问题 `%[1]s` 的有效答复。",
		sayTooLate:           "问题 `%[1]s` 已经结束，这个答复不算数。",
		sayWhichQuestion:     "有几个问题的编号以此开头，请写完整：%[1]s",
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
		sayHelp: "Mention me and say what to do; whoever may can start a task. A reply in the same thread goes to its task, and nothing but \"stop\" stops it.\n\n" +
			"- `/status`: the tasks that you asked for, where they stand and whom they wait for\n- `/stop` with a short id: stop that task\n" +
			"- `/mute`: no more progress of this thread's tasks until their results, questions excepted; `/unmute` undoes it\n" +
			"- `/new` in a direct message: start a new conversation",
		sayMayNotStop:        "Only its requester and the approvers may stop `%[1]s`.",
		sayNewThread:         "All right, this is a new conversation.",
		sayNoSuchTask:        "There is no task of that id under way that you could stop.",
		sayStoppedElsewhere:  "Stopped `%[1]s`.",
		sayNoTasks:           "You have no tasks under way.",
		sayMoreTasks:         "- and %[1]d more that are not shown here",
		sayWaitsForBoth:      "question `%[1]s` waits for you or an approver",
		sayWaitsForYou:       "question `%[1]s` waits for you",
		sayWaitsForApprovers: "question `%[1]s` waits for an approver",
		sayWaitsForOthers:    "question `%[1]s` waits for those whom it asks",
		sayMuted:             "All right, no more progress here until the result; `/unmute` undoes it.",
		sayUnmuted:           "All right, progress is told here again.",
		sayMayNotMute:        "Only the requester, the approvers and listed people may do that.",
		sayCompleted:         "Done `%[1]s`: %[2]s",
		sayFailed:            "Failed `%[1]s`: %[2]s",
		sayBudget:            "This task has used up its budget of the day (%[1]s turns, %[2]s minutes, %[3]s tokens; 0 is no limit) and is held up. Shall it go on with another one? Without an answer it goes on tomorrow (UTC).",
		sayBudgetGoOn:        "Go on",
		sayBudgetStop:        "Stop",
		sayNoSuchQuestion:    "There is no question `%[1]s` here.",
		sayMayNotAnswer:      "You may not answer question `%[1]s`.",
		sayInvalidAnswer:     "That is no valid answer to question `%[1]s`.",
		sayTooLate:           "Question `%[1]s` has come to its end; that answer does not count.",
		sayWhichQuestion:     "Several questions begin like that; write the whole id: %[1]s",
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
