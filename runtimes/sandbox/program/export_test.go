package program

// CodeOf and TagOf read parts of a program's messages without a JSON parser.
var (
	CodeOf = codeOf
	TagOf  = tagOf
)
