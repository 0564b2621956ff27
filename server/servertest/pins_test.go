package servertest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

type pin struct{ Owner, Label, Reference, Version string }

// TestPins checks that a pinned agent cannot be deleted, and that deprecating a version lists its pins.
func TestPins(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	s.Publish(t, "weather", "2.0.0")
	body := map[string]any{"owner": "workflow:42", "label": "Morning mail", "references": []string{"weather@1.0.0", "weather@^2"}}
	var list struct{ Items []pin }
	for range 2 { // The second request must change nothing.
		s.Want(t, 200, "PUT", "/api/v1/pins", body).Into(t, &list)
	}
	s.Want(t, 200, "PUT", "/api/v1/pins", map[string]any{"owner": "tools:7", "references": []string{"weather@latest"}})
	s.Want(t, 200, "GET", "/api/v1/code-agents/weather/pins", nil).Into(t, &list)
	want := []pin{{"tools:7", "", "weather@latest", "2.0.0"}, {"workflow:42", "Morning mail", "weather@1.0.0", "1.0.0"}, {"workflow:42", "Morning mail", "weather@^2", "2.0.0"}}
	if len(list.Items) != 3 || list.Items[0] != want[0] || list.Items[1] != want[1] || list.Items[2] != want[2] {
		t.Errorf("pins %+v", list.Items)
	}
	refused := s.Want(t, 422, "PUT", "/api/v1/pins", map[string]any{"owner": "x", "references": []string{"weather@1.0.0", "weather@7", "none@1.0.0"}}).Problem(t)
	if len(refused.Errors) != 2 || refused.Errors[0].Pointer != "/references/1" || refused.Errors[1].Pointer != "/references/2" {
		t.Errorf("refused with %+v", refused)
	}

	conflict := s.Want(t, 409, "DELETE", "/api/v1/code-agents/weather", nil)
	var why struct {
		Code string
		Pins []pin
	}
	conflict.Into(t, &why)
	if why.Code != "conflict" || len(why.Pins) != 3 || !strings.Contains(string(conflict.Body), "Morning mail") {
		t.Errorf("deleting is refused with %s", conflict.Body)
	}

	var old struct {
		Deprecated        bool
		Reason, Successor string
		Pins              []pin
	}
	s.Want(t, 200, "PATCH", "/api/v1/code-agents/weather/versions/1.0.0", map[string]any{"deprecated": true, "reason": "Wrong units 📏.\nSorry."}).Into(t, &old)
	if !old.Deprecated || old.Successor != "weather@2.0.0" || len(old.Pins) != 1 || old.Pins[0].Owner != "workflow:42" {
		t.Errorf("deprecated: %+v", old)
	}
	for _, wrong := range []string{"weather@9", "weather@^1", "weather", "nobody@1.0.0", "weather@draft"} {
		refuseSuccessor(t, s, "1.0.0", wrong)
	}
	refuseSuccessor(t, s, "2.0.0", "weather@1.0.0") // Version 2.0.0 names 1.0.0 as its own successor.
	for range 2 {                                   // The second request gets the stored answer of the first one.
		answer := s.Want(t, 200, "POST", "/api/v1/code-agents/weather/execute", map[string]any{"version": "1.0.0", "input": map[string]any{"city": "Ulm"}}, servertest.Headers{"Idempotency-Key": "k"})
		if got := answer.Header.Get("Atelier-Deprecated"); got != `"weather@1.0.0 is deprecated: Wrong units \ud83d\udccf. Sorry. Use weather@2.0.0 instead."` {
			t.Errorf("the run says %q", got)
		}
	}
	answer := s.Want(t, 200, "POST", "/api/v1/code-agents/weather/execute", map[string]any{"version": "^2", "input": map[string]any{"city": "Ulm"}})
	if got := answer.Header.Get("Atelier-Deprecated"); got != "" {
		t.Errorf("the run of another version says %q", got)
	}
	var resolved struct {
		Items []struct {
			Pinned, Reason, Successor string
			Error                     *struct{ Code string }
		}
	}
	s.Want(t, 200, "POST", "/api/v1/references/resolve", map[string]any{"references": []string{"weather@1.0.0", "weather@^9", "weather@~2.0"}}).Into(t, &resolved)
	if r := resolved.Items; len(r) != 3 || r[0].Successor != "weather@2.0.0" || r[0].Reason == "" || r[1].Error == nil || r[1].Error.Code != "not_found" || r[2].Pinned != "weather@2.0.0" {
		t.Errorf("resolved %+v", r)
	}

	for _, owner := range []string{"workflow:42", "tools:7"} {
		s.Want(t, 204, "DELETE", "/api/v1/pins?owner="+owner, nil)
	}
	s.Want(t, 204, "DELETE", "/api/v1/code-agents/weather", nil)
}

func refuseSuccessor(t *testing.T, s *servertest.Server, version, successor string) {
	t.Helper()
	var refused struct {
		Errors []struct{ Pointer, Message string }
	}
	s.Want(t, 422, "PATCH", "/api/v1/code-agents/weather/versions/"+version, map[string]any{"deprecated": true, "successor": successor}).Into(t, &refused)
	if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/successor" || refused.Errors[0].Message == "" {
		t.Errorf("%s as the successor of %s is refused with %+v", successor, version, refused.Errors)
	}
}

// Force deletes an agent even if a version is pinned.
func TestForcedDeletion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	s.Want(t, 200, "PUT", "/api/v1/pins", map[string]any{"owner": "a", "references": []string{"weather@1.0.0"}})
	s.Want(t, 204, "DELETE", "/api/v1/code-agents/weather?force=true", nil)
	var list struct{ Items []pin }
	s.Want(t, 200, "GET", "/api/v1/pins?owner=a", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Version != "" {
		t.Errorf("pins of what is gone: %+v", list.Items)
	}
}

// If two versions are deprecated at the same moment, they must not name each other as successor.
func TestSimultaneousDeprecationsDoNotNameEachOther(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	s.Publish(t, "weather", "2.0.0")
	const path = "/api/v1/code-agents/weather/versions/"
	for range 20 {
		var statuses [2]int
		var both sync.WaitGroup
		for i, versions := range [2][2]string{{"1.0.0", "2.0.0"}, {"2.0.0", "1.0.0"}} {
			both.Go(func() {
				answer, err := s.Try(t.Context(), "PATCH", path+versions[0], map[string]any{"deprecated": true, "successor": "weather@" + versions[1]})
				if err != nil {
					t.Error(err)
				}
				statuses[i] = answer.Status
			})
		}
		both.Wait()
		if statuses != [2]int{200, 422} && statuses != [2]int{422, 200} {
			t.Fatalf("answered with %v", statuses)
		}
		for _, version := range []string{"1.0.0", "2.0.0"} {
			s.Want(t, 200, "PATCH", path+version, map[string]any{"deprecated": false})
		}
	}
}
