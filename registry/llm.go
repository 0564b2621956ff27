package registry

// Tokens counts the tokens of requests to a language model and of its answers.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// Total returns all tokens.
func (t Tokens) Total() int64 { return t.Input + t.Output }
