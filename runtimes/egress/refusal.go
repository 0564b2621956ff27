package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
)

// Names of the rules that deny a request, in events and errors. If the rule is about a forbidden
// address, the name is RuleAddress followed by the class of the address.
const (
	RuleHosts    = "capabilities.hosts"
	RuleNetwork  = "network" // the program tried to use a network other than the proxy
	RuleCeiling  = "egress-hosts"
	RuleAddress  = "address."
	RuleForm     = "host.form"
	RuleName     = "tls.name"
	RuleRequests = "egress.requests"
	RuleBytes    = "egress.bytes"
)

// refusal is the reason why a network request of a program failed.
type refusal struct {
	rule    string // rule that denied the request; "" if the request failed for another reason
	message string
	remedy  string
	grant   *runtimes.Grant
	again   bool // true if an earlier request was refused for the same reason and that was reported
}

func (r *refusal) Error() string { return r.message }

func (r *refusal) decision() runtimes.Decision {
	if r.rule == "" {
		return runtimes.EgressFailed
	}
	return runtimes.EgressDenied
}

func (d *Session) notGranted(target hostpattern.Target) *refusal {
	r := &refusal{rule: RuleHosts, message: fmt.Sprintf("The host %s is not granted.", target)}
	if len(d.grants) == 0 {
		r.message = fmt.Sprintf("The host %s is not granted: the program has no granted hosts.", target)
	}
	r.remedy = fmt.Sprintf("Add %q to capabilities.hosts.", target)
	r.grant = &runtimes.Grant{Hosts: []string{target.String()}}
	return r
}

func (d *Session) aboveCeiling(target hostpattern.Target) *refusal {
	return &refusal{
		rule: RuleCeiling, message: fmt.Sprintf("The host %s is not allowed in this workspace.", target),
		remedy: "Ask the operator of the server to add it to --egress-hosts.",
	}
}

// classServer is the class of the addresses on which this server listens.
const classServer = "server"

func wrongAddress(target hostpattern.Target, addr netip.Addr, class string) *refusal {
	why := &refusal{rule: RuleAddress + class, message: fmt.Sprintf("The host %s resolves to a %s address.", target, class)}
	switch class {
	case classServer:
		why.message, why.remedy = fmt.Sprintf("The host %s resolves to this server itself.", target), "Programs never reach the server that runs them."
	case hostpattern.Metadata:
		why.message, why.remedy = fmt.Sprintf("The host %s resolves to a metadata service's address.", target), "Programs never reach metadata services."
	case "own":
		why.message = fmt.Sprintf("The host %s resolves to this server's own address.", target)
		fallthrough
	default:
		why.remedy = fmt.Sprintf("If this is intended, also grant the address: add %q to capabilities.hosts, and ask the operator of the server to add it to --egress-hosts.", netip.AddrPortFrom(addr, target.Port))
	}
	return why
}

func unresolved(target hostpattern.Target) *refusal {
	return &refusal{message: fmt.Sprintf("The host name %s could not be resolved.", target.Host)}
}

func badForm(err error) *refusal {
	return &refusal{
		rule: RuleForm, message: "The host of the request is not valid: " + err.Error() + ".",
		remedy: "Write the host as in capabilities.hosts.",
	}
}

func wrongName(target hostpattern.Target, name string) *refusal {
	return &refusal{
		rule: RuleName, message: fmt.Sprintf("The connection to %s requested the TLS certificate of another host.", target),
		remedy: fmt.Sprintf("Connect to %q under that name, and grant that name.", name),
	}
}

func unreadName(target hostpattern.Target) *refusal {
	return &refusal{
		rule: RuleName, message: fmt.Sprintf("The TLS handshake to %s contains no readable server name.", target),
		remedy: "Use the granted host name, without a dot at its end, and standard TLS (RFC 8446).",
	}
}

func tooMany(target hostpattern.Target, most Limits) *refusal {
	return &refusal{
		rule: RuleRequests, message: fmt.Sprintf("The request to %s was refused: the run has reached its limit of %d requests.", target, most.Requests),
		remedy: "Send fewer requests in one run.",
	}
}

func tooMuch(target hostpattern.Target, most Limits) *refusal {
	return &refusal{
		rule: RuleBytes, message: fmt.Sprintf("The connection to %s was closed: the run has reached its limit of %s of network traffic.", target, bytesize.Text(most.Bytes)),
		remedy: "Transfer less data in one run.",
	}
}

// callError returns the refusal as the error of a host function.
func (r *refusal) callError() *runtimes.CallError {
	if r.rule == "" {
		return &runtimes.CallError{Code: "failed", Message: r.message}
	}
	return &runtimes.CallError{Code: string(runtimes.Denied), Message: strings.TrimSpace(r.message), Rule: r.rule, Remedy: r.remedy, Grant: r.grant}
}

// Denial returns the program error for err if a rule denied the request, and nil if the request failed for another reason.
func Denial(err error) *runtimes.ProgramError {
	var why *refusal
	if !errors.As(err, &why) || why.rule == "" {
		return nil
	}
	return &runtimes.ProgramError{Type: runtimes.Denied, Message: why.message, Rule: why.rule, Remedy: why.remedy, Grant: why.grant}
}

// Refused reports whether the last request of the run was denied.
func (d *Session) Refused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused != nil && d.refused.rule != ""
}

// Blame replaces a program's failure with the denial of its last request, if that request was denied. It keeps the
// position of the failure.
func (d *Session) Blame(e *runtimes.ProgramError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.refused; why != nil && why.rule != "" {
		e.Type, e.Message, e.Remedy, e.Rule, e.Grant = runtimes.Denied, why.message, why.remedy, why.rule, why.grant
	}
}

// Settle rewrites the error of a program that reports a host as unreachable. The program may have bypassed the proxy,
// or it has no proxy because no hosts were granted to it. The program's text is not trusted, so Settle uses only one
// part of it: the name of a host that could be granted.
func (d *Session) Settle(e *runtimes.ProgramError) {
	if e == nil || e.Type != runtimes.Denied || e.Grant == nil {
		return
	}
	named := e.Grant.Hosts
	e.Grant = nil
	if len(named) != 1 {
		return
	}
	target, err := hostpattern.ParseHostPort(named[0], 0)
	if err != nil {
		return
	}
	_, why := d.granted(target)
	switch {
	case why != nil:
		e.Message, e.Remedy, e.Rule, e.Grant = why.message, why.remedy, why.rule, why.grant
	case e.Rule == RuleNetwork:
		e.Message = fmt.Sprintf("The host %s is granted, but it can be reached only with HTTP through the proxy.", target)
		e.Remedy = "Use ctx.fetch, or a client that supports http_proxy and https_proxy."
	}
}
