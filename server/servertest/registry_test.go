package servertest_test

import (
	"net/http"
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
		Origin *struct{ AgentID, Name, Version, Digest, Newer string }
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
	s.Publish(t, "echo", "2.0.0-rc.1") // it is not released, so it is not in the registry
	var versions struct {
		Items []struct{ Version, Digest string }
	}
	s.Want(t, http.StatusOK, http.MethodGet, agents+"/echo/versions", nil).Into(t, &versions)
	for _, version := range []string{"2.0.0-rc.1", "^2.0.0-0", versions.Items[0].Digest} {
		s.Want(t, http.StatusNotFound, http.MethodPost, copyPath, map[string]any{"name": "early", "version": version})
	}
	s.Publish(t, "echo", "1.1.0")
	s.Want(t, http.StatusOK, http.MethodGet, agents+"/mine", nil).Into(t, &agent)
	if agent.Origin.Newer != "1.1.0" {
		t.Errorf("%+v", agent.Origin)
	}
	s.Want(t, http.StatusOK, http.MethodPost, agents+"/echo/publish", map[string]any{"public": false})
	if l := browse(""); len(l.Items) != 0 {
		t.Error(l)
	}
	agent.Origin = nil
	s.Want(t, http.StatusOK, http.MethodGet, agents+"/mine", nil).Into(t, &agent)
	if agent.Origin == nil || agent.Origin.Newer != "" {
		t.Errorf("%+v: an origin that is listed no more tells nothing", agent.Origin)
	}
	s.Want(t, http.StatusNotFound, http.MethodPost, copyPath, map[string]any{"name": "again"})
}
