package skills

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// Download downloads archives through an egress session, as programs send their requests. The session resolves and
// checks host names. It connects only to granted hosts, even after a redirect.
type Download struct {
	Proxy *egress.Proxy
	Hosts []string // granted hosts, for example skills.example.com:443
}

// Fetch implements Fetcher.
func (d Download) Fetch(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return nil, fault.Invalid("/url", "must be the URL of a .tar.gz, for example https://skills.example.com/greet.tar.gz.")
	}
	if len(d.Hosts) == 0 {
		return nil, fault.New(fault.Forbidden, "This server is not allowed to download skills from this host. Start it with --skills-hosts %s, or send the archive itself.", shown(grantFor(u)))
	}
	args, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		return nil, err
	}
	ceiling := hostpattern.Ceiling{} // The empty ceiling adds no limit beyond the operator's list of hosts.
	for _, text := range d.Hosts {
		if grant, err := hostpattern.ParseGrant(text); err == nil {
			ceiling.Grants = append(ceiling.Grants, grant)
		}
	}
	session := d.Proxy.OpenBeneath(ceiling, runtimes.Job{RunID: "skills", Workspace: systemActor().Workspace, Capabilities: runtimes.Capabilities{Hosts: d.Hosts}}, nobody{})
	defer session.Close()
	answer, err := session.Call(ctx, egress.Function, args)
	var refused *runtimes.CallError
	switch {
	case errors.As(err, &refused) && refused.Code == "denied":
		return nil, fault.New(fault.Forbidden, "%s Allow hosts with --skills-hosts.", refused.Message)
	case errors.As(err, &refused):
		return nil, fault.Invalid("/url", "cannot be fetched: %s", refused.Message)
	case err != nil:
		return nil, err
	}
	return archiveIn(answer)
}

func archiveIn(answer json.RawMessage) ([]byte, error) {
	var got struct {
		Status int     `json:"status"`
		Text   *string `json:"text"`
		Base64 string  `json:"base64"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	const fine = 200
	if got.Status != fine || got.Text != nil {
		return nil, fault.Invalid("/url", "is not an archive: the answer has status %d and content type %s.", got.Status, map[bool]string{true: "text", false: "no text"}[got.Text != nil])
	}
	content, err := base64.StdEncoding.DecodeString(got.Base64)
	if err == nil && len(content) > folders.MaxArchive {
		err = fault.New(fault.InvalidInput, "The archive is larger than %s.", bytesize.Text(folders.MaxArchive))
	}
	return content, err
}

// grantFor returns the grant that allows requests to an address.
func grantFor(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
}

// nobody is the runtimes.Host of an egress session that does not belong to a program.
type nobody struct{}

// Emit implements runtimes.Host. It ignores the event, because the response contains the session's decision.
func (nobody) Emit(runtimes.Event) {}

// Call implements runtimes.Host.
func (nobody) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "This request does not come from a program, so host functions are not available."}
}
