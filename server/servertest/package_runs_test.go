package servertest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/approvals"
)

// TestPackages_SlowIndex_TimeNotCharged checks that waiting for packages does not count towards a program's time limit.
func TestPackages_SlowIndex_TimeNotCharged(t *testing.T) {
	t.Parallel()
	const limit = 1000 // time limit of the program in milliseconds
	wheel := shouting()
	index := packagestest.NewIndex(t, wheel)
	open := make(chan struct{})
	index.AddHandler(wheel.Name, wheel.Filename(), strings.TrimPrefix(wheel.Hash(t), "sha256:"), func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Range") == "" {
			select {
			case <-open:
			case <-r.Context().Done():
			}
		}
		_, _ = w.Write(wheel.Bytes(t))
	})
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	s.Create(t, map[string]any{
		"name": "loud", "language": "python", "code": "import shout\n\ndef main():\n    return shout.shout('a')\n", "packages": []string{"shout"},
		"limits": map[string]any{"timeoutMs": limit},
	})
	began := time.Now()
	time.AfterFunc(2*limit*time.Millisecond, func() { close(open) }) // The index is slow on purpose.
	run := s.Execute(t, "loud", "draft", map[string]any{})
	if !run.Success || string(run.Output) != `"A"` {
		t.Errorf("after %v: %+v", time.Since(began), run.Error)
	}
	if took := time.Since(began); took < 2*limit*time.Millisecond {
		t.Errorf("the run did not wait for its packages: %v", took)
	}
}

// TestPackages_Renewed_OtherDigest publishes one program with the same package list twice. The code has one digest, but
// the versions have two, because their exact packages differ. The approver of the second version must see which
// packages differ.
func TestPackages_Renewed_OtherDigest(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greetings("1.0.0"), shouting())
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	s.Create(t, map[string]any{"name": "greeter", "language": "python", "code": greeter, "packages": []string{"greetings>=1"}})
	s.Publish(t, "greeter", "1.0.0")
	index.Add(t, greetings("1.1.0"))
	s.Want(t, 200, "POST", "/api/v1/code-agents/greeter/packages/resolve", `{"renew":true}`)
	s.Want(t, 200, "PUT", "/api/v1/code-agents/greeter", map[string]any{"capabilities": map[string]any{"hosts": []string{"api.example.com:443"}}, "safetyFlags": []string{"network_access"}}, servertest.Headers{"If-Match": "*"})
	var waiting asked
	s.Want(t, 202, "POST", "/api/v1/code-agents/greeter/versions", `{}`).Into(t, &waiting)
	var details approvals.Details
	s.Want(t, 200, "GET", "/api/v1/approvals/"+waiting.ApprovalID, nil).Into(t, &details)
	if c := details.Comparison; c == nil || len(c.Packages) != 1 || c.Packages[0].Name != "greetings" || c.Packages[0].After != "1.1.0" {
		t.Errorf("the approver reads %+v", c)
	}
	decide(t, s.Client, 200, waiting.ApprovalID, "approve", "", "known package")
	var list struct{ Items []registry.Version }
	s.Want(t, 200, "GET", "/api/v1/code-agents/greeter/versions", nil).Into(t, &list)
	if len(list.Items) != 2 || list.Items[0].CodeDigest != list.Items[1].CodeDigest || list.Items[0].ContentDigest == list.Items[1].ContentDigest {
		t.Errorf("the versions are %+v", list.Items)
	}
}

// TestMCP_ExecuteCode_Packages_Installed runs code with a package that an MCP client sends.
func TestMCP_ExecuteCode_Packages_Installed(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, shouting())
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	result := connectMCP(t, s, "/mcp").call(t, &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{
		"language": "python", "code": "import shout\n\ndef main(input):\n    return {'text': shout.shout('a')}\n", "packages": []string{"shout==1.0.0"},
	}})
	if result.IsError || !strings.Contains(textOf(t, result), `{"text":"A"}`) {
		t.Errorf("the result is %s", textOf(t, result))
	}
}
