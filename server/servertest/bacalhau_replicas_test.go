package servertest_test

import (
	"bytes"
	"net/http"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/runtimes/bacalhau/bacalhautest"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// A server is killed while it has two jobs at Bacalhau. Another server of the same database takes over both jobs. A
// reader at that server gets the result of the first job, which is recorded once. The second job can be cancelled
// there.
func TestReplicas_KilledServer_JobsElsewhereFollowed(t *testing.T) {
	t.Parallel()
	service := bacalhautest.New(t)
	followed := followedJobs(service)
	all := replicas(t, 2, "--bacalhau-api-key", bacalhautest.Key, "--bacalhau-api-host", service.Host, "--bacalhau-api-port", service.Port)
	one, two := all[0], all[1]
	one.Create(t, map[string]any{"name": "away", "language": "python", "runtime": "bacalhau", "code": runtimetest.Python().Hello})
	one.Publish(t, "away", "1.0.0")
	async := servertest.Headers{"Prefer": "respond-async"}
	endless := one.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "runtime": "bacalhau", "code": runtimetest.Python().Forever, "input": map[string]any{}}, async).Run(t)
	release := service.Hold()
	version := one.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/away/execute?version=1.0.0", map[string]any{"input": map[string]any{"name": "Ada"}}, async).Run(t)
	for id, text := range map[string]string{endless.RunID: "started\n", version.RunID: "hello Ada\n"} {
		servertest.Eventually(t, "the program prints", func() bool { return one.Get(t, id).Stdout == text })
	}
	socket := two.Stream(t, version.RunID, "")
	one.Signal(t, syscall.SIGKILL)
	one.Exit()
	followed() // Reset the list of jobs that the ended server has followed.
	servertest.Eventually(t, "the lease of the killed server ends", func() bool {
		var health struct{ Servers struct{ Others int } }
		two.Want(t, http.StatusOK, http.MethodGet, "/health", nil).Into(t, &health)
		return health.Servers.Others == 0
	})
	jobs := map[string]bool{}
	servertest.Eventually(t, "the other server follows both jobs", func() bool {
		for job := range followed() {
			jobs[job] = true
		}
		return len(jobs) == 2
	})
	two.Want(t, http.StatusOK, http.MethodPost, "/api/v1/runs/"+endless.RunID+"/cancel", nil)
	release()
	events, err := socket.Rest(t)
	if len(events) == 0 || events[len(events)-1].Kind != "result" || !bytes.Contains(events[len(events)-1].Data, []byte(`"Hello, Ada"`)) {
		t.Errorf("the stream at the other server ends with %v, %v", events, err)
	}
	if run := two.Get(t, version.RunID); run.Status != "succeeded" || run.Stdout != "hello Ada\n" {
		t.Errorf("%+v", run)
	}
	if run := two.Get(t, endless.RunID); run.Status != "cancelled" {
		t.Errorf("%+v", run)
	}
	servertest.Eventually(t, "no job is left", func() bool { return len(service.Running()) == 0 })
	if jobs := service.Jobs(); jobs != 2 {
		t.Errorf("%d jobs", jobs)
	}
}
