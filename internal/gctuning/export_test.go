package gctuning

// Watching is the thread that is slowed down, SlackFile where it says how much.
var (
	Watching  = watching
	SlackFile = slackFile
)
