package servertest_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
)

const agentsPath = "/api/v1/code-agents"

func TestIfMatch_WeakOrAny_Saves(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "one", "language": "bash", "code": "echo 1"})
	save := func(match string) servertest.Answer {
		return s.Do(t, "PUT", agentsPath+"/one", map[string]any{"title": match}, servertest.Headers{"If-Match": match})
	}
	for i, match := range []string{`W/"1"`, `*`, `"3"`, ` * `} {
		answer := save(match)
		if want := fmt.Sprintf("%q", fmt.Sprint(i+2)); answer.Status != http.StatusOK || answer.Header.Get("ETag") != want {
			t.Errorf("If-Match: %s: %d %s %s, want the ETag %s", match, answer.Status, answer.Header.Get("ETag"), answer.Body, want)
		}
	}
	for match, want := range map[string]struct {
		status int
		code   fault.Code
	}{
		`W/"1"`: {409, fault.StaleDraft}, `7`: {400, fault.BadRequest}, `w/"5"`: {400, fault.BadRequest}, `"5", "6"`: {400, fault.BadRequest}, `"*"`: {400, fault.BadRequest},
	} {
		if answer := save(match); answer.Status != want.status || answer.Problem(t).Code != want.code {
			t.Errorf("If-Match: %s: %d %s", match, answer.Status, answer.Body)
		}
	}
	s.Want(t, http.StatusOK, "POST", agentsPath+"/one/draft/history/1/restore", nil, servertest.Headers{"If-Match": "*"})
	s.Want(t, http.StatusCreated, "POST", agentsPath+"/one/versions", map[string]any{}, servertest.Headers{"If-Match": "*"})
	s.Want(t, http.StatusOK, "POST", agentsPath+"/one/draft", map[string]any{"from": "latest"}, servertest.Headers{"If-Match": "*"})
}

func TestCaching_ImmutableVersions_LongAndRevalidated(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "one", "language": "bash", "code": "echo 1"})
	s.Publish(t, "one", "1.0.0")
	var version struct{ Digest string }
	const versions = agentsPath + "/one/versions/"
	s.Want(t, http.StatusOK, "GET", versions+"1.0.0", nil).Into(t, &version)
	s.Want(t, http.StatusOK, "POST", agentsPath+"/one/publish", map[string]any{"public": true})
	const forever, again = "private, max-age=31536000, immutable", "private, no-cache"
	for path, want := range map[string]string{
		versions + "1.0.0":                                  forever,
		versions + version.Digest:                           forever,
		versions + "1.0.0/manifest":                         forever,
		versions + "1.0.0/manifest?format=openai":           forever,
		agentsPath + "/registry/default/one/versions/1.0.0": forever,
		versions + "latest":                                 again,
		versions + "^1":                                     again,
		versions + "latest/manifest":                        again,
		"/openapi.json":                                     "no-cache",
		"/docs":                                             "no-cache",
		"/schemas/tool-manifest.json":                       "no-cache",
	} {
		full := s.Want(t, http.StatusOK, "GET", path, nil)
		etag := full.Header.Get("ETag")
		if got := full.Header.Get("Cache-Control"); got != want || len(etag) < 10 {
			t.Errorf("%s: Cache-Control %q, want %q; ETag %s", path, got, want, etag)
		}
		if vary := strings.Join(full.Header.Values("Vary"), ","); want != "no-cache" && !strings.Contains(vary, "Authorization, Cookie, X-Workspace") {
			t.Errorf("%s: Vary is %s", path, vary)
		}
		for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			if same := s.Do(t, "GET", path, nil, servertest.Headers{"If-None-Match": known}); same.Status != http.StatusNotModified || len(same.Body) != 0 || same.Header.Get("ETag") != etag || same.Header.Get("Cache-Control") != want {
				t.Errorf("%s, If-None-Match %s: %d %v", path, known, same.Status, same.Header)
			}
		}
		if other := s.Do(t, "GET", path, nil, servertest.Headers{"If-None-Match": `"x"`}); other.Status != http.StatusOK {
			t.Errorf("%s, If-None-Match of another: %d", path, other.Status)
		}
	}
	missing := s.Do(t, "GET", versions+"9.0.0", nil)
	if missing.Status != http.StatusNotFound || missing.Header.Get("Cache-Control") != "no-store" || missing.Header.Get("ETag") != "" {
		t.Errorf("a missing version: %d %v", missing.Status, missing.Header)
	}
	before := s.Do(t, "GET", versions+"1.0.0", nil).Header.Get("ETag")
	s.Want(t, http.StatusOK, "PATCH", versions+"1.0.0", map[string]any{"deprecated": true})
	if after := s.Do(t, "GET", versions+"1.0.0", nil, servertest.Headers{"If-None-Match": before}); after.Status != http.StatusOK || !strings.Contains(string(after.Body), `"deprecated":true`) {
		t.Errorf("after the deprecation: %d %s", after.Status, after.Body)
	}
}

