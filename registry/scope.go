package registry

import "slices"

// Scope is a right that a credential grants.
type Scope string

// These are the values of Scope. Admin includes all other scopes.
const (
	ReadScope    Scope = "read"
	RunScope     Scope = "run"
	WriteScope   Scope = "write"
	ApproveScope Scope = "approve"
	AdminScope   Scope = "admin"
)

// Scopes returns all scopes, lowest first.
func Scopes() []Scope { return []Scope{ReadScope, RunScope, WriteScope, ApproveScope, AdminScope} }

// Caller identifies the person or service that sends a request, with the rights of its credential.
type Caller struct {
	Actor     Actor
	Workspace Workspace // workspace that the request is about
	User      string    // ID of the person for whom the token acts; "" for a token of the server's operator
	Role      Role      // the person's role in the workspace
	Scopes    []Scope
	Session   string       // ID of the browser session, "" for a token
	Agents    []TokenAgent // agents to which the caller is restricted; empty means no restriction
}

// May reports whether the caller has at least one of the scopes.
func (c Caller) May(anyOf ...Scope) bool {
	return slices.ContainsFunc(c.Scopes, func(s Scope) bool { return s == AdminScope || slices.Contains(anyOf, s) })
}

// MayTouch reports whether the caller may access an agent.
func (c Caller) MayTouch(agentID string) bool {
	return len(c.Agents) == 0 || slices.ContainsFunc(c.Agents, func(a TokenAgent) bool { return a.ID == agentID })
}

// Common returns the scopes that are in both lists, lowest first.
func Common(a, b []Scope) []Scope {
	var common []Scope
	for _, scope := range Scopes() {
		if (Caller{Scopes: a}).May(scope) && (Caller{Scopes: b}).May(scope) {
			common = append(common, scope)
		}
	}
	if slices.Contains(common, AdminScope) {
		return []Scope{AdminScope} // admin includes all other scopes
	}
	return common
}
