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
	}
}

func (s summaries) names() string {
	var names []string
	for _, item := range s.Items {
		names = append(names, item.Name)
	}
	return strings.Join(names, " ")
}

// A draft is given up for any version, an agent is copied, renamed, deleted and brought back with all it had.
func TestLifeOfAnAgent(t *testing.T) {
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

	s.Want(t, 409, "POST", path+"forecast/restore", nil)
	s.Want(t, 204, "DELETE", path+"forecast", nil)
	s.Want(t, 404, "GET", path+"forecast", nil)
	s.Want(t, 200, "POST", path+"forecast/restore", nil)
	s.Want(t, 200, "GET", path+"weather/versions/1.0.0", nil)
	s.Want(t, 404, "POST", path+"nobody/restore", nil)
}

// Lists find words of the code on request, and the agents that nobody runs.
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
