package gctuning

// Watching finds the thread that is slowed down; SlackFile is the file with its slack. LimitOf finds a memory limit.
var (
	Watching  = watching
	SlackFile = slackFile
	LimitOf   = limitOf
)
