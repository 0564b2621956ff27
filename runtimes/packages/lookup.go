package packages

import (
	"bytes"
	"cmp"
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

// Limits of a request to an index. Descriptions of npm packages with many versions are large.
const (
	maxListing  = 24 << 20
	listingTime = 20 * time.Second
	maxFound    = 20
	maxVersions = 500
	maxListed   = 20_000 // maximum number of entries of an answer that are read
	listings    = 2      // maximum number of answers in memory at the same time
)

// Found is one package of an index.
type Found struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty" doc:"Newest version."`
	Summary string `json:"summary,omitempty"`
}

// Search finds packages of an index by a part of their name. Python indexes have no search, so for Python it only finds
// the package with exactly this name.
func (m *Manager) Search(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem, text string) ([]Found, error) {
	one, problem := parse(ecosystem, text)
	if problem != "" && ecosystem == runtimes.PyPI {
		return []Found{}, nil // the text is not a valid name; the user may still be typing
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
	found := []Found{}
	path := fmt.Sprintf("-/v1/search?text=%s&size=%d", url.QueryEscape(text), maxFound)
	err := m.list(ctx, workspace, runtimes.NPM, path, "application/json", func(body []byte, _ string) {
		found = foundIn(body) // the list is empty if the registry has no search and answers in another form
	})
	return found, err
}

// foundIn reads the packages from a registry's answer to a search. The answer is not trusted: it may have any form and size.
func foundIn(body []byte) []Found {
	found := []Found{}
	l := newListing(body)
	l.each(func(key string) bool {
		if key != "objects" {
			return l.skip()
		}
		return l.each(func(string) bool {
			var object struct {
				Package struct{ Name, Version, Description string } `json:"package"`
			}
			if !l.read(&object) {
				return false
			}
			if r, problem := parse(runtimes.NPM, object.Package.Name); problem == "" {
				found = append(found, Found{Name: r.Name, Version: shorten(object.Package.Version, 100), Summary: shorten(object.Package.Description, 300)})
			}
			return len(found) < maxFound
		})
	})
	return found
}

// listing decodes a JSON answer entry by entry, so that entries which are not used need no memory.
type listing struct {
	*json.Decoder
	left int // entries that may still be read
}

func newListing(body []byte) *listing {
	return &listing{Decoder: json.NewDecoder(bytes.NewReader(body)), left: maxListed}
}

// each reads the next value. If it is an object or a list, each calls entry for each entry; the key is "" for entries
// of a list. entry reads the value of the entry and reports whether to continue. If entry returns false, each returns
// false at once.
func (l *listing) each(entry func(key string) bool) bool {
	start, err := l.Token()
	if _, composed := start.(json.Delim); err != nil || !composed {
		return err == nil // the value is neither an object nor a list
	}
	for l.More() {
		if l.left--; l.left < 0 {
			return false
		}
		key := ""
		if start == json.Delim('{') {
			name, err := l.Token()
			if err != nil {
				return false
			}
			key, _ = name.(string)
		}
		if !entry(key) {
			return false
		}
	}
	_, err = l.Token()
	return err == nil
}

func (l *listing) read(value any) bool { return l.Decode(value) == nil }

func (l *listing) skip() bool {
	var ignored json.RawMessage
	return l.read(&ignored)
}

// Versions lists the versions of a package, the newest first. If the index does not have the package, the list is
// empty. The list contains pre-releases only if there are no other versions.
func (m *Manager) Versions(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem, name string) ([]string, error) {
	one, problem := parse(ecosystem, name)
	if problem != "" {
		return nil, &Problem{Code: "not_found", Message: "The name of the package " + problem}
	}
	path, accept := one.Name+"/", "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
	if ecosystem == runtimes.NPM {
		path, accept = strings.ReplaceAll(one.Name, "/", "%2f"), "application/vnd.npm.install-v1+json"
	}
	var all []string
	err := m.list(ctx, workspace, ecosystem, path, accept, func(body []byte, kind string) { all = versionsIn(ecosystem, one.Name, body, kind) })
	if err != nil || len(all) == 0 {
		return []string{}, err
	}
	stable := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return preliminary.MatchString(v) })
	if len(stable) > 0 {
		all = stable
	}
	return newest(all), nil
}

var (
	preliminary = regexp.MustCompile(`(?i)\d-|\d[._-]?(a|b|c|rc|alpha|beta|pre|preview|dev)[._-]?\d*`)
	link        = regexp.MustCompile(`(?i)<a\s[^>]*>([^<]+)</a>`)
	numbers     = regexp.MustCompile(`\d+|[A-Za-z]+`)
	versionForm = regexp.MustCompile(`^[0-9][0-9A-Za-z.!+_-]{0,99}$`)
)

