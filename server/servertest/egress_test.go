package servertest_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestGrantedHosts checks that the error of a denied request names the missing grant. After this grant is added to the
// draft, the run must reach the host. Events and metrics must contain every decision.
func TestGrantedHosts(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"temperature":7}`) }))
	defer site.Close()
	address := site.Listener.Addr().String()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"egress-hosts": "*," + address}))
	code := "export default async () => (await fetch('" + site.URL + "/v1?key=hidden')).json()"
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "outdoors", "language": "javascript", "code": code})

	denied := s.Execute(t, "outdoors", "draft", map[string]any{})
	e := denied.Error
	if denied.Status != "failed" || e == nil || e.Type != runtimes.Denied || e.Rule != "capabilities.hosts" || e.Grant == nil || e.Line != 1 || !strings.Contains(e.Remedy, address) {
		t.Fatalf("%+v", e)
	}
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/outdoors", map[string]any{"capabilities": map[string]any{"hosts": e.Grant.Hosts}}, servertest.Headers{"If-Match": `"1"`})
	granted := s.Execute(t, "outdoors", "draft", map[string]any{})
	if !granted.Success || string(granted.Output) != `{"temperature":7}` {
		t.Fatalf("%s %+v", granted.Output, granted.Error)
	}
	for run, decision := range map[string]string{denied.RunID: "denied", granted.RunID: "allowed"} {
		events := string(s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs/"+run+"/events", nil).Body)
		if !strings.Contains(events, `"kind":"egress"`) || !strings.Contains(events, `"decision":"`+decision+`"`) || strings.Contains(events, "hidden") {
			t.Errorf("%s", events)
		}
	}
	if _, used := usageOf(t, s); used[registry.EgressMeter] < float64(len(`{"temperature":7}`)) || used[registry.RunsMeter] != 2 {
		t.Errorf("used %v", used)
	}
	metrics := string(s.Want(t, http.StatusOK, http.MethodGet, "/metrics", nil).Body)
	for _, want := range []string{`atelier_egress_total{decision="allowed"} 1`, `atelier_egress_total{decision="denied"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestPrivateAddresses_NotListed_Refused checks that without a configured list, only hosts of the public internet may be
// granted. Regression: a program with a grant for the loopback address could reach every service of the machine.
func TestPrivateAddresses_NotListed_Refused(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 100)
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	defer site.Close()
	s := servertest.New(t)
	for _, host := range []string{site.Listener.Addr().String(), "10.0.0.1:80", "[::1]:80", "192.168.1.1:443", "[fd00::1]:80", "169.254.169.254:80"} {
		body := map[string]any{"language": "python", "code": "def main(): return 1", "capabilities": map[string]any{"hosts": []string{host}}}
		if refused := s.Want(t, 422, "POST", "/api/v1/execute", body); !strings.Contains(string(refused.Body), "/capabilities/hosts/0") {
			t.Errorf("%s: %s", host, refused.Body)
		}
	}
	port := site.URL[strings.LastIndexByte(site.URL, ':')+1:]
	body := map[string]any{
		"language": "javascript", "code": "export default async () => (await fetch('http://localhost:" + port + "/')).status",
		"capabilities": map[string]any{"hosts": []string{"localhost:" + port}},
	}
	if run := s.Want(t, 200, "POST", "/api/v1/execute", body).Run(t); run.Error == nil || run.Error.Type != runtimes.Denied {
		t.Errorf("by name: %s %+v", run.Output, run.Error)
	}
	if len(reached) > 0 {
		t.Error("a program reached the loopback of this machine")
	}
}

// TestOwnListener_Granted_Refused checks that a program cannot reach its own server, even if the operator listed the address.
func TestOwnListener_Granted_Refused(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	listed := []string{address, "127.0.0.2:" + port, "[::1]:" + port, "0.0.0.0:" + port}
	s := servertest.New(t, servertest.Flags(t, map[string]string{"listen": address, "egress-hosts": "*," + strings.Join(listed, ","), "skills-anonymous": "loopback"}))
	for _, host := range append(listed, "localhost:"+port, "[::ffff:127.0.0.1]:"+port) {
		body := map[string]any{
			"language": "javascript", "code": "export default async () => (await fetch('http://" + host + "/skills/list')).status",
			"capabilities": map[string]any{"hosts": append(listed, "localhost:"+port)},
		}
		if run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", body).Run(t); run.Error == nil || run.Error.Type != runtimes.Denied {
			t.Errorf("%s: %s %+v", host, run.Output, run.Error)
		}
	}
}

// TestOwnAddress checks that a run cannot reach its own server without an explicit grant.
func TestOwnAddress(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	for _, url := range []string{s.URL, "http://localhost:" + port, "http://[::1]:" + port, "http://2130706433:" + port} {
		body := map[string]any{
			"language": "python", "code": "import urllib.request\ndef main():\n    return urllib.request.urlopen('" + url + "/health').read().decode()",
			"capabilities": map[string]any{"hosts": []string{"localhost:" + port, "example.com:443"}},
		}
		if run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", body).Run(t); run.Error == nil || run.Error.Type != runtimes.Denied {
			t.Errorf("%s: %s %+v", url, run.Output, run.Error)
		}
	}
}

// TestHostsThatCannotBeGranted checks that a draft with a host that cannot be granted is rejected, with the reason for
// each host.
func TestHostsThatCannotBeGranted(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"egress-hosts": "*.example.com:443"}))
	for host, reason := range map[string]string{
		"https://api.example.com": "api.example.com:443", "*": "a grant of all hosts", "": "must not be empty", "api.example.com:99999": "65535",
		"10.0.0.0/8": "range", "other.test:443": "--egress-hosts", "*.*.example.com:443": "leftmost",
	} {
		body := map[string]any{"name": "capped", "language": "bash", "code": "true", "capabilities": map[string]any{"hosts": []string{"api.example.com:443", host}}}
		problem := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents", body)
		if text := string(problem.Body); !strings.Contains(text, "/capabilities/hosts/1") || !strings.Contains(text, reason) {
			t.Errorf("%q: %s", host, text)
		}
		body["code"] = "true"
		delete(body, "name")
		s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/execute", body)
	}
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "capped", "language": "bash", "code": "true", "capabilities": map[string]any{"hosts": []string{"api.example.com:443"}}})
}
