package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// Limits of a question to an index. Descriptions of npm packages with many versions are large.
const (
	maxListing  = 24 << 20
	listingTime = 20 * time.Second
	maxFound    = 20
	maxVersions = 500
)

// Found is one package of an index.
type Found struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty" doc:"Newest version."`
	Summary string `json:"summary,omitempty"`
}

// Search finds packages of an index by a part of their name. Indexes of Python packages know exact names only.
func (m *Manager) Search(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem, text string) ([]Found, error) {
	one, problem := parse(ecosystem, text)
	if problem != "" && ecosystem == runtimes.PyPI {
		return []Found{}, nil // not a name yet
	}
	if ecosystem == runtimes.NPM {
		found, err := m.searchNPM(ctx, workspace, text)
		if err != nil || len(found) > 0 || problem != "" {
			return found, err
		}
	}
	versions, err := m.Versions(ctx, workspace, ecosystem, one.Name)
	if err != nil || len(versions) == 0 {
		return []Found{}, err
	}
	return []Found{{Name: one.Name, Version: versions[0]}}, nil
}

func (m *Manager) searchNPM(ctx context.Context, workspace, text string) ([]Found, error) {
	var answer struct {
		Objects []struct {
			Package struct{ Name, Version, Description string } `json:"package"`
		} `json:"objects"`
	}
	body, _, err := m.list(ctx, workspace, runtimes.NPM, fmt.Sprintf("-/v1/search?text=%s&size=%d", url.QueryEscape(text), maxFound), "application/json")
	if err != nil || json.Unmarshal(body, &answer) != nil {
		return []Found{}, err // a registry without a search answers otherwise
	}
	found := []Found{}
	for _, o := range answer.Objects {
		if r, problem := parse(runtimes.NPM, o.Package.Name); problem == "" && len(found) < maxFound {
			found = append(found, Found{Name: r.Name, Version: shorten(o.Package.Version, 100), Summary: shorten(o.Package.Description, 300)})
		}
	}
	return found, nil
}

// Versions lists the versions of a package, the newest first; none if the index does not have it. Versions for trying
// are left out unless there are no others.
func (m *Manager) Versions(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem, name string) ([]string, error) {
	one, problem := parse(ecosystem, name)
	if problem != "" {
		return nil, &Problem{Code: "not_found", Message: "The name of the package " + problem}
	}
	path, accept := one.Name+"/", "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
	if ecosystem == runtimes.NPM {
		path, accept = strings.ReplaceAll(one.Name, "/", "%2f"), "application/vnd.npm.install-v1+json"
	}
	body, kind, err := m.list(ctx, workspace, ecosystem, path, accept)
	if err != nil || body == nil {
		return []string{}, err
	}
	all := versionsIn(ecosystem, one.Name, body, kind)
	stable := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return preliminary.MatchString(v) })
	if len(stable) > 0 {
		all = stable
	}
	slices.SortFunc(all, func(a, b string) int { return compareVersions(b, a) })
	return all[:min(len(all), maxVersions)], nil
}

var (
	preliminary = regexp.MustCompile(`(?i)\d-|\d[._-]?(a|b|c|rc|alpha|beta|pre|preview|dev)[._-]?\d*`)
	link        = regexp.MustCompile(`(?i)<a\s[^>]*>([^<]+)</a>`)
	numbers     = regexp.MustCompile(`\d+|[A-Za-z]+`)
	versionForm = regexp.MustCompile(`^[0-9][0-9A-Za-z.!+_-]{0,99}$`)
)

// versionsIn reads the versions from an index's description of a package, which is hostile: it may be anything.
func versionsIn(ecosystem runtimes.Ecosystem, name string, body []byte, kind string) []string {
	seen := map[string]bool{}
	add := func(version string) {
		if versionForm.MatchString(version) {
			seen[version] = true
		}
	}
	switch {
	case ecosystem == runtimes.NPM:
		var answer struct {
			Versions map[string]json.RawMessage `json:"versions"`
		}
		if json.Unmarshal(body, &answer) == nil {
			for version := range answer.Versions {
				add(version)
			}
		}
	case strings.Contains(kind, "json"):
		var answer struct {
			Versions []string `json:"versions"`
			Files    []struct {
				Filename string `json:"filename"`
			} `json:"files"`
		}
		if json.Unmarshal(body, &answer) == nil {
			for _, version := range answer.Versions {
				add(version)
			}
			for _, file := range answer.Files {
				add(versionOfFile(name, file.Filename))
			}
		}
	default:
		for _, match := range link.FindAllSubmatch(body, -1) {
			add(versionOfFile(name, strings.TrimSpace(html.UnescapeString(string(match[1])))))
		}
	}
	all := make([]string, 0, len(seen))
	for version := range seen {
		all = append(all, version)
	}
	return all
}

// versionOfFile returns the version in the name of a wheel, "" for another file: packages are not built here.
func versionOfFile(name, file string) string {
	parts := strings.Split(strings.TrimSuffix(file, ".whl"), "-")
	if !strings.HasSuffix(file, ".whl") || len(parts) < 5 || strings.ToLower(separators.ReplaceAllString(parts[0], "-")) != name {
		return ""
	}
	return parts[1]
}

// compareVersions orders versions by their numbers. It only decides what is offered first.
func compareVersions(a, b string) int {
	left, right := numbers.FindAllString(a, -1), numbers.FindAllString(b, -1)
	for i := range max(len(left), len(right)) {
		if i >= len(left) || i >= len(right) {
			return len(left) - len(right)
		}
		if left[i] == right[i] {
			continue
		}
		l, r := strings.TrimLeft(left[i], "0"), strings.TrimLeft(right[i], "0")
		if len(l) != len(r) {
			return len(l) - len(r)
		}
		return strings.Compare(l, r)
	}
	return 0
}

// list asks the index of a workspace. The body is nil if the index does not have the address.
func (m *Manager) list(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem, path, accept string) (body []byte, kind string, err error) {
	if missing := m.Lacks(ecosystem); missing != "" {
		return nil, "", unavailable(missing)
	}
	source, err := m.source(ctx, workspace, ecosystem)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = source.hide(err) }()
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(source.plain(), "/")+"/"+path, nil)
	if err != nil {
		return nil, "", indexFailed(causeOf(err))
	}
	request.Header.Set("Accept", accept)
	source.authorize(request)
	session := m.session(ctx, runtimes.Job{})
	defer session.Close()
	answer, err := source.client(session.Transport()).Do(request)
	if err != nil {
		return nil, "", indexFailed(causeOf(err))
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusOK:
	case slices.Contains(absent, answer.StatusCode):
		return nil, "", nil
	default:
		return nil, "", indexFailed(fmt.Sprintf("it answered with status %d", answer.StatusCode))
	}
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxListing+1))
	if err == nil && len(body) > maxListing {
		err = errors.New("its answer is too large")
	}
	if err != nil {
		return nil, "", indexFailed(causeOf(err))
	}
	return body, answer.Header.Get("Content-Type"), nil
}

// absent are the statuses of indexes for a package or a search that they do not have.
var absent = []int{400, 404, 405, 501}

func indexFailed(why string) *Problem {
	return &Problem{Code: "index", Message: "The package index could not be used: " + shorten(why, maxExplained) + ".", Remedy: "Try again later, or check the index."}
}
