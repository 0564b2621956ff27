package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

func TestPublicRegistry(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agents = "/api/v1/code-agents"
	s.Want(t, http.StatusCreated, http.MethodPost, agents, map[string]any{"name": "echo", "title": "Echo", "language": "bash", "code": "echo 1\n", "tags": []string{"demo"}})
	s.Want(t, http.StatusConflict, http.MethodPost, agents+"/echo/publish", map[string]any{"public": true})
	s.Publish(t, "echo", "1.0.0")
	type listed struct {
		Items []struct{ ID, Name, LatestVersion string }
	}
	browse := func(query string) (l listed) {
		s.Want(t, http.StatusOK, http.MethodGet, agents+"/registry"+query, nil).Into(t, &l)
		return l
	}
	if l := browse(""); len(l.Items) != 0 {
		t.Error(l)
	}
	var agent struct {
		ID     string
		Listed bool
		Origin *struct{ AgentID, Name, Version, Digest, Publisher, Newer string }
		Draft  struct{ Files map[string]string }
	}
	s.Want(t, http.StatusOK, http.MethodPost, agents+"/echo/publish", map[string]any{"public": true}).Into(t, &agent)
	l := browse("?q=demo&tag=demo&language=bash")
	if !agent.Listed || len(l.Items) != 1 || l.Items[0].Name != "echo" || l.Items[0].LatestVersion != "1.0.0" {
		t.Fatalf("%+v %+v", agent, l)
	}
	if l := browse("?q=other"); len(l.Items) != 0 {
		t.Error(l)
	}
	copyPath := agents + "/registry/" + agent.ID + "/copy"
	s.Want(t, http.StatusConflict, http.MethodPost, copyPath, map[string]any{})
	s.Want(t, http.StatusCreated, http.MethodPost, copyPath, map[string]any{"name": "mine"}).Into(t, &agent)
	if agent.Origin == nil || agent.Origin.Name != "echo" || agent.Origin.Version != "1.0.0" || agent.Origin.Newer != "" || agent.Draft.Files["main.sh"] != "echo 1\n" {
		t.Fatalf("%+v", agent)
	}
	s.Publish(t, "echo", "2.0.0-rc.1") // A pre-release must not be listed in the registry.
	var versions struct {
		Items []struct{ Version, Digest string }
	}
	s.Want(t, http.StatusOK, http.MethodGet, agents+"/echo/versions", nil).Into(t, &versions)
	for _, version := range []string{"2.0.0-rc.1", "^2.0.0-0", versions.Items[0].Digest} {
		s.Want(t, http.StatusNotFound, http.MethodPost, copyPath, map[string]any{"name": "early", "version": version})
	}
	s.Publish(t, "echo", "1.1.0")
	s.Want(t, http.StatusOK, http.MethodGet, agents+"/mine", nil).Into(t, &agent)
	if agent.Origin.Newer != "1.1.0" || agent.Origin.Publisher != "default" {
		t.Errorf("%+v", agent.Origin)
	}
	s.Want(t, http.StatusOK, http.MethodPost, agents+"/echo/publish", map[string]any{"public": false})
	s.Want(t, http.StatusNotFound, http.MethodGet, agents+"/registry/default/echo", nil)
	s.Want(t, http.StatusNotFound, http.MethodGet, agents+"/registry/default/echo/versions/1.0.0", nil)
	if l := browse(""); len(l.Items) != 0 {
		t.Error(l)
	}
	agent.Origin = nil
	s.Want(t, http.StatusOK, http.MethodGet, agents+"/mine", nil).Into(t, &agent)
	if agent.Origin == nil || agent.Origin.Newer+agent.Origin.Publisher != "" {
		t.Errorf("%+v: an origin that is listed no more tells nothing", agent.Origin)
	}
	s.Want(t, http.StatusNotFound, http.MethodPost, copyPath, map[string]any{"name": "again"})
}

// An agent of the registry can be read under the name of its workspace, with its released versions, changelog and
// files. A former name works too, and so does a name that looks like a part of another route.
func TestAgentOfTheRegistry(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agents = "/api/v1/code-agents"
	s.Want(t, http.StatusCreated, http.MethodPost, agents, map[string]any{"name": "echo", "title": "Echo", "language": "bash", "code": "echo 1\n", "tags": []string{"demo"}})
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0-rc.1"} {
		s.Publish(t, "echo", version)
	}
	s.Want(t, http.StatusOK, http.MethodPost, agents+"/echo/publish", map[string]any{"public": true})
	s.Want(t, http.StatusOK, http.MethodPatch, agents+"/echo/versions/1.0.0", map[string]any{"deprecated": true, "reason": "Old.", "successor": "echo@1.1.0"})
	s.Want(t, http.StatusOK, http.MethodPatch, agents+"/echo", map[string]any{"name": "copy"})
	for _, name := range []string{"echo", "copy"} {
		var found struct {
			Name, Publisher, Title, Language, LatestVersion string
			Tags                                            []string
			Versions                                        []struct {
				Version, Changelog, Digest, Reason, Successor string
				Deprecated                                    bool
			}
		}
		s.Want(t, http.StatusOK, http.MethodGet, agents+"/registry/default/"+name, nil).Into(t, &found)
		if found.Name != "copy" || found.Publisher != "default" || found.Title != "Echo" || found.Language != "bash" || found.LatestVersion != "1.1.0" || len(found.Tags) != 1 {
			t.Errorf("%+v", found)
		}
		if len(found.Versions) != 2 || found.Versions[0].Version != "1.1.0" || found.Versions[0].Deprecated || !found.Versions[1].Deprecated || found.Versions[1].Reason != "Old." || found.Versions[1].Successor != "echo@1.1.0" {
			t.Errorf("%+v", found.Versions)
		}
		var version struct {
			Version, PublishedBy string
			Files                map[string]string
		}
		s.Want(t, http.StatusOK, http.MethodGet, agents+"/registry/default/"+name+"/versions/latest", nil).Into(t, &version)
		if version.Version != "1.1.0" || version.PublishedBy != "" || version.Files["main.sh"] != "echo 1\n" {
			t.Errorf("%+v", version)
		}
	}
	// The answer does not reveal whether a pre-release exists.
	refused := func(version string) string {
		var told struct{ Detail string }
		s.Want(t, http.StatusNotFound, http.MethodGet, agents+"/registry/default/copy/versions/"+version, nil).Into(t, &told)
		return strings.ReplaceAll(told.Detail, version, "VERSION")
	}
	if there, absent := refused("2.0.0-rc.1"), refused("2.0.0-rc.2"); there != absent || there == "" {
		t.Errorf("%q and %q", there, absent)
	}
	for _, path := range []string{"/default/nothing", "/nobody/copy", "/default/copy/versions/2.0.0-rc.1", "/default/copy/versions/9.0.0"} {
		s.Want(t, http.StatusNotFound, http.MethodGet, agents+"/registry"+path, nil)
	}
}
