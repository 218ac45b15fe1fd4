package feishu

import "github.com/gatehouse-bot/gatehouse/approvals"

// words are what cards, toasts and notices say, in one language.
type words struct {
	approvalTitle, questionTitle string
	task, tool, reason           string
	recommended, asStated        string
	whoMayAnswer, until, ofThem  string
	requester, approvers, listed string
	cutNotice, whole             string
	textHint, submit, rejectWith string
	approve, reject, choose      string
	approvedBy                   string
	quotes                       [2]string
	// routes are the ways in which an answer came.
	routes map[approvals.Via]string

	approved, rejected, answered, timedOut, cancelled string
	answerIs                                          string
	replyCommand, approveOrReject, answerCommand      string
	anchorGone                                        string
	pending                                           string

	stop, stopSure, stoppedBy string

	toast map[toastKind]string
}

// toastKind is what a click came to.
type toastKind uint8

const (
	toastUnavailable toastKind = iota // the zero value: ask again
	toastRecorded
	toastAlready
	toastAnswered
	toastTimedOut
	toastCancelled
	toastPartly
	toastNotYou
	toastFourEyes
	toastNotAsked
	toastNotListed
	toastNotKnown
	toastWrongCard
	toastWrongChat
	toastUnknown
	toastInvalid
	toastForged
	toastStopped
	toastEnded
	toastMayNotStop
	toastNoTicket
)

func wordsOf(language string) words {
	if language == "en" {
		return english()
	}
	return chinese()
}

// language of a question: its own, else the Source's.
func (c Config) wordsFor(q approvals.Question) words {
	if l := q.Session.Language; l == "zh" || l == "en" {
		return wordsOf(l)
	}
	return wordsOf(c.Language)
}

func chinese() words {
	return words{
		approvalTitle: "需要审批", questionTitle: "需要回答",
		task: "任务", tool: "工具", reason: "原因",
		recommended: "建议", asStated: "以上操作内容为智能体自述，网关没有看到实际调用。",
		whoMayAnswer: "谁可以回答", until: "截止", ofThem: "（需要其中 %d 人批准）",
		requester: "请求人", approvers: "审批人", listed: "请求人（须在名单中）",
		cutNotice: "⚠️ 已截断：还有 %d 字节没有显示", whole: "查看全文",
		textHint: "在这里填写", submit: "提交", rejectWith: "附理由拒绝",
		approve: "批准", reject: "拒绝", choose: "请选择", approvedBy: "已批准 %d/%d", quotes: [2]string{"「", "」"},
		routes: map[approvals.Via]string{
			approvals.ViaAPI: "通过 API", approvals.ViaPanel: "在控制台", approvals.ViaGitHub: "在 GitHub", approvals.ViaReply: "通过回复命令",
			approvals.ViaPolicy: "按会话策略自动处理", approvals.ViaMachine: "按配置自动处理",
		},
		approved: "✅ 已批准", rejected: "⛔ 已拒绝", answered: "✅ 已回答", timedOut: "⌛ 已超时，没有人回答", cancelled: "已取消",
		answerIs:     "回答",
		replyCommand: "请回复命令来回答：", approveOrReject: "/approve %[1]s 或 /reject %[1]s", answerCommand: "/answer %s 你的回答",
		anchorGone: "（原消息已不在，改发在这里）",
		pending:    "待处理",
		stop:       "停止", stopSure: "停止后这个任务不再继续，也不会被新消息恢复。", stoppedBy: "停止人",
		toast: map[toastKind]string{
			toastUnavailable: "暂时无法记录，请稍后再点一次", toastRecorded: "已记录", toastAlready: "之前已记录同样的回答",
			toastAnswered: "已经有人回答过了", toastTimedOut: "已过截止时间，这次点击不算数", toastCancelled: "这个问题已取消",
			toastPartly: "已记录，还需要其他人批准", toastNotYou: "你不能回答这个问题", toastFourEyes: "需要另一个人来回答：请求人不能自己回答",
			toastNotAsked: "这个问题请指定的人回答", toastNotListed: "你目前不在名单中，不能批准", toastNotKnown: "暂时无法核对名单，请稍后再点一次",
			toastWrongCard: "这张卡片不是原来的那张，请在原卡片上操作", toastWrongChat: "原卡片在另一个会话里，请在那里操作", toastUnknown: "找不到这个问题",
			toastInvalid: "这个回答无效，请选择一个选项或填写内容", toastForged: "无法识别的卡片按钮",
			toastStopped: "已停止", toastEnded: "这个任务已经结束", toastMayNotStop: "只有请求人和审批人可以停止", toastNoTicket: "找不到这个任务",
		},
	}
}

func english() words {
	return words{
		approvalTitle: "Approval needed", questionTitle: "Answer needed",
		task: "Task", tool: "Tool", reason: "Reason",
		recommended: "Recommended", asStated: "The operation is as stated by the agent; the gateway did not see the call.",
		whoMayAnswer: "Who may answer", until: "Until", ofThem: " (%d of them must approve)",
		requester: "the requester", approvers: "the approvers", listed: "the requester (while listed)",
		cutNotice: "⚠️ Cut: %d more bytes are not shown", whole: "See the whole",
		textHint: "Write here", submit: "Submit", rejectWith: "Reject with this reason",
		approve: "Approve", reject: "Reject", choose: "Choose one", approvedBy: "Approved %d of %d", quotes: [2]string{"“", "”"},
		routes: map[approvals.Via]string{
			approvals.ViaAPI: "through the API", approvals.ViaPanel: "in the panel", approvals.ViaGitHub: "on GitHub", approvals.ViaReply: "by a reply",
			approvals.ViaPolicy: "by the session's policy", approvals.ViaMachine: "by the configuration",
		},
		approved: "✅ Approved", rejected: "⛔ Rejected", answered: "✅ Answered", timedOut: "⌛ Timed out, nobody answered", cancelled: "Cancelled",
		answerIs:     "Answer",
		replyCommand: "Answer by replying with a command:", approveOrReject: "/approve %[1]s or /reject %[1]s", answerCommand: "/answer %s your answer",
		anchorGone: "(The original message is gone, so this is said here.)",
		pending:    "Open",
		stop:       "Stop", stopSure: "Stopped work does not go on, and no new message resumes it.", stoppedBy: "Stopped by",
		toast: map[toastKind]string{
			toastUnavailable: "Cannot be recorded right now, please try again", toastRecorded: "Recorded", toastAlready: "The same answer was recorded before",
			toastAnswered: "Somebody has already answered", toastTimedOut: "Too late: this click does not count", toastCancelled: "This question was cancelled",
			toastPartly: "Recorded; others must approve too", toastNotYou: "You may not answer this question", toastFourEyes: "Somebody else must answer: not the requester",
			toastNotAsked: "This question asks others", toastNotListed: "You are not listed today and may not approve", toastNotKnown: "The list cannot be read right now, please try again",
			toastWrongCard: "This is not the original card, please use that one", toastWrongChat: "The original card is in another chat, please use that one", toastUnknown: "This question does not exist",
			toastInvalid: "Not a valid answer: choose an option or write something", toastForged: "This card's button is not ours",
			toastStopped: "Stopped", toastEnded: "This task has ended already", toastMayNotStop: "Only the requester and the approvers may stop it", toastNoTicket: "This task does not exist",
		},
	}
}
