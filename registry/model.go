package registry

// ModelChoice is the language model that a workspace has chosen.
type ModelChoice struct {
	Off   bool
	Model string // name of the model; "" for the server's default
}
