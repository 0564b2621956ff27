package hostile_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/server/servertest"
)

// secretToken is the administrator's token on the attacked servers.
const secretToken = "a-token-that-is-long-enough-to-be-one"

func serve(t *testing.T) *servertest.Server {
	t.Helper()
	readFresh()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true", "token": secretToken}))
	s.Token = secretToken
	return s
}

// works sends a normal request after an attack. It must succeed.
func works(t *testing.T, s *servertest.Server) {
	t.Helper()
	if answer := s.Script(t, "output 7"); answer.Status != http.StatusOK || string(answer.Run(t).Output) != "7" {
		t.Errorf("the next request: %d %s", answer.Status, answer.Body)
	}
}

// egressAttack runs one attack that is not a program and counts it.
func egressAttack(t *testing.T, class hostile.Class, name string, attack func(t *testing.T)) {
	t.Helper()
	t.Run(string(class)+"/"+name, func(t *testing.T) {
		defer func() { matrix.Egress(class, !t.Failed()) }()
		attack(t)
	})
}

// careless starts a server without protections: it accepts every Host and Origin, and requests of any size and speed.
func careless(t *testing.T) string {
	t.Helper()
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.Copy(w, r.Body)
			return
		}
		if conn, err := upgrader.Upgrade(w, r, nil); err == nil {
			_ = conn.Close()
		}
	}))
	s.Config.MaxHeaderBytes = 64 << 20
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// raw sends bytes unchanged and returns the status of the first response, or 0 if the connection ends without one.
func raw(t *testing.T, address, text string) (status int, body string) {
	t.Helper()
	conn := dial(t, address)
	go func() { _, _ = io.WriteString(conn, text) }() // a server that rejects the request does not read the rest
	return status0(t, conn)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(4 * time.Minute)); err != nil { // a server that hangs fails the test
		t.Fatal(err)
	}
	return conn
}

func status0(t *testing.T, conn net.Conn) (status int, body string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			t.Errorf("the server neither answers nor closes the connection: %v", err)
		}
		return 0, ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	return answer.StatusCode, string(text)
}

func address(s *servertest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// ended waits until the server closes a connection.
func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, conn); err != nil {
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			t.Errorf("the connection is still open: %v", err)
		}
	}
}

func TestHostileHosts(t *testing.T) {
	t.Parallel()
	s := serve(t)
	control(t, hostile.Hosts, func(t *testing.T) {
		if status, _ := raw(t, careless(t), "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"); status != http.StatusOK {
			t.Errorf("a server without the protection answers %d", status)
		}
	})
	for _, name := range []string{
		"evil.example", "evil.example:8002", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example.", "0.0.0.0", "0.0.0.0:80", "[::]", "127.0.0.2",
		"2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "localhost@evil.example", "evil.example/localhost", "localhost\tevil", "ｌocalhost", "", "169.254.169.254",
	} {
		egressAttack(t, hostile.Hosts, name, func(t *testing.T) {
			for _, path := range []string{"/", "/health", "/metrics", "/studio/", "/docs", "/api/v1/code-agents", "/nowhere"} {
				status, body := raw(t, address(s), "GET "+path+" HTTP/1.1\r\nHost: "+name+"\r\nAuthorization: Bearer "+secretToken+"\r\nConnection: close\r\n\r\n")
				if status != http.StatusForbidden && status != http.StatusBadRequest {
					t.Errorf("%s is answered with %d %.100s", path, status, body)
				}
			}
		})
	}
	for name, text := range map[string]string{
		"two names":       "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
		"no name":         "GET /health HTTP/1.1\r\n\r\n",
		"name in address": "GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"forwarded":       "GET /health HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\n\r\n",
		"a folded line":   "GET /health HTTP/1.1\r\nHost: evil.example\r\n localhost\r\n\r\n",
	} {
		egressAttack(t, hostile.Hosts, name, func(t *testing.T) {
			if status, body := raw(t, address(s), text); status != http.StatusForbidden && status != http.StatusBadRequest {
				t.Errorf("%d %.100s", status, body)
			}
		})
	}
	works(t, s)
}

