package servertest_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// TestPythonClient_RunsFollowsAndExports uses the client library in clients/python against a real server.
func TestPythonClient_RunsFollowsAndExports(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	s.Create(t, map[string]any{"name": "broken", "language": "python", "code": "def main(input):\n    raise ValueError('no')\n"})
	s.Create(t, map[string]any{"name": "slow", "language": "bash", "code": "echo begun; sleep 1000"})
	s.Publish(t, "slow", "1.0.0")
	const program = `
import sys
from atelier_client import AtelierError, Client, RunFailed
client = Client(sys.argv[1], sys.argv[2])
assert client.run("weather@^1", {"city": "Oslo"}) == {"text": "Oslo"}
assert client.publish("broken")["version"] == "1.0.0"
try:
    client.run("broken")
    raise SystemExit("a failing program succeeded")
except RunFailed as failed:
    assert failed.type == "runtime_error", failed
try:
    client.run("weather@1.0.0", {"city": 7})
    raise SystemExit("a wrong input is accepted")
except AtelierError as refused:
    assert refused.status == 422 and refused.errors[0]["pointer"] == "/input/city", (refused.code, refused.errors)
started = client.start("slow")["runId"]
kinds = []
for event in client.events(started):
    kinds.append(event["kind"])
    if event["kind"] == "stdout":
        client.cancel(started)
assert kinds[-1] == "result" and client.get(started)["status"] == "cancelled", kinds
assert "weather" in str(client.export("weather@1.0.0", "openai"))
assert "1.0.0" in str(client.resolve("weather@^1"))
print("done")
`
	command := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", program, s.URL, s.Token)
	command.Env = []string{"PYTHONPATH=../../clients/python/src", "PYTHONDONTWRITEBYTECODE=1"}
	said, err := command.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(said), "done\n") {
		t.Errorf("the client says %s, %v", said, err)
	}
}
