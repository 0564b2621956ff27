package registry

// Tokens counts the tokens of requests to a language model and the tokens of its answers.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// Total returns the sum of all tokens.
func (t Tokens) Total() int64 { return t.Input + t.Output }
