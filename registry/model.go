package registry

// ModelChoice is what a workspace has chosen about the language model.
type ModelChoice struct {
	Off   bool
	Model string // name; "" for the server's
}
