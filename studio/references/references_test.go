package references_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/references"
)

const workspace = registry.DefaultWorkspace

func publish(t *testing.T, s *store.Store, agent registry.Agent, version string) registry.Version {
	t.Helper()
	v := registry.Version{ID: "v-" + version, AgentID: agent.ID, Agent: agent.Name, Version: version, PublishedAt: time.Now(), Spec: agent.Draft.Spec}
	sums, err := digest.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	v.Digest, v.ContentDigest, v.CodeDigest = sums.Version, sums.Content, sums.Code
	if err := s.InsertVersion(t.Context(), workspace, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func newAgent(t *testing.T, s *store.Store) registry.Agent {
	t.Helper()
	a := registry.Agent{
		ID: "0190f0f0-0000-7000-8000-000000000001", Workspace: workspace, Name: "weather", Tags: []string{}, Metadata: []byte(`{}`), CreatedAt: time.Now(), UpdatedAt: time.Now(),
		Draft: registry.Draft{Revision: 1, Spec: registry.Spec{
			Language: runtimes.Bash, Runtime: runtimes.BashEngine, Entrypoint: "main.sh", Files: map[string]registry.File{"main.sh": registry.File("echo hi\n")},
			InputSchema: []byte(`{}`), OutputSchema: []byte(`{}`),
		}},
	}
	if err := s.CreateAgent(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	a := newAgent(t, s)
	var digest string
	for _, v := range []string{"1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1", "2.0.0"} {
		digest = publish(t, s, a, v).Digest
	}
	if err := s.SetDeprecated(t.Context(), workspace, a.ID, "2.0.0", true, "broken", ""); err != nil {
		t.Fatal(err)
	}
	r := references.New(s, time.Now)
	tests := map[string]struct {
		version, want string
		code          fault.Code
	}{
		"exact":                       {"1.2.0", "1.2.0", ""},
		"exact pre-release":           {"2.0.0-rc.1", "2.0.0-rc.1", ""},
		"digest":                      {digest, "2.0.0", ""},
		"caret orders by number":      {"^1", "1.10.0", ""},
		"tilde":                       {"~1.2", "1.2.0", ""},
		"latest skips the deprecated": {"latest", "1.10.0", ""},
		"deprecated if nothing else":  {"^2", "2.0.0", ""},
		"none":                        {"", "", fault.VersionRequired},
		"no such version":             {"9.9.9", "", fault.NotFound},
		"no such range":               {"^9", "", fault.NotFound},
		"no such digest":              {"sha256:" + strings.Repeat("0", 64), "", fault.NotFound},
		"malformed":                   {"1.x.y.z", "", fault.InvalidInput},
		"a draft":                     {"draft", "", fault.InvalidInput},
	}
	for name, tt := range tests {
		for _, agent := range []string{a.Name, a.ID} {
			v, err := r.Resolve(t.Context(), workspace, registry.Reference{Agent: agent, Version: tt.version})
			if fault.CodeOf(err) != tt.code || v.Version != tt.want {
				t.Errorf("%s of %s: %q, %v; want %q, %q", name, agent, v.Version, err, tt.want, tt.code)
			}
			if tt.code == fault.NotFound && !strings.Contains(err.Error(), "weather@"+tt.version) {
				t.Errorf("%s: the error does not name the reference: %v", name, err)
			}
		}
	}
	if _, err := r.Resolve(t.Context(), "other", registry.Reference{Agent: "weather", Version: "1.0.0"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("from another workspace: %v", err)
	}
}

// counting counts the calls of the store.
type counting struct {
	*store.Store
	asked    int
	lookedUp int
}

func (c *counting) Candidates(ctx context.Context, workspace string, refs []registry.Reference) ([]registry.Candidates, error) {
	c.lookedUp++
	return c.Store.Candidates(ctx, workspace, refs)
}

func (c *counting) Version(ctx context.Context, workspace, agentID, version string) (registry.Version, error) {
	c.asked++
	return c.Store.Version(ctx, workspace, agentID, version)
}

func TestChangesAreSeen(t *testing.T) {
	t.Parallel()
	s := &counting{Store: storetest.Open(t, storetest.SQLite)}
	a := newAgent(t, s.Store)
	publish(t, s.Store, a, "1.0.0")
	now := time.Now()
	r := references.New(s, func() time.Time { return now })
	latest := func() string {
		t.Helper()
		v, err := r.Resolve(t.Context(), workspace, registry.Reference{Agent: "weather", Version: "latest"})
		if err != nil {
			t.Fatal(err)
		}
		return v.Version
	}
	latest()
	if latest(); s.asked != 1 {
		t.Errorf("the store was asked %d times for what was known", s.asked)
	}
	publish(t, s.Store, a, "1.1.0")
	r.Forget(workspace)
	if got := latest(); got != "1.1.0" {
		t.Errorf("after Forget: %s", got)
	}
	publish(t, s.Store, a, "1.2.0") // This version is published by another server.
	now = now.Add(3 * time.Second)
	if got := latest(); got != "1.2.0" {
		t.Errorf("another server's version is not seen: %s", got)
	}
}