func TestCompression_LargeAnswers_Gzip(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "one", "language": "bash", "code": strings.Repeat("echo 1\n", 1000)})
	gzipped := servertest.Headers{"Accept-Encoding": "gzip, br"}
	for _, path := range []string{agentsPath + "/one", "/openapi.json", "/docs"} {
		plain := s.Want(t, http.StatusOK, "GET", path, nil, servertest.Headers{"Accept-Encoding": "identity"})
		small := s.Want(t, http.StatusOK, "GET", path, nil, gzipped)
		if small.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" || len(small.Body) >= len(plain.Body) {
			t.Errorf("%s: %v, %d of %d bytes", path, small.Header, len(small.Body), len(plain.Body))
			continue
		}
		for _, answer := range []servertest.Answer{plain, small} {
			if !slices.Contains(answer.Header.Values("Vary"), "Accept-Encoding") {
				t.Errorf("%s: Vary is %v", path, answer.Header.Values("Vary"))
			}
		}
		if plain.Header.Get("ETag") != small.Header.Get("ETag") {
			t.Errorf("%s: ETag %s, compressed %s", path, plain.Header.Get("ETag"), small.Header.Get("ETag"))
		}
		unpacked, err := gzip.NewReader(strings.NewReader(string(small.Body)))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(unpacked); err != nil || string(text) != string(plain.Body) {
			t.Errorf("%s: %v, unpacked it differs", path, err)
		}
	}
	if short := s.Do(t, "GET", "/health", nil, gzipped); short.Header.Get("Content-Encoding") != "" {
		t.Errorf("a short answer: %v", short.Header)
	}
	if unwanted := s.Do(t, "GET", "/openapi.json", nil, servertest.Headers{"Accept-Encoding": "gzip;q=0"}); unwanted.Header.Get("Content-Encoding") != "" {
		t.Errorf("gzip was refused: %v", unwanted.Header)
	}
	if failed := s.Do(t, "GET", agentsPath+"/"+strings.Repeat("x", 99), nil, gzipped); failed.Status != 404 || failed.Problem(t).Code != fault.NotFound {
		t.Errorf("an error: %d %s", failed.Status, failed.Body)
	}
}

func TestEncodedBody_Refused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, path := range []string{agentsPath, "/api/v1/validate", "/api/v1/archive", "/skills/execute", "/v1/skills/install", "/mcp"} {
		for _, encoding := range []string{"gzip", "br", "identity, gzip", "nonsense"} {
			answer := s.Do(t, "POST", path, `{}`, servertest.Headers{"Content-Encoding": encoding})
			if answer.Status != http.StatusUnsupportedMediaType || answer.Problem(t).Code != fault.UnsupportedMediaType || answer.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("%s, %s: %d %v %s", path, encoding, answer.Status, answer.Header, answer.Body)
			}
		}
	}
	s.Want(t, http.StatusCreated, "POST", agentsPath, map[string]any{"name": "one", "language": "bash", "code": "echo 1"}, servertest.Headers{"Content-Encoding": "identity"})
}

