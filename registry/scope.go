package registry

import "slices"

// Scope is a right that a credential carries.
type Scope string

// The scopes. Admin stands for all of them.
const (
	ReadScope    Scope = "read"
	RunScope     Scope = "run"
	WriteScope   Scope = "write"
	ApproveScope Scope = "approve"
	AdminScope   Scope = "admin"
)

// Scopes are all of them, the least first.
func Scopes() []Scope { return []Scope{ReadScope, RunScope, WriteScope, ApproveScope, AdminScope} }

// Caller is who asks, and what the credential that they showed lets them do.
type Caller struct {
	Actor     Actor
	Workspace Workspace // the one that the caller acts in
	User      string    // ID of the person on whose behalf, "" for the host's own tokens and for nobody
	Role      Role      // of that person in the workspace
	Scopes    []Scope
	Session   string       // ID of the browser's session, "" for a token
	Agents    []TokenAgent // the only agents that it may touch; none for no such restriction
}

// May reports whether one of the scopes is there.
func (c Caller) May(anyOf ...Scope) bool {
	return slices.ContainsFunc(c.Scopes, func(s Scope) bool { return s == AdminScope || slices.Contains(anyOf, s) })
}

// MayTouch reports whether an agent is one that the caller may touch.
func (c Caller) MayTouch(agentID string) bool {
	return len(c.Agents) == 0 || slices.ContainsFunc(c.Agents, func(a TokenAgent) bool { return a.ID == agentID })
}

// Common are the scopes that both have, the least first.
func Common(a, b []Scope) []Scope {
	var common []Scope
	for _, scope := range Scopes() {
		if (Caller{Scopes: a}).May(scope) && (Caller{Scopes: b}).May(scope) {
			common = append(common, scope)
		}
	}
	if slices.Contains(common, AdminScope) {
		return []Scope{AdminScope} // which stands for all
	}
	return common
}
