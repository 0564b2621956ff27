package gctuning

// Watching finds the thread that is slowed down; SlackFile is the file with its slack.
var (
	Watching  = watching
	SlackFile = slackFile
)
