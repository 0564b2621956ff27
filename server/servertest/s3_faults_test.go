package servertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

// faultyS3 is a proxy in front of the real S3 server. It has its own bucket.
type faultyS3 struct {
	flags, environment []string
	bucket             string // directory of the bucket
	fault              atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func newFaultyS3(t *testing.T) *faultyS3 {
	t.Helper()
	flags, environment, objects := withS3(t)
	name := fmt.Sprintf("faults-%d", time.Now().UnixNano())
	s := &faultyS3{environment: environment, bucket: filepath.Join(filepath.Dir(filepath.Dir(objects)), name)}
	if err := os.MkdirAll(s.bucket, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.bucket) })
	target, err := url.Parse(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // The signature covers the host.
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := s.fault.Load(); fault == nil || !(*fault)(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	s.flags = append([]string{"--token", kafkaToken, "--s3-bucket", name, "--s3-access-key", "test-only-key", "--s3-endpoint"}, front.URL)
	return s
}

func (s *faultyS3) spawn(t *testing.T, data string) *servertest.Process {
	t.Helper()
	p := servertest.SpawnWith(t, data, s.environment, s.flags...)
	p.Token = kafkaToken
	return p
}

// Faults of the bucket: it is slow, denies access, does not exist or does not answer. During a fault, a large version
// cannot be published or read, and the answer is 503 with the remedy. Drafts can be saved, and cached versions can run.
// Afterwards everything must work again.
func TestS3_Faults_DraftsAreKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  func(t *testing.T, s *faultyS3) func(http.ResponseWriter, *http.Request) bool
		remedy string
	}{
		"slow": {remedy: "did not answer within", fault: func(*testing.T, *faultyS3) func(http.ResponseWriter, *http.Request) bool {
			return func(_ http.ResponseWriter, r *http.Request) bool {
				_, _ = io.Copy(io.Discard, r.Body) // The proxy notices the end of the client's connection only after it has read the body.
				<-r.Context().Done()
				return true
			}
		}},
		"denied": {remedy: "--s3-access-key", fault: func(*testing.T, *faultyS3) func(http.ResponseWriter, *http.Request) bool {
			return func(_ http.ResponseWriter, r *http.Request) bool { // The server rejects the request because of a wrong signature.
				r.Header.Set("Authorization", r.Header.Get("Authorization")[:len(r.Header.Get("Authorization"))-4]+"beef")
				return false
			}
		}},
		"absent": {remedy: "create it", fault: func(t *testing.T, s *faultyS3) func(http.ResponseWriter, *http.Request) bool {
			if err := os.Rename(s.bucket, s.bucket+".away"); err != nil {
				t.Fatal(err)
			}
			return func(http.ResponseWriter, *http.Request) bool { return false }
		}},
		"down": {remedy: "--s3-endpoint", fault: func(*testing.T, *faultyS3) func(http.ResponseWriter, *http.Request) bool {
			return func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, data := newFaultyS3(t), t.TempDir()
			p := s.spawn(t, data)
			p.Create(t, largeAgent("large"))
			p.Publish(t, "large", "1.0.0")
			p.Signal(t, syscall.SIGTERM)
			p.Exit()
			if err := os.RemoveAll(filepath.Join(data, "blob-cache")); err != nil {
				t.Fatal(err)
			}
			p = s.spawn(t, data)
			fault := tt.fault(t, s)
			s.fault.Store(&fault)
			refused := func(path string, body any) {
				answer, err := p.Try(t.Context(), http.MethodPost, "/api/v1/code-agents/large/"+path, body)
				if err != nil || answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !strings.Contains(string(answer.Body), tt.remedy) {
					t.Errorf("%s: %d %s, %v", path, answer.Status, answer.Body, err)
				}
			}
			changed := largeAgent("large")
			changed["files"] = map[string]string{"main.js": strings.Replace(changed["files"].(map[string]string)["main.js"], "'large'", "'changed'", 1)}
			p.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/large", changed, servertest.Headers{"If-Match": `"1"`})
			read := make(chan struct{})
			go func() {
				defer close(read)
				refused("execute", map[string]any{"version": "1.0.0"})
			}()
			refused("versions", map[string]any{"version": "1.1.0"})
			<-read
			var health struct {
				Status string
				Bucket struct {
					Available bool
					Reason    string
				}
			}
			p.Want(t, http.StatusOK, http.MethodGet, "/health", nil).Into(t, &health)
			if health.Status != "degraded" || health.Bucket.Available || !strings.Contains(health.Bucket.Reason, tt.remedy) {
				t.Errorf("the health is %+v", health)
			}
			if bucket := p.Component(t, "bucket"); bucket.State != "down" || !strings.Contains(bucket.Reason, tt.remedy) {
				t.Errorf("the server is ready with %+v", bucket)
			}
			if metrics := string(p.Want(t, http.StatusOK, http.MethodGet, "/metrics", nil).Body); !strings.Contains(metrics, "\natelier_bucket_available 0\n") || strings.Contains(metrics, "\natelier_bucket_failures_total 0\n") {
				t.Error("the metrics do not show the fault")
			}
			var agent struct {
				LatestVersion string
				Draft         struct {
					Revision int
					Files    map[string]string
				}
			}
			p.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/large", nil).Into(t, &agent)
			if agent.LatestVersion != "1.0.0" || agent.Draft.Revision != 2 || !strings.Contains(agent.Draft.Files["main.js"], "'changed'") {
				t.Errorf("the agent has version %s and revision %d", agent.LatestVersion, agent.Draft.Revision)
			}
			s.fault.Store(nil)
			if err := os.Rename(s.bucket+".away", s.bucket); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			p.Publish(t, "large", "1.1.0")
			servertest.Eventually(t, "the bucket is available", func() bool {
				p.Want(t, http.StatusOK, http.MethodGet, "/health", nil).Into(t, &health)
				return health.Bucket.Available && health.Status == "healthy"
			})
			if bucket := p.Component(t, "bucket"); bucket.State != "up" {
				t.Errorf("afterwards the server is ready with %+v", bucket)
			}
			for version, want := range map[string]string{"1.0.0": `"large"`, "1.1.0": `"changed"`} {
				if run := p.Execute(t, "large", version, map[string]any{}); string(run.Output) != want {
					t.Errorf("%s: %+v", version, run)
				}
			}
		})
	}
}

// After a restart of the server, a cached version must run although its bucket denies access.
func TestS3_DeniedAfterRestart_CachedVersionRuns(t *testing.T) {
	t.Parallel()
	s, data := newFaultyS3(t), t.TempDir()
	p := s.spawn(t, data)
	p.Create(t, largeAgent("large"))
	p.Publish(t, "large", "1.0.0")
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	p = s.spawn(t, data)
	deny := func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	s.fault.Store(&deny)
	if run := p.Execute(t, "large", "1.0.0", map[string]any{}); string(run.Output) != `"large"` {
		t.Errorf("the run is %+v", run)
	}
}
