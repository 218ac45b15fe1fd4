package feishu

// The platform's limits, as data (facts C.6, D.2). What is a little under a
// platform number leaves room for what the platform adds when it measures.
const (
	// maxCardBytes: cards and posts may have 30 KB (230025).
	maxCardBytes = 28 * 1024
	// maxTables in one Markdown text (230099, 11310): a card may have five, a
	// text of it four.
	maxTables = 4
	// maxUUID of a create or reply.
	maxUUID = 50

	// partBytes is the Markdown of one message of a split reply: doubled by
	// quoting it still fits maxCardBytes.
	partBytes = 12 * 1024

	// What an agent wrote is cut visibly at these on a card (CA-2).
	cardPromptBytes  = 4 * 1024
	cardPreviewBytes = 4 * 1024
	cardPreviewLines = 80
	cardLabelRunes   = 40
	cardTitleRunes   = 80
	cardReasonRunes  = 400
	cardAnswerRunes  = 1000
	cardDetailRunes  = 200
	// maxButtons: more options than that are a list to choose from.
	maxButtons = 5
	// maxInput characters can be typed into a card's field.
	maxInput = 1000

	// sentMemory is how many ids of sent messages a process remembers (FS-2).
	sentMemory = 2048
	// replyMemory is how many answers to callbacks it remembers.
	replyMemory = 512
)
