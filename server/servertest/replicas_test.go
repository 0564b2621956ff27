package servertest_test

import (
	"bytes"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

const replicaKey = "ATELIER_SECRETS_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// replicas starts servers that share a new PostgreSQL database.
func replicas(t *testing.T, count int, flags ...string) []*servertest.Process {
	t.Helper()
	flags = append([]string{"--replicas", "--database", storetest.Options(t, storetest.Postgres).URL, "--script-runtime", "--token", kafkaToken}, flags...)
	var all []*servertest.Process
	for range count {
		p := servertest.SpawnWith(t, t.TempDir(), []string{replicaKey}, flags...)
		p.Token = kafkaToken
		all = append(all, p)
	}
	return all
}

// A run that one server executes is listed, followed and cancelled at another.
func TestReplicas_RunIsFollowedAndCancelledAtAnotherServer(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	one, two := all[0], all[1]
	id := one.Start(t, "print begun\nwait")
	servertest.Eventually(t, "the other server says that the run is running", func() bool {
		return two.Do(t, "GET", "/api/v1/runs/"+id, nil).Status == 200 && two.Get(t, id).Status == "running"
	})
	var list struct{ Items []servertest.Run }
	two.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].RunID != id {
		t.Errorf("the other server lists %+v", list.Items)
	}
	socket := two.Stream(t, id, "")
	for {
		event, err := socket.Next(t)
		if err != nil {
			t.Fatal(err)
		}
		if event.Kind == "stdout" && bytes.Contains(event.Data, []byte("begun")) {
			break
		}
	}
	var cancelled servertest.Run
	two.Want(t, 200, "POST", "/api/v1/runs/"+id+"/cancel", nil).Into(t, &cancelled)
	if cancelled.Status != "cancelled" {
		t.Errorf("after the request the run is %s", cancelled.Status)
	}
	events, err := socket.Rest(t)
	if len(events) == 0 || events[len(events)-1].Kind != "result" || !bytes.Contains(events[len(events)-1].Data, []byte(`"cancelled"`)) {
		t.Errorf("the stream at the other server ends with %v, %v", events, err)
	}
	if got := one.Get(t, id); got.Status != "cancelled" {
		t.Errorf("at its own server the run is %s", got.Status)
	}
	two.Want(t, http.StatusConflict, "POST", "/api/v1/runs/"+id+"/cancel", nil)
}

// The runs of a killed server become interrupted, and a reader at another server gets this result.
func TestReplicas_KilledServer_RunsInterrupted(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	one, two := all[0], all[1]
	id, own := one.Start(t, "print begun\nwait"), two.Start(t, "wait")
	servertest.Eventually(t, "the other server says that the run is running", func() bool {
		return two.Do(t, "GET", "/api/v1/runs/"+id, nil).Status == 200 && two.Get(t, id).Status == "running"
	})
	socket := two.Stream(t, id, "")
	killed := time.Now()
	one.Signal(t, syscall.SIGKILL)
	one.Exit()
	events, err := socket.Rest(t)
	t.Logf("the stream ended %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	if len(events) == 0 || events[len(events)-1].Kind != "result" || !bytes.Contains(events[len(events)-1].Data, []byte(`"interrupted"`)) {
		t.Errorf("the stream at the other server ends with %v, %v", events, err)
	}
	if got := two.Get(t, id); got.Status != "interrupted" {
		t.Errorf("the run is %s", got.Status)
	}
	if got := two.Get(t, own); got.Status != "running" {
		t.Errorf("a run of the other server is %s", got.Status)
	}
}
