package packages

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/runtimes"
)

// Source is the index from which a workspace installs packages of an ecosystem. The zero value stands for the index of
// the server.
type Source struct {
	Index string // address of the index; it may contain a user and a password
	Token string // bearer token, sent instead of user and password
	Place string // host and path, such as //npm.example/; the token is sent only to an index below it; "" stands for any index
	own   string // folder for archives from a workspace's own source; "" for the server's source
}

// Sources returns the sources of workspaces.
type Sources interface {
	Source(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem) (Source, error)
}

// UseSources sets the lookup for workspaces that have their own sources. It must be called before the manager is used.
func (m *Manager) UseSources(s Sources) { m.sourcesOf = s }

// source returns the source of a workspace. It fails unless the operator has allowed the host of the source, because
// requests to an index may reach hosts that programs must not reach.
func (m *Manager) source(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem) (Source, error) {
	server := Source{Index: m.options.Indexes[ecosystem]}
	if m.sourcesOf == nil {
		return server, nil
	}
	own, err := m.sourcesOf.Source(ctx, workspace, ecosystem)
	if err != nil || own == (Source{}) {
		return server, err
	}
	own.own = folder(workspace)
	if own.Index == "" {
		own.Index = server.Index
	}
	if err := checkAddress(own.Index); err != nil {
		return own, refusedSource("The address of the workspace's package index is not usable: " + err.Error() + ".")
	}
	if own.Token != "" && !npmrcToken.MatchString(own.Token) {
		return own, refusedSource("The token of the workspace's package index has characters that are not allowed.")
	}
	if !own.within() {
		return own, &Problem{
			Code:    "index",
			Message: fmt.Sprintf("The token in the workspace's secret NPMRC is for another registry than %s.", hostOf(own.Index)),
			Remedy:  "Set registry=ADDRESS in NPMRC, or the secret NPM_CONFIG_REGISTRY, to the registry that the token belongs to.",
		}
	}
	if host := hostOf(own.Index); !slices.Contains(m.grants, host) {
		return own, refusedSource(fmt.Sprintf("The workspace's package index is on %s, and this server does not allow package indexes on that host.", host))
	}
	return own, nil
}

// within reports whether the index is below Place. The server sends the token only to such an index, like npm.
func (s Source) within() bool {
	_, address, _ := strings.Cut(strings.TrimSuffix(s.plain(), "/")+"/", ":")
	return s.Place == "" || strings.HasPrefix(address, strings.TrimSuffix(s.Place, "/")+"/")
}

func refusedSource(message string) *Problem {
	return &Problem{Code: "index", Message: message, Remedy: "Correct the workspace's secret, or ask the operator of the server to add the host to --package-hosts."}
}

func checkAddress(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || address.RawQuery != "" || address.Fragment != "" {
		// The error omits the address, because the address may contain a password.
		return errors.New("it must begin with https:// or http:// and have no query")
	}
	return nil
}

// plain returns the address without user and password.
func (s Source) plain() string {
	address, err := url.Parse(s.Index)
	if err != nil {
		return ""
	}
	address.User = nil
	return address.String()
}

// header returns the value of the header Authorization, or "" if the source has no credentials.
func (s Source) header() string {
	if s.Token != "" {
		return "Bearer " + s.Token
	}
	if basic := s.basic(); basic != "" {
		return "Basic " + basic
	}
	return ""
}

func (s Source) basic() string {
	address, err := url.Parse(s.Index)
	if err != nil || address.User == nil {
		return ""
	}
	password, _ := address.User.Password()
	return base64.StdEncoding.EncodeToString([]byte(address.User.Username() + ":" + password))
}

// npmrc returns the settings that make npm send the header.
func (s Source) npmrc() string {
	_, place, _ := strings.Cut(strings.TrimSuffix(s.plain(), "/"), ":")
	switch {
	case s.Token != "":
		return place + "/:_authToken=" + s.Token + "\n"
	case s.basic() != "":
		return place + "/:_auth=" + s.basic() + "\n"
	}
	return ""
}

// authorize adds the credentials of the source to a request if the request goes to the same origin. The scheme must be
// compared too: the address comes from a lock, which may contain the same host and port without TLS.
func (s Source) authorize(request *http.Request) {
	address, err := url.Parse(s.Index)
	if header := s.header(); err == nil && header != "" && address.Scheme == request.URL.Scheme && hostOf(s.Index) == hostOf(request.URL.String()) {
		request.Header.Set("Authorization", header)
	}
}

// maxRedirects is the maximum number of redirects, as in Go's default client.
const maxRedirects = 10

// client returns an HTTP client that sends the credentials of the source only to the origin of the index. After
// redirects, Go's default client would also send them to other ports and to subdomains, and it would send the previous
// address as Referer.
func (s Source) client(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		}
		request.Header.Del("Authorization")
		request.Header.Del("Referer")
		s.authorize(request)
		return nil
	}}
}

// causeOf returns the cause of a failed request without the request's address, which may contain a token.
func causeOf(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return err.Error()
}

// hide removes the credentials of the source from an error. The error may contain text from the index or the resolver.
func (s Source) hide(err error) error {
	var problem *Problem
	if !errors.As(err, &problem) {
		return err
	}
	values := []string{s.Token, s.basic()}
	if address, err := url.Parse(s.Index); err == nil {
		if path := strings.TrimSuffix(address.EscapedPath(), "/"); path != "/simple" { // the path may contain a token
			values = append(values, path)
		}
		if address.User != nil {
			password, _ := address.User.Password()
			if values = append(values, password); password == "" {
				values = append(values, address.User.Username()) // some indexes accept a token in place of the user name
			}
		}
	}
	hidden := *problem
	hidden.Message = redact.New(slices.DeleteFunc(values, func(v string) bool { return v == "" })).Text(problem.Message)
	return &hidden
}

// archivePath returns the path at which an archive is stored. The file name is the hash, so equal archives are stored
// once. Archives from a workspace's own source are in a separate folder. Otherwise another workspace could obtain a
// private archive by writing the archive's hash into a lock.
func (m *Manager) archivePath(p runtimes.LockedPackage, s Source) string {
	return filepath.Join(m.options.Dir, "archives", s.own, strings.ReplaceAll(p.Hash, ":", "-"))
}

// npmrcToken matches a token that npm sends unchanged. It excludes braces, because npm replaces ${…} with variables.
var npmrcToken = regexp.MustCompile(`^[!-z|~]+$`)

// ReadNPMRC reads the registry and its credentials from the text of an .npmrc. It refuses other settings, because they
// would change how packages are resolved.
func ReadNPMRC(text string) (Source, error) {
	var s Source
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `"'`)
		place, setting, placed := cutLast(name, ':')
		switch {
		case !ok || value == "":
			return s, fmt.Errorf("line %d must be a setting with a value", number)
		case name == "registry" && s.Index == "" && checkAddress(value) == nil:
			s.Index = value
		case placed && strings.HasPrefix(place, "//") && setting == "_authToken" && s.Token == "" && npmrcToken.MatchString(value):
			s.Token, s.Place = value, place
		default:
			return s, fmt.Errorf("line %d is not supported; it must be registry=ADDRESS or //HOST/:_authToken=TOKEN", number)
		}
	}
	return s, lines.Err()
}

func cutLast(text string, at byte) (before, after string, found bool) {
	i := strings.LastIndexByte(text, at)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}
