package program

// The readers of messages of a program, for tests.
var (
	CodeOf = codeOf
	TagOf  = tagOf
)
