package hostile_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/server/servertest"
)

func TestHostileFloods(t *testing.T) {
	t.Parallel()
	s := serve(t)
	zeros := make([]byte, 64<<20)
	var zipped, deflated bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, _ = zip.Write(zeros)
	_ = zip.Close()
	flat, err := flate.NewWriter(&deflated, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = flat.Write(zeros)
	_ = flat.Close()
	control(t, hostile.Floods, func(t *testing.T) {
		if status, _ := raw(t, careless(t), "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: "+strings.Repeat("x", 2<<20)+"\r\n\r\n"); status != http.StatusOK {
			t.Errorf("a server without the protection answers %d to long headers", status)
		}
		in, err := gzip.NewReader(bytes.NewReader(zipped.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, in); err != nil || n < 500*int64(zipped.Len()) {
			t.Errorf("%d bytes become %d, %v", zipped.Len(), n, err)
		}
	})

	const execute = "POST /api/v1/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + secretToken + "\r\nContent-Type: application/json\r\n"
	refused := func(statuses ...int) map[int]bool {
		all := map[int]bool{}
		for _, status := range statuses {
			all[status] = true
		}
		return all
	}
	none, long := 0, strings.Repeat("x", 200<<10)
	for name, tt := range map[string]struct {
		text string
		want map[int]bool
	}{
		"one long header":           {"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: " + long + "\r\n\r\n", refused(431, none)},
		"many headers":              {"GET /health HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-A: 1\r\n", 50_000) + "\r\n", refused(431, none)},
		"many names of headers":     {"GET /health HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-"+long[:50]+": 1\r\n", 5_000) + "\r\n", refused(431, none)},
		"a header without an end":   {"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("x", 8<<20), refused(431, none)},
		"cookies":                   {"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nCookie: " + strings.Repeat("a=1; ", 40_000) + "\r\n\r\n", refused(431, none)},
		"a long token":              {"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + long[:60_000] + "\r\n\r\n", refused(401)},
		"a long address":            {"GET /" + strings.Repeat("x", 2<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", refused(431, 414, none)},
		"a deep address":            {"GET /api/v1" + strings.Repeat("/a", 25_000) + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + secretToken + "\r\n\r\n", refused(404)},
		"many parameters":           {"GET /api/v1/runs?" + strings.Repeat("a=1&", 12_000) + "status=bogus HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + secretToken + "\r\n\r\n", refused(422, 400)},
		"an invalid method":         {long[:60_000] + " / HTTP/1.1\r\nHost: localhost\r\n\r\n", refused(400, 405, none)},
		"trailers":                  {execute + "Transfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n2\r\n{}\r\n0\r\nX-A: " + long + "\r\n\r\n", refused(400, 422, none)},
		"a body of unknown length":  {execute + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 800), refused(413)},
		"a body beyond integers":    {execute + "Content-Length: 99999999999999999999\r\n\r\n{}", refused(400)},
		"a body of an exabyte":      {execute + "Content-Length: 1000000000000000000\r\n\r\n{}", refused(413)},
		"a body of negative length": {execute + "Content-Length: -1\r\n\r\n{}", refused(400)},
		"two lengths":               {execute + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", refused(400)},
		"a length and chunks":       {execute + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x", refused(400, 422)},
		"another coding":            {execute + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", refused(400, 501)},
		"extensions of chunks":      {execute + "Transfer-Encoding: chunked\r\n\r\n2;" + long + "\r\n{}\r\n0\r\n\r\n", refused(400, none)},
		"extensions of all chunks":  {execute + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+long[:2000]+"\r\n \r\n", 1000) + "0\r\n\r\n", refused(400, none)},
	} {
		egressAttack(t, hostile.Floods, name, func(t *testing.T) {
			if status, body := raw(t, address(s), tt.text); !tt.want[status] {
				t.Errorf("%d %.200s", status, body)
			}
		})
	}
	for name, bomb := range map[string]string{"gzip": zipped.String(), "deflate": deflated.String(), "br": deflated.String(), "gzip, gzip": zipped.String()} {
		egressAttack(t, hostile.Floods, "a bomb of "+name, func(t *testing.T) {
			if status := try(t, s, http.MethodPost, "/api/v1/execute", bomb, servertest.Headers{"Content-Encoding": name}); status != http.StatusBadRequest && status != http.StatusUnsupportedMediaType {
				t.Errorf("answered with %d", status)
			}
		})
	}
	egressAttack(t, hostile.Floods, "a body of spaces", func(t *testing.T) {
		if status := try(t, s, http.MethodPost, "/api/v1/execute", strings.Repeat(" ", 64<<20)); status != http.StatusRequestEntityTooLarge && status != none {
			t.Errorf("answered with %d", status)
		}
	})
	egressAttack(t, hostile.Floods, "a socket that speaks", func(t *testing.T) {
		run := s.Start(t, "print begun\nwait")
		dialer := websocket.Dialer{EnableCompression: true}
		conn, answer, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/api/v1/runs/"+run+"/stream", http.Header{"Authorization": {"Bearer " + s.Token}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := answer.Header.Get("Sec-WebSocket-Extensions"); got != "" {
			t.Errorf("compression was negotiated: %s", got)
		}
		_ = conn.WriteMessage(websocket.BinaryMessage, zeros) // the connection may close before the end
		for err == nil {
			_, _, err = conn.ReadMessage()
		}
		s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/runs/"+run+"/cancel", nil)
	})
	works(t, s)
}

func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	s := serve(t)
	nested := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	control(t, hostile.Documents, func(t *testing.T) {
		var deep any
		if err := json.Unmarshal([]byte(nested("[", "]", 9_999)), &deep); err != nil {
			t.Errorf("a decoder without the protection: %v", err)
		}
		var doubled struct{ Version string }
		if err := json.Unmarshal([]byte(`{"version":"1.0.0","VERSION":"draft","version":"latest"}`), &doubled); err != nil || doubled.Version != "latest" {
			t.Errorf("a decoder without the protection takes %q, %v", doubled.Version, err)
		}
	})
	body := func(input string) string {
		return `{"language":"bash","runtime":"script","code":"output 1","input":` + input + `}`
	}
	for name, text := range map[string]string{
		"arrays, 256 of them":           body(nested("[", "]", 256)),
		"arrays, 200,000 of them":       body(nested("[", "]", 200_000)),
		"arrays without an end":         strings.Repeat("[", 4<<20),
		"objects":                       body(nested(`{"a":`, "}", 100_000)),
		"objects in arrays":             body(nested(`[{"a":`, "}]", 50_000)),
		"brackets behind a quote":       body(`"\\"` + nested("[", "]", 100_000)),
		"a key twice":                   `{"language":"python","language":"bash","runtime":"script","code":"output 1"}`,
		"a key twice, once escaped":     `{"language":"python","l\u0061nguage":"bash","runtime":"script","code":"output 1"}`,
		"a key twice, in the input":     body(`{"a":1,"a":2}`),
		"a key twice, deep":             body(nested(`{"a":`, "}", 0) + `[[{"x":{"k":1,"k":1}}]]`),
		"a key in another case":         `{"Language":"bash","runtime":"script","code":"output 1"}`,
		"a limit twice":                 `{"language":"bash","runtime":"script","code":"output 1","limits":{"timeoutMs":1000,"timeoutMs":600000}}`,
		"two documents":                 body("1") + body("1"),
		"a document and a comma":        body("1") + ",",
		"a comment":                     body("1 /* x */"),
		"NaN":                           body("NaN"),
		"a leading zero":                body("01"),
		"a plus":                        body("+1"),
		"a single quote":                body("'x'"),
		"bytes that are not UTF-8":      body("\"\xff\xfe\""),
		"half a pair, as bytes":         body("\"\xed\xa0\x80\""),
		"a control character in a text": body("\"\x00\""),
		"a byte order mark":             "\ufeff" + body("1"),
		"UTF-16":                        "\xff\xfe{\x00}\x00",
		"an unknown field":              `{"language":"bash","runtime":"script","code":"output 1","__proto__":{"admin":true}}`,
		"only a string":                 `"execute"`,
		"null":                          `null`,
	} {
		egressAttack(t, hostile.Documents, name, func(t *testing.T) {
			if status := try(t, s, http.MethodPost, "/api/v1/execute", text); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
				t.Errorf("answered with %d", status)
			}
		})
	}
	works(t, s)
}
