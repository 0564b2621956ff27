package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// Egress sends requests through an egress session, as programs send their requests. The session resolves and checks
// host names. It connects only to the host of the operator's URL.
type Egress struct {
	Proxy *egress.Proxy
	Host  hostpattern.Grant
}

// Through returns a sender that may send requests only to the host of an address.
func Through(proxy *egress.Proxy, address string) (Egress, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Egress{}, fmt.Errorf("webhook %q: %w", address, err)
	}
	host := u.Host
	if u.Port() == "" {
		host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	grant, err := hostpattern.ParseGrant(host)
	return Egress{proxy, grant}, err
}

// Send implements Sender.
func (e Egress) Send(ctx context.Context, address string, headers [][2]string, body []byte) (int, error) {
	args, err := json.Marshal(map[string]any{"url": address, "method": "POST", "headers": headers, "body": string(body), "redirect": "manual"})
	if err != nil {
		return 0, err
	}
	session := e.Proxy.OpenBeneath(hostpattern.Ceiling{Grants: []hostpattern.Grant{e.Host}}, runtimes.Job{
		RunID: "webhook", Workspace: registry.DefaultWorkspace, Capabilities: runtimes.Capabilities{Hosts: []string{e.Host.String()}},
	}, noProgram{})
	defer session.Close()
	answer, err := session.Call(ctx, egress.Function, args)
	if err != nil {
		if ctx.Err() != nil {
			return 0, errors.Join(context.Cause(ctx), err)
		}
		return 0, err
	}
	var got struct {
		Status int `json:"status"`
	}
	err = json.Unmarshal(answer, &got)
	return got.Status, err
}

// noProgram is the runtimes.Host of an egress session that does not belong to a program.
type noProgram struct{}

// Emit implements runtimes.Host. It ignores the event, because the answer contains the session's decision.
func (noProgram) Emit(runtimes.Event) {}

// Call implements runtimes.Host.
func (noProgram) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "This request does not come from a program, so host functions are not available."}
}
