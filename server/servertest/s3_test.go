package servertest_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/runtimes/bacalhau/bacalhautest"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// withS3 returns the flags and variables of a server that stores large files in a bucket. It also returns the directory
// with the objects of the bucket.
func withS3(t *testing.T) (flags, environment []string, objects string) {
	t.Helper()
	url, dir, ok := strings.Cut(os.Getenv("ATELIER_TEST_S3"), " ")
	if !ok {
		t.Skip("no S3: ATELIER_TEST_S3 is not set; scripts/s3.sh start DIR starts one, and the variable is its URL, a space and DIR")
	}
	return []string{"--token", kafkaToken, "--s3-endpoint", url, "--s3-access-key", "test-only-key"}, []string{"ATELIER_S3_SECRET_KEY=test-only-key"}, filepath.Join(dir, "data", "code-agents", "code-blobs")
}

func agentID(t *testing.T, p *servertest.Process, name string) string {
	t.Helper()
	var agent struct{ ID string }
	if err := json.Unmarshal(p.Do(t, "GET", "/api/v1/code-agents/"+name, nil).Body, &agent); err != nil {
		t.Fatal(err)
	}
	return agent.ID
}

// onlyObject returns the path of the only object that belongs to a version.
func onlyObject(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the objects in %s are %v, %v", dir, found, err)
	}
	return found[0]
}

func largeAgent(name string) map[string]any {
	return map[string]any{"name": name, "language": "javascript", "files": map[string]string{"main.js": "export default () => 'large'\n//" + strings.Repeat(" padding", 20_000)}}
}

// A large version is stored in the bucket under its agent and number. Another server with the same database can run it.
// If its object was changed, it must be refused with both digests.
func TestS3(t *testing.T) {
	t.Parallel()
	flags, environment, objects := withS3(t)
	data := t.TempDir()
	p := servertest.SpawnWith(t, data, environment, flags...)
	p.Token = kafkaToken
	p.Create(t, largeAgent("large"))
	p.Publish(t, "large", "1.0.0")
	object := onlyObject(t, filepath.Join(objects, agentID(t, p, "large"), "1.0.0"))
	stored, err := os.ReadFile(object)
	if err != nil || len(stored) < 100_000 {
		t.Fatalf("the object: %d bytes, %v", len(stored), err)
	}
	if run := p.Execute(t, "large", "1.0.0", map[string]any{}); string(run.Output) != `"large"` {
		t.Errorf("the run is %+v", run)
	}
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	if err := os.RemoveAll(filepath.Join(data, "blob-cache")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(object, []byte(strings.Replace(string(stored), "large", "other", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	again := servertest.SpawnWith(t, data, environment, flags...)
	again.Token = kafkaToken
	answer := again.Do(t, "POST", "/api/v1/code-agents/large/execute", map[string]any{"version": "1.0.0"})
	if answer.Status != 502 || strings.Count(string(answer.Body), "sha256:") != 2 || !strings.Contains(string(answer.Body), "was changed") {
		t.Errorf("a changed object is answered with %d %s", answer.Status, answer.Body)
	}
	if err := os.WriteFile(object, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the restored object runs", func() bool {
		return again.Do(t, "POST", "/api/v1/code-agents/large/execute", map[string]any{"version": "1.0.0"}).Status == 200
	})
}

// TestS3_Cache_StaysWithinItsSize runs more versions than fit in the cache. Versions that were removed from the cache
// must be downloaded again.
func TestS3_Cache_StaysWithinItsSize(t *testing.T) {
	t.Parallel()
	const most = 400_000 // size of the cache in bytes, enough for two of the versions
	flags, environment, _ := withS3(t)
	data := t.TempDir()
	p := servertest.SpawnWith(t, data, environment, append(flags, "--s3-cache-bytes", strconv.Itoa(most))...)
	p.Token = kafkaToken
	names := []string{"one", "two", "three", "four", "five"}
	for _, name := range names {
		p.Create(t, largeAgent(name))
		p.Publish(t, name, "1.0.0")
	}
	for range 2 {
		for _, name := range names {
			if run := p.Execute(t, name, "1.0.0", map[string]any{}); string(run.Output) != `"large"` {
				t.Errorf("%s: %+v", name, run.Error)
			}
		}
	}
	cached, files := int64(0), 0
	err := filepath.WalkDir(filepath.Join(data, "blob-cache"), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			cached, files = cached+info.Size(), files+1
		}
		return err
	})
	if err != nil || cached > most || files == 0 {
		t.Errorf("the cache has %d bytes in %d files: %v", cached, files, err)
	}
}

// Files in the data directory must be copied to the bucket only once.
func TestS3_MoveBlobs(t *testing.T) {
	t.Parallel()
	flags, environment, objects := withS3(t)
	data := t.TempDir()
	p := servertest.Spawn(t, data, "--token", kafkaToken)
	p.Token = kafkaToken
	p.Create(t, largeAgent("moves"))
	p.Publish(t, "moves", "1.0.0")
	moves := agentID(t, p, "moves")
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	move := func() string {
		cmd := exec.Command(servertest.Binary(t), "blobs", "move", "--data", data)
		cmd.Env = append(os.Environ(), append(environment, "ATELIER_S3_ENDPOINT="+flags[3], "ATELIER_S3_ACCESS_KEY=test-only-key")...)
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return string(text)
	}
	if text := move(); !strings.HasPrefix(text, "copied 1 file ") {
		t.Errorf("it says %s", text)
	}
	if text := move(); !strings.HasPrefix(text, "copied 0 files") {
		t.Errorf("again it says %s", text)
	}
	if _, err := os.Stat(filepath.Join(objects, moves, "1.0.0")); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(data, "blobs")); err != nil {
		t.Fatal(err)
	}
	again := servertest.SpawnWith(t, data, environment, flags...)
	again.Token = kafkaToken
	if run := again.Execute(t, "moves", "1.0.0", map[string]any{}); string(run.Output) != `"large"` {
		t.Errorf("the run is %+v", run)
	}
}

