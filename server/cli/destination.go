package cli

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/server/app"
)

// destination is the server to which a command sends requests, with the token and the workspace to use there.
type destination struct{ server, token, workspace string }

// destination chooses the server of a command. It uses the first of these that names a server: a flag, an environment
// variable, the folder's agent.yaml, the current profile. The zero value means the server of the data directory. folder
// is the address in agent.yaml.
func (r remote) destination(p Process, folder string) (d destination, err error) {
	if r.Profile != "" && r.Server+r.Data+r.Database != "" {
		return d, misusedf("--profile cannot be combined with --server, --data or --database")
	}
	if r.Server+r.Profile == "" && r.Data+r.Database != "" {
		return d, nil // Return before the profiles are read, because the file of profiles may be unreadable.
	}
	known, err := p.profiles()
	if err != nil {
		return d, err
	}
	server, name := p.Getenv("ATELIER_SERVER"), p.Getenv("ATELIER_PROFILE")
	switch {
	case r.Server != "":
		d, err = r.direct(p, known, r.Server)
	case r.Profile != "":
		d, err = r.ofProfile(p, known, r.Profile)
	case server != "":
		d, err = r.direct(p, known, server)
	case name != "":
		d, err = r.ofProfile(p, known, name)
	case folder != "":
		d, err = r.ofFolder(p, known, folder)
	case known.Current != "":
		d, err = r.ofProfile(p, known, known.Current)
	default:
		return d, nil
	}
	if workspace := or(r.Workspace, p.Getenv("ATELIER_WORKSPACE")); workspace != "" {
		d.workspace = workspace
	}
	return d, err
}

// direct returns the server that a flag or an environment variable names.
func (r remote) direct(p Process, known profiles, server string) (d destination, err error) {
	if _, err := addressOf(server); err != nil {
		return d, misusedf("the server: %w", err)
	}
	d = destination{server: strings.TrimRight(server, "/"), token: or(r.Token, p.Getenv("ATELIER_TOKEN"))}
	one, is := known.of(server)
	if is {
		d.workspace = one.Workspace
	}
	if is && d.token == "" {
		d.token, err = one.token(p)
	}
	if d.token == "" && err == nil {
		d.token = r.left(p, server)
	}
	if d.token == "" && err == nil {
		err = misusedf("the server requires a token; set --token or ATELIER_TOKEN, or create a profile: atelier profile set NAME --server %s --token-from -", d.server)
	}
	return d, err
}

// ofProfile returns the server of a profile. The token of the profile takes precedence over ATELIER_TOKEN.
// ATELIER_TOKEN is used only if ATELIER_SERVER names the same server, because otherwise the token may belong to another
// server.
func (r remote) ofProfile(p Process, known profiles, name string) (d destination, err error) {
	one, err := known.named(name)
	if err != nil {
		return d, err
	}
	d = destination{server: strings.TrimRight(one.Server, "/"), token: r.Token, workspace: one.Workspace}
	if d.token == "" {
		d.token, err = one.token(p)
	}
	if d.token == "" && err == nil {
		if sameServer(p.Getenv("ATELIER_SERVER"), one.Server) {
			d.token = p.Getenv("ATELIER_TOKEN")
		}
		d.token = or(d.token, r.left(p, one.Server))
	}
	if d.token == "" && err == nil {
		err = misusedf("the profile %s has no token; run: atelier profile set %s --token-from -", name, name)
	}
	return d, err
}

// sameServer reports whether two addresses are valid and name the same server.
func sameServer(a, b string) bool {
	one, err := addressOf(a)
	other, otherErr := addressOf(b)
	return err == nil && otherErr == nil && one == other
}

// ofFolder returns the server that agent.yaml names. Another person may have written this file. Therefore the server
// receives only a token that was stored for it before, either by the user in a profile or by this server itself in the
// data directory.
func (r remote) ofFolder(p Process, known profiles, server string) (d destination, err error) {
	if one, ok := known.of(server); ok {
		if r.Token != "" {
			return d, misusedf("--token requires --server or --profile, because the token may not be intended for the server %s in agent.yaml", server)
		}
		d = destination{server: strings.TrimRight(one.Server, "/"), workspace: one.Workspace}
		d.token, err = one.token(p)
		if d.token == "" && err == nil {
			err = misusedf("the profile of %s has no token; set one with atelier profile set NAME --token-from -, or use --server and --token", d.server)
		}
		return d, err
	}
	if token := r.left(p, server); token != "" && r.Token == "" {
		return destination{server: strings.TrimRight(server, "/"), token: token}, nil
	}
	return d, misusedf("agent.yaml names the server %s, but none of your profiles names this server, so no request was sent. If you trust the server, run: atelier profile set NAME --server %s --token-from -; "+
		"or choose a server with --server", server, server)
}

// left returns the token that the given server has stored in the data directory. If the data directory belongs to
// another server, it returns "".
func (r remote) left(p Process, server string) string {
	found, err := app.ReadCredentials(r.dataOf(p))
	if err != nil || !onThisMachine(found.URL) {
		return ""
	}
	if !sameServer(server, found.URL) {
		return ""
	}
	return found.Token
}

// onThisMachine reports whether an address from a data directory is a loopback address, as a server writes it. This
// check is needed because the data directory may be in a folder that another person created.
func onThisMachine(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, one := range own {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil && prefix.Addr().Unmap() == ip.Unmap().WithZone("") {
			return true
		}
	}
	return false
}
