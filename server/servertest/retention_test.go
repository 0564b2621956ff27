package servertest_test

import (
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// A server removes old runs of inline code, but keeps the newest runs of a version, however old they are.
func TestKeepRuns_OldRuns_SweptAtStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	flags := map[string]string{"script-runtime": "true", "token": "a-token-that-is-long-enough-to-be-one"}
	first := servertest.On(t, data, servertest.Flags(t, flags))
	first.Token = flags["token"]
	first.Create(t, map[string]any{"name": "kept", "language": "javascript", "code": "export default () => 1"})
	first.Publish(t, "kept", "1.0.0")
	ofVersion := first.Execute(t, "kept", "1.0.0", map[string]any{}).RunID
	inline := first.Script(t, "output 1").Run(t).RunID
	first.Stop(t)

	flags["keep-runs"], flags["keep-events"] = "1ns", "1ns"
	again := servertest.On(t, data, servertest.Flags(t, flags))
	again.Token = flags["token"]
	servertest.Eventually(t, "the run of inline code is removed", func() bool { return again.Do(t, "GET", "/api/v1/runs/"+inline, nil).Status == 404 })
	var page struct{ Items []struct{ Kind string } }
	servertest.Eventually(t, "the events of the other run are removed", func() bool {
		again.Want(t, 200, "GET", "/api/v1/runs/"+ofVersion+"/events", nil).Into(t, &page)
		return len(page.Items) == 1 && page.Items[0].Kind == "result" // The result event is made from the stored run.
	})
	if run := again.Get(t, ofVersion); string(run.Output) != "1" {
		t.Errorf("the run of the version is %+v", run)
	}
}
