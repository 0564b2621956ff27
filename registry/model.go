package registry

// ModelChoice is a workspace's setting for the language model.
type ModelChoice struct {
	Off   bool
	Model string // name of the model; "" for the server's default
}
