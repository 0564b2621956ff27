package egress_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

func TestTunnel(t *testing.T) {
	t.Parallel()
	secure := &server{}
	secure.Server = httptest.NewUnstartedServer(secure.count(hello))
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	resolver := leadsTo(map[string]string{"example.com": "127.0.0.1"}) // the name in the test server's certificate
	named := "example.com:" + secure.port()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig

	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Resolver: resolver}, named, secure.address())
		answer, err := r.client(t, roots).Get("https://" + named + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		r.client(t, nil).CloseIdleConnections()
		r.Close()
		if events := r.host.all(); len(events) != 1 || events[0].Decision != runtimes.EgressAllowed || events[0].Host != "example.com" || events[0].Bytes < 1000 {
			t.Errorf("%+v", events)
		}
	})
	t.Run("by address", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{}, secure.address())
		answer, err := r.client(t, roots).Get("https://" + secure.address() + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	})
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{})
		_, err := r.client(t, roots).Get("https://" + named + "/x")
		if err == nil || !strings.Contains(err.Error(), egress.Marker) {
			t.Error(err)
		}
	})
	t.Run("for another name", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Resolver: resolver}, named, secure.address())
		conn, err := net.Dial("tcp", r.proxy.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", named)
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			t.Fatal(err)
		}
		before := secure.visits()
		fronted := tls.Client(conn, &tls.Config{ServerName: "evil.org", InsecureSkipVerify: true})
		if err := fronted.Handshake(); err == nil {
			t.Error("a certificate for another name was asked for and given")
		}
		r.Close()
		if events := r.host.all(); len(events) != 1 || events[0].Rule != egress.RuleName || !r.Refused() || secure.visits() != before {
			t.Errorf("%+v", events)
		}
	})
	t.Run("with a name that cannot be read", func(t *testing.T) {
		t.Parallel()
		hello := helloFor("evil.org")
		dotted := bytes.Replace(hello, []byte("evil.org"), []byte("evil.or."), 1)
		alert := []byte{21, 3, 1, 0, 2, 1, 90} // a warning, which servers ignore
		for name, start := range map[string][]byte{
			"a dot at its end": dotted, "after a warning": append(alert, hello...), "in a record of its own kind": append([]byte{20, 3, 3, 0, 1, 1}, hello...),
		} {
			came := make(chan []byte, 1)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer close(came)
				if conn, err := listener.Accept(); err == nil {
					defer conn.Close()
					got, _ := io.ReadAll(conn)
					came <- got
				}
			}()
			address := listener.Addr().String()
			_, port, _ := net.SplitHostPort(address)
			r := open(t, egress.Options{Resolver: resolver}, "example.com:"+port, address)
			conn, err := net.Dial("tcp", r.proxy.Host)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "CONNECT example.com:%s HTTP/1.1\r\nHost: x\r\n\r\n", port)
			if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
				t.Fatal(err)
			}
			_, _ = conn.Write(start)
			_ = conn.(*net.TCPConn).CloseWrite()
			if got := <-came; len(got) > 0 {
				t.Errorf("%s: %q came", name, got)
			}
			_, _ = conn.Close(), listener.Close()
			r.Close()
			if events := r.host.all(); len(events) != 1 || events[0].Rule != egress.RuleName || !r.Refused() {
				t.Errorf("%s: %+v", name, events)
			}
		}
	})
	t.Run("without a name, and without TLS", func(t *testing.T) {
		t.Parallel()
		plain := serve(t, hello)
		grant := "plain.test:" + plain.port()
		r := open(t, egress.Options{Resolver: leadsTo(map[string]string{"plain.test": "127.0.0.1", "example.com": "127.0.0.1"})}, grant, plain.address(), named, secure.address())
		said := r.raw(t, "CONNECT "+grant+" HTTP/1.1\r\nHost: x\r\n\r\nGET /t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.HasSuffix(said, "hello from /t") {
			t.Error(said)
		}
		conn, err := net.Dial("tcp", r.proxy.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", named)
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			t.Fatal(err)
		}
		if err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
			t.Error(err)
		}
	})
	t.Run("fetch", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Resolver: resolver, TLS: roots}, named, secure.address())
		if got := r.fetch(t, `{"url":"https://`+named+`/f"}`); !strings.Contains(got, "hello from /f") {
			t.Error(got)
		}
		strict := open(t, egress.Options{Resolver: resolver}, named, secure.address())
		if got := strict.fetch(t, `{"url":"https://`+named+`/f"}`); !strings.Contains(got, "is unreachable") {
			t.Error(got)
		}
	})
}

// helloFor returns the ClientHello of a client that requests a certificate for a name.
func helloFor(name string) []byte {
	client, server := net.Pipe()
	defer server.Close()
	go func() {
		defer client.Close()
		_ = tls.Client(client, &tls.Config{ServerName: name}).Handshake()
	}()
	hello := make([]byte, 16<<10)
	n, _ := server.Read(hello)
	return hello[:n]
}
