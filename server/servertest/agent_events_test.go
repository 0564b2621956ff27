package servertest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

// following is an open event stream of the agent weather.
type following struct{ lines *bufio.Scanner }

func followAgent(t *testing.T, s *servertest.Server, headers servertest.Headers) following {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+stalePath+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() }) // The test has read the stream.
	if answer.StatusCode != 200 || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	return following{bufio.NewScanner(answer.Body)}
}

// next reads events until it finds one with the name. At the end of the stream it returns false.
func (f following) next(t *testing.T, name string, data any) bool {
	t.Helper()
	event := ""
	for f.lines.Scan() {
		if text, ok := strings.CutPrefix(f.lines.Text(), "event: "); ok {
			event = text
		}
		if text, ok := strings.CutPrefix(f.lines.Text(), "data: "); ok && event == name {
			if err := json.Unmarshal([]byte(text), data); err != nil {
				t.Fatal(err)
			}
			return true
		}
	}
	return false
}

type draftEvent struct {
	Revision int64
	SavedAt  string
	SavedBy  struct{ ID, Name string }
}

// TestAgentEvents_SavesOfOthers_Told checks that the event stream of an agent reports saves and publications of other
// clients. It also reports which other people have the agent open.
func TestAgentEvents_SavesOfOthers_Told(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	ada := join(t, s, "ada", invite(t, s, "developer"))
	page := followAgent(t, s, servertest.Headers{"Cookie": ada.cookie.Name + "=" + ada.cookie.Value})
	var draft draftEvent
	if !page.next(t, "draft", &draft) || draft.Revision != 2 {
		t.Fatalf("the stream begins with %+v", draft)
	}
	var there struct {
		People []struct{ ID, Name, Since string }
	}
	if !page.next(t, "presence", &there) || len(there.People) != 1 || there.People[0].Name == "" || there.People[0].Since == "" {
		t.Fatalf("there is %+v", there)
	}
	robot := followAgent(t, s, servertest.Headers{"Authorization": "Bearer " + s.Token})
	if !page.next(t, "presence", &there) || len(there.People) != 2 {
		t.Fatalf("there is %+v", there)
	}
	save(t, s, "2", map[string]any{"code": "def main(input): return 3\n"})
	for _, one := range []following{page, robot} {
		for draft.Revision = 0; draft.Revision != 3; {
			if !one.next(t, "draft", &draft) {
				t.Fatal("the stream ended")
			}
		}
		if draft.SavedAt == "" || draft.SavedBy.Name == "" {
			t.Errorf("the save is told as %+v", draft)
		}
	}
	s.Publish(t, "weather", "1.0.0")
	var version struct{ Version string }
	if !page.next(t, "version", &version) || version.Version != "1.0.0" {
		t.Errorf("published %+v", version)
	}
	s.Want(t, 200, "POST", historyPath+"/1/restore", nil, servertest.Headers{"If-Match": `"3"`})
	if !page.next(t, "draft", &draft) || draft.Revision != 4 {
		t.Errorf("restored %+v", draft)
	}
	s.Want(t, 204, "DELETE", stalePath, nil)
	if page.next(t, "draft", &draft) {
		t.Errorf("after the deletion came %+v", draft)
	}
}

// TestAgentEvents_AccessRevoked_Ended checks that the event stream ends when its reader loses access to the agent.
func TestAgentEvents_AccessRevoked_Ended(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	ada := join(t, s, "ada", invite(t, s, "developer"))
	page := followAgent(t, s, servertest.Headers{"Cookie": ada.cookie.Name + "=" + ada.cookie.Value})
	s.Want(t, 204, "DELETE", "/api/v1/members/"+ada.me(t).Actor.ID, nil)
	var none any
	if page.next(t, "version", &none) {
		t.Error("the stream goes on")
	}
}
