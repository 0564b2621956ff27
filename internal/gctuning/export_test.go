package gctuning

// Watching returns the ID of the monitor thread, SlackFile the path of its timer slack, and LimitOf a memory limit.
var (
	Watching  = watching
	SlackFile = slackFile
	LimitOf   = limitOf
)