func TestWebSocketRoute_NoUpgrade_426(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	run := s.Start(t, "output 1")
	s.Wait(t, run)
	old := servertest.Headers{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "8", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	for name, headers := range map[string]servertest.Headers{"plain": nil, "another protocol": {"Connection": "Upgrade", "Upgrade": "h2c"}, "an old version": old} {
		answer := s.Do(t, "GET", "/api/v1/runs/"+run+"/stream", nil, headers)
		if answer.Status != http.StatusUpgradeRequired || answer.Header.Get("Upgrade") != "websocket" || answer.Header.Get("Sec-WebSocket-Version") != "13" || answer.Problem(t).Code != fault.UpgradeRequired {
			t.Errorf("%s: %d %v %s", name, answer.Status, answer.Header, answer.Body)
		}
	}
}

func TestMethodNotAllowed_AllowListsThePathsMethods(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	tests := map[string]struct{ method, path, allow string }{
		"list":                {"DELETE", "/api/v1/runs", "GET, HEAD"},
		"agents":              {"DELETE", agentsPath, "GET, HEAD, POST"},
		"agent":               {"POST", agentsPath + "/one", "GET, HEAD, PUT, PATCH, DELETE"},
		"agent, escaped":      {"POST", agentsPath + "/a%2Fb", "GET, HEAD, PUT, PATCH, DELETE"},
		"post only":           {"GET", "/api/v1/execute", "POST"},
		"head of post only":   {"HEAD", "/api/v1/execute", "POST"},
		"options":             {"OPTIONS", "/api/v1/session", "GET, HEAD, POST, DELETE"},
		"sign-in link":        {"HEAD", "/login", "GET"},
		"document":            {"POST", "/openapi.json", "GET, HEAD"},
		"skills":              {"PUT", "/skills/execute", "POST"}, // The path is a route, although a skill may be named execute.
		"Studio":              {"POST", "/studio/", "GET, HEAD"},
		"tool protocol":       {"PUT", "/mcp", "GET, HEAD, POST, DELETE"},
		"trace":               {"TRACE", "/api/v1/runs", "GET, HEAD"},
		"trace, no such path": {"TRACE", "/nowhere", ""},
	}
	for name, tt := range tests {
		answer := s.Do(t, tt.method, tt.path, nil)
		if got := answer.Header.Values("Allow"); answer.Status != http.StatusMethodNotAllowed || len(got) != 1 || got[0] != tt.allow {
			t.Errorf("%s: %d, Allow %q, want %q", name, answer.Status, got, tt.allow)
		}
	}
}

// A request with both Content-Length and a chunked body must be refused, because a proxy could find a different end of
// the request than the server.
func TestContentLengthWithChunked_Refused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const (
		both    = "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"
		chunked = "2\r\n{}\r\n0\r\n\r\n"
	)
	head := func(path, more string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.Token + "\r\nContent-Type: application/json\r\n" + more + "\r\n"
	}
	const target = "/api/v1/validate"
	fine := head(target, "Transfer-Encoding: chunked\r\n") + chunked
	tests := map[string]struct {
		sent []string // requests; each is sent after the previous one was answered
		want []int
	}{
		"chunked alone":                {[]string{fine, fine}, []int{200, 200}},
		"a length alone":               {[]string{head(target, "Content-Length: 2\r\n") + "{}"}, []int{200}},
		"both":                         {[]string{head(target, both) + chunked}, []int{400}},
		"both, the length first":       {[]string{head(target, "content-length: 4\r\ntransfer-encoding: chunked\r\n") + chunked}, []int{400}},
		"both, in capitals":            {[]string{head(target, "TRANSFER-ENCODING: CHUNKED\r\nCONTENT-LENGTH: 4\r\n") + chunked}, []int{400}},
		"both, second on a connection": {[]string{fine, head(target, both) + chunked}, []int{200, 400}},
		"many on a connection":         {slices.Repeat([]string{fine}, 200), slices.Repeat([]int{200}, 200)},
		"one before the answer":        {[]string{fine + fine, ""}, []int{200, 400}},
		"both, without a route":        {[]string{head("/nowhere", both) + chunked}, []int{400}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }() // The test has ended.
			answers := bufio.NewReader(conn)
			for i, sent := range tt.sent {
				if _, err := conn.Write([]byte(sent)); err != nil {
					t.Fatal(err)
				}
				answer, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode != tt.want[i] {
					t.Errorf("request %d: %v %d %s", i, err, answer.StatusCode, body)
				}
				_ = answer.Body.Close()
				if answer.StatusCode == http.StatusBadRequest && !answer.Close {
					t.Error("the connection stays open")
				}
			}
		})
	}
}