func TestHostileOrigins(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.Start(t, "print done")
	s.Wait(t, run)
	upgrade := "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	control(t, hostile.Origins, func(t *testing.T) {
		if status, _ := raw(t, careless(t), "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n"+upgrade+"\r\n"); status != http.StatusSwitchingProtocols {
			t.Errorf("a server without the protection answers %d", status)
		}
	})
	const body = `{"language":"bash","runtime":"script","code":"output 1"}`
	for name, header := range map[string]string{
		"another site": "Origin: https://evil.example", "nobody": "Origin: null", "another port": "Origin: http://127.0.0.1:1", "another scheme": "Origin: https://" + address(s),
		"a name that begins with the server's": "Origin: http://" + address(s) + ".evil.example", "empty": "Origin: ", "a file": "Origin: file://",
		"two": "Origin: http://" + address(s) + "\r\nOrigin: https://evil.example", "cross-site": "Sec-Fetch-Site: cross-site", "same site": "Sec-Fetch-Site: same-site",
		"the server's, but cross-site": "Origin: http://" + address(s) + "\r\nSec-Fetch-Site: cross-site",
	} {
		head := " HTTP/1.1\r\nHost: " + address(s) + "\r\nAuthorization: Bearer " + secretToken + "\r\n" + header + "\r\n"
		egressAttack(t, hostile.Origins, name+" posts", func(t *testing.T) {
			text := "POST /api/v1/execute" + head + "Content-Type: application/json\r\nContent-Length: 56\r\n\r\n" + body
			if status, got := raw(t, address(s), text); status != http.StatusForbidden {
				t.Errorf("%d %.100s", status, got)
			}
		})
		egressAttack(t, hostile.Origins, name+" opens a socket", func(t *testing.T) {
			if status, got := raw(t, address(s), "GET /api/v1/runs/"+run+"/stream"+head+upgrade+"\r\n"); status != http.StatusForbidden {
				t.Errorf("%d %.100s", status, got)
			}
		})
	}
	works(t, s)
}

func TestHostileSlowClients(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const begun = "POST /api/v1/execute HTTP/1.1\r\nHost: localhost\r\n"
	token := "Authorization: Bearer " + secretToken + "\r\n"
	slow := map[string]string{
		"no request at all":            "",
		"half a line":                  "GET /hea",
		"headers without an end":       begun + "X-A: 1\r\n",
		"no body":                      begun + token + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n",
		"half a body":                  begun + token + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"language\":",
		"half a chunk":                 begun + token + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
		"no body, and nobody":          begun + "Content-Length: 100\r\n\r\n",
		"no body, and the wrong name":  "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n",
		"no body for an unknown route": "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
	}
	held := careless(t)
	rest := dial(t, held)
	if _, err := io.WriteString(rest, "GET / HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	conns := map[string]net.Conn{}
	for name, text := range slow {
		for range 20 {
			conns[name] = dial(t, address(s))
			if _, err := io.WriteString(conns[name], text); err != nil {
				t.Fatal(err)
			}
		}
	}
	works(t, s) // the server must answer while all the connections are open
	for name, conn := range conns {
		egressAttack(t, hostile.SlowClients, name, func(t *testing.T) {
			ended(t, conn)
			works(t, s)
		})
	}
	control(t, hostile.SlowClients, func(t *testing.T) { // the careless server has been waiting since the start
		if _, err := io.WriteString(rest, "Host: localhost\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if status, _ := status0(t, rest); status != http.StatusOK {
			t.Errorf("a server without the protection answers %d", status)
		}
	})
	works(t, s)
}

// control runs an attack of a class on a server or library without the protection. The attack must succeed there.
func control(t *testing.T, class hostile.Class, attack func(t *testing.T)) {
	t.Helper()
	t.Run("control/"+string(class), func(t *testing.T) {
		defer func() { matrix.Control(class, !t.Failed()) }()
		attack(t)
	})
}

// try sends a request that the server may reject before it is sent completely. It returns the status, 0 if the
// connection was closed.
func try(t *testing.T, s *servertest.Server, method, path string, body any, headers ...servertest.Headers) int {
	t.Helper()
	answer, err := s.Try(context.WithoutCancel(t.Context()), method, path, body, headers...)
	if err != nil {
		return 0 // the server closed the connection
	}
	return answer.Status
}