// objectsOf returns the stored inputs of jobs.
func objectsOf(t *testing.T, objects string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(objects), "job-inputs", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestS3_LargeJobOfBacalhau_InputsAreLent expects that the node downloads a large input, and that the object is removed when
// the run has ended: also when the server was killed meanwhile, and not before. The node asks for the size of the input with
// HEAD. The bucket refuses that at an address that is signed for GET, so the node downloads the input from the server.
func TestS3_LargeJobOfBacalhau_InputsAreLent(t *testing.T) {
	t.Parallel()
	flags, environment, objects := withS3(t)
	service, data := bacalhautest.New(t), t.TempDir()
	followed := followedJobs(service)
	flags = append(flags, "--bacalhau-api-key", bacalhautest.Key, "--bacalhau-api-host", service.Host, "--bacalhau-api-port", service.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	public := []string{"--listen", listen, "--public-url", "http://" + listen}
	start := func(more ...string) *servertest.Process {
		p := servertest.SpawnWith(t, data, environment, append(flags, more...)...)
		p.Token = kafkaToken
		return p
	}
	p := start()
	noise := make([]byte, 800_000)
	_, _ = rand.Read(noise) // Read never fails.
	program := func(code string) map[string]any {
		return map[string]any{"language": "python", "runtime": "bacalhau", "code": code, "input": map[string]any{"text": hex.EncodeToString(noise)}}
	}
	lent := func(id string) (found int) {
		for _, path := range objectsOf(t, objects) {
			if strings.HasPrefix(filepath.Base(filepath.Dir(path)), "atelier-"+id+"-") {
				found++
			}
		}
		return found
	}
	length := program("def main(text):\n    return len(text)\n")
	if refused := p.Want(t, 503, "POST", "/api/v1/execute", length).Problem(t); !strings.Contains(refused.Detail, "Set --public-url") || service.Jobs() != 0 || len(objectsOf(t, objects)) != 0 {
		t.Errorf("%+v, %d jobs, objects %v", refused, service.Jobs(), objectsOf(t, objects))
	}
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	p = start(public...)
	for _, path := range []string{"/job-inputs/x.00/main.wasm", "/job-inputs/x/main.wasm"} {
		p.Want(t, 404, "GET", path, nil)
	}
	run := p.Want(t, 200, "POST", "/api/v1/execute", length).Run(t)
	if string(run.Output) != "1600000" || lent(run.RunID) != 0 {
		t.Errorf("%+v, %d objects", run, lent(run.RunID))
	}
	id := p.Want(t, 202, "POST", "/api/v1/execute", program(runtimetest.Python().Forever), servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
	servertest.Eventually(t, "the program prints", func() bool { return p.Get(t, id).Stdout == "started\n" })
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	if lent(id) != 1 {
		t.Errorf("%d objects while the job runs", lent(id))
	}
	followed() // Reset the list of jobs that the ended server has followed.
	again := start(public...)
	servertest.Eventually(t, "the server follows the job", func() bool { return len(followed()) > 0 })
	again.Want(t, 200, "POST", "/api/v1/runs/"+id+"/cancel", nil)
	servertest.Eventually(t, "no job and no object is left", func() bool { return lent(id) == 0 && len(service.Running()) == 0 })
}
