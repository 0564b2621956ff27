package servertest_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

type summaries struct {
	Items []struct {
		Name       string
		UsageCount int
		LastUsedAt *time.Time
		DeletedAt  *time.Time
		Deletion   *struct{ By, Comment string }
	}
	NextCursor string
}

func (s summaries) names() string {
	var names []string
	for _, item := range s.Items {
		names = append(names, item.Name)
	}
	return strings.Join(names, " ")
}

// A draft can be replaced by any version. An agent can be copied, renamed, deleted and restored with all its data.
func TestAgentFromCreationToDeletion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	const path = "/api/v1/code-agents/"
	save(t, s, "1", map[string]any{"code": "def main(city): return {'text': 'changed'}\n"})

	draft := map[string]any{"from": "latest"}
	s.Want(t, 428, "POST", path+"weather/draft", draft)
	s.Want(t, 409, "POST", path+"weather/draft", draft, servertest.Headers{"If-Match": `"1"`})
	answer := s.Want(t, 200, "POST", path+"weather/draft", draft, servertest.Headers{"If-Match": `"2"`})
	if strings.Contains(string(answer.Body), "changed") || answer.Header.Get("ETag") != `"3"` {
		t.Errorf("the draft of the latest version: %s, %s", answer.Header.Get("ETag"), answer.Body)
	}
	s.Want(t, 404, "POST", path+"weather/draft", map[string]any{"from": "7.0.0"}, servertest.Headers{"If-Match": `"3"`})

	s.Want(t, 201, "POST", path+"weather/copy", map[string]any{"name": "climate"})
	s.Want(t, 409, "POST", path+"weather/copy", map[string]any{"name": "climate"})

	s.Want(t, 200, "PATCH", path+"weather", map[string]any{"name": "forecast"})
	if got := s.Want(t, 200, "GET", path+"weather", nil).Header.Get("Atelier-Renamed"); got != "forecast" {
		t.Errorf("a former name is told to be %q", got)
	}
	if got := s.Want(t, 200, "GET", path+"forecast", nil).Header.Get("Atelier-Renamed"); got != "" {
		t.Errorf("the present name is told to be %q", got)
	}
	// A former name of an agent must still work everywhere, and the answer must contain the current name.
	for _, ask := range []struct {
		method, route string
		body          any
	}{
		{"GET", "/versions", nil}, {"GET", "/versions/latest", nil}, {"GET", "/versions/^1/manifest", nil}, {"POST", "/export-tool", map[string]any{}},
		{"POST", "/execute", map[string]any{"version": "1.0.0"}}, {"POST", "/execute", map[string]any{"version": "draft"}},
		{"GET", "/diff", nil}, {"GET", "/versions/1.0.0/diff/draft", nil}, {"GET", "/pins", nil},
	} {
		for name, want := range map[string]string{"weather": "forecast", "forecast": ""} {
			if got := s.Want(t, 200, ask.method, path+name+ask.route, ask.body).Header.Get("Atelier-Renamed"); got != want {
				t.Errorf("%s of %s: renamed %q, not %q", ask.route, name, got, want)
			}
		}
	}
	var resolved struct {
		Items []struct{ Pinned, Renamed string }
	}
	s.Want(t, 200, "POST", "/api/v1/references/resolve", map[string]any{"references": []string{"weather@latest", "forecast@1.0.0"}}).Into(t, &resolved)
	if resolved.Items[0].Pinned == "" || resolved.Items[0].Renamed != "forecast" || resolved.Items[1].Renamed != "" {
		t.Errorf("%+v", resolved)
	}

	s.Want(t, 409, "POST", path+"forecast/restore", nil)
	s.Want(t, 204, "DELETE", path+"forecast?comment="+url.QueryEscape("nobody \"needs\" it"), nil)
	s.Want(t, 404, "GET", path+"forecast", nil)
	var gone summaries
	s.Want(t, 200, "GET", "/api/v1/code-agents?state=deleted&q=forecast", nil).Into(t, &gone)
	if len(gone.Items) != 1 || gone.Items[0].DeletedAt == nil || gone.Items[0].Deletion.By == "" || gone.Items[0].Deletion.Comment != `nobody "needs" it` {
		t.Errorf("tombstones: %+v", gone.Items)
	}
	s.Want(t, 200, "POST", path+"forecast/restore", nil)
	s.Want(t, 200, "GET", "/api/v1/code-agents?state=deleted", nil).Into(t, &gone)
	if gone.names() != "" {
		t.Errorf("tombstones of what was brought back: %q", gone.names())
	}
	var there summaries
	s.Want(t, 200, "GET", "/api/v1/code-agents?q=forecast", nil).Into(t, &there)
	if len(there.Items) != 1 || there.Items[0].DeletedAt != nil || there.Items[0].Deletion != nil {
		t.Errorf("what was brought back: %+v", there.Items)
	}
	s.Want(t, 200, "GET", path+"weather/versions/1.0.0", nil)
	s.Want(t, 404, "POST", path+"nobody/restore", nil)
}

// A list can search in the code, and can select unused agents.
func TestSearchInCodeAndStaleAgents(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	s.Create(t, map[string]any{"name": "other", "language": "python", "code": "def main(): return 'Zebra' if 1 < 2 else \"C:\\\\Gnu\"\n"})
	list := func(query string) summaries {
		var page summaries
		s.Want(t, 200, "GET", "/api/v1/code-agents?"+query, nil).Into(t, &page)
		return page
	}
	if plain, code := list("q=zebra").names(), list("q=zebra&code=true").names(); plain != "" || code != "other" {
		t.Errorf("found %q, in code %q", plain, code)
	}
	for _, sign := range []string{"<", `"c:\\gnu"`, "'zebra'"} {
		if code := list("code=true&q=" + url.QueryEscape(sign)).names(); code != "other" {
			t.Errorf("found %q by %s", code, sign)
		}
	}
	s.Execute(t, "weather", "1.0.0", map[string]any{"city": "Ulm"})
	if used := list("q=weather").Items; len(used) != 1 || used[0].UsageCount != 1 || used[0].LastUsedAt == nil {
		t.Errorf("after a run: %+v", used)
	}
	later := time.Now().UTC().Add(time.Hour).Format(time.RFC3339)
	if all := list("unusedSince=" + later).names(); all != "other weather" {
		t.Errorf("unused for the hour to come: %q", all)
	}
	if none := list("unusedSince=2020-01-01T00:00:00Z").names(); none != "" {
		t.Errorf("unused since before they were made: %q", none)
	}
}

// The list must be sorted by the time of the update, newest first, on all pages.
func TestAgentsByUpdate(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, name := range []string{"b", "c", "a"} {
		s.Create(t, map[string]any{"name": name, "language": "python", "code": "def main(): pass\n"})
	}
	s.Want(t, 200, "PATCH", "/api/v1/code-agents/b", map[string]any{"title": "changed"})
	var order []string
	for cursor := ""; ; {
		var page summaries
		s.Want(t, 200, "GET", "/api/v1/code-agents?order=updated&limit=1&cursor="+cursor, nil).Into(t, &page)
		order = append(order, page.names())
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(order, " "); got != "b a c" {
		t.Errorf("by update: %q", got)
	}
	s.Want(t, 422, "GET", "/api/v1/code-agents?order=size", nil)
}