// versionsIn reads the versions from an index's description of a package. The description is not trusted: it may have any
// form and size.
func versionsIn(ecosystem runtimes.Ecosystem, name string, body []byte, kind string) []string {
	seen := map[string]bool{}
	add := func(version string) {
		if versionForm.MatchString(version) {
			seen[version] = true
		}
	}
	l := newListing(body)
	switch {
	case ecosystem == runtimes.NPM:
		l.each(func(key string) bool {
			if key != "versions" {
				return l.skip()
			}
			return l.each(func(version string) bool {
				add(version)
				return l.skip()
			})
		})
	case strings.Contains(kind, "json"):
		l.each(func(key string) bool {
			switch key {
			case "versions":
				return l.each(func(string) bool {
					var version string
					ok := l.read(&version)
					add(version)
					return ok
				})
			case "files":
				return l.each(func(string) bool {
					var file struct {
						Filename string `json:"filename"`
					}
					ok := l.read(&file)
					add(versionOfFile(name, file.Filename))
					return ok
				})
			}
			return l.skip()
		})
	default:
		for range maxListed {
			match := link.FindSubmatchIndex(body)
			if match == nil {
				break
			}
			add(versionOfFile(name, strings.TrimSpace(html.UnescapeString(string(body[match[2]:match[3]])))))
			body = body[match[1]:]
		}
	}
	all := make([]string, 0, len(seen))
	for version := range seen {
		all = append(all, version)
	}
	return all
}

// versionOfFile returns the version in the name of a wheel of a package. It returns "" for other files, such as source
// distributions.
func versionOfFile(name, file string) string {
	parts := strings.Split(strings.TrimSuffix(file, ".whl"), "-")
	if !strings.HasSuffix(file, ".whl") || len(parts) < 5 || strings.ToLower(separators.ReplaceAllString(parts[0], "-")) != name {
		return ""
	}
	return parts[1]
}

// newest returns the newest versions, sorted in descending order.
func newest(all []string) []string {
	type version struct {
		text  string
		parts []string
	}
	split := make([]version, 0, len(all))
	for _, text := range all {
		split = append(split, version{text, numbers.FindAllString(text, -1)})
	}
	slices.SortFunc(split, func(a, b version) int { return cmp.Or(compareParts(b.parts, a.parts), strings.Compare(b.text, a.text)) })
	sorted := make([]string, 0, min(len(split), maxVersions))
	for _, one := range split[:min(len(split), maxVersions)] {
		sorted = append(sorted, one.text)
	}
	return sorted
}

// compareParts compares two versions part by part. The order only decides which versions are offered first.
func compareParts(left, right []string) int {
	for i := range min(len(left), len(right)) {
		l, r := strings.TrimLeft(left[i], "0"), strings.TrimLeft(right[i], "0")
		if order := cmp.Or(len(l)-len(r), strings.Compare(l, r)); order != 0 {
			return order
		}
	}
	return len(left) - len(right)
}

// list sends a request to the index of a workspace and calls read with the body and content type of the answer. If the
// index does not have the path, it does not call read. Answers are large, so only a few are read at the same time.
func (m *Manager) list(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem, path, accept string, read func(body []byte, kind string)) (err error) {
	if missing := m.Lacks(ecosystem); missing != "" {
		return unavailable(missing)
	}
	source, err := m.source(ctx, workspace, ecosystem)
	if err != nil {
		return err
	}
	defer func() { err = source.hide(err) }()
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	select {
	case m.listing <- struct{}{}:
		defer func() { <-m.listing }()
	case <-ctx.Done():
		return indexFailed("other requests to indexes took too long")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(source.plain(), "/")+"/"+path, nil)
	if err != nil {
		return indexFailed(causeOf(err))
	}
	request.Header.Set("Accept", accept)
	source.authorize(request)
	session := m.session(ctx, runtimes.Job{})
	defer session.Close()
	answer, err := source.client(session.Transport()).Do(request)
	if err != nil {
		return indexFailed(causeOf(err))
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusOK:
	case slices.Contains(absent, answer.StatusCode):
		return nil
	default:
		return indexFailed(fmt.Sprintf("it answered with status %d", answer.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxListing+1))
	if err == nil && len(body) > maxListing {
		err = errors.New("its answer is too large")
	}
	if err != nil {
		return indexFailed(causeOf(err))
	}
	read(body, answer.Header.Get("Content-Type"))
	return nil
}

// absent are the HTTP statuses with which indexes answer if they do not have a package or do not support searching.
var absent = []int{400, 404, 405, 501}

func indexFailed(why string) *Problem {
	return &Problem{Code: "index", Message: "The package index could not be used: " + shorten(why, maxExplained) + ".", Remedy: "Try again later, or check the index."}
}
