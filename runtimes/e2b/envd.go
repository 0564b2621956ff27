package e2b

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes/elsewhere"
)

// port is the TCP port of envd in a sandbox.
const port = "49983"

// user is the Linux user that runs programs. Every template has it.
const user = "user"

// maxFrame is the maximum size of one message of a stream, in bytes.
const maxFrame = 8 << 20

// envd is a client of the envd process in one sandbox.
type envd struct {
	engine *Engine
	box    sandbox
}

// base returns the address of envd. All sandboxes on E2B's own domain share one address, and headers select the
// sandbox.
func (d envd) base() string {
	switch domain := d.domain(); {
	case d.engine.options.Sandboxes != "":
		return strings.TrimRight(d.engine.options.Sandboxes, "/")
	case domain == "e2b.app":
		return "https://sandbox." + domain
	default:
		return "https://" + port + "-" + d.box.SandboxID + "." + domain
	}
}

func (d envd) domain() string {
	if d.box.Domain != "" {
		return d.box.Domain
	}
	return d.engine.options.Domain
}

func (d envd) request(ctx context.Context, method, path, kind string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, d.base()+path, body)
	if err != nil {
		return nil, err
	}
	head := request.Header
	head.Set("E2b-Sandbox-Id", d.box.SandboxID)
	head.Set("E2b-Sandbox-Port", port)
	head.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":")))
	head.Set("User-Agent", "atelier")
	if d.box.AccessToken != "" {
		head.Set("X-Access-Token", d.box.AccessToken)
	}
	if d.box.TrafficToken != "" {
		head.Set("E2B-Traffic-Access-Token", d.box.TrafficToken)
	}
	if kind != "" {
		head.Set("Content-Type", kind)
	}
	if strings.HasPrefix(kind, "application/connect") {
		head.Set("Connect-Protocol-Version", "1")
		head.Set("Keepalive-Ping-Interval", "20")
	}
	return d.engine.HTTP.Do(request)
}

// upload writes files below a folder with one request.
func (d envd) upload(ctx context.Context, folder string, files map[string][]byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		part, err := form.CreateFormFile("file", folder+"/"+path)
		if err != nil {
			return err
		}
		if _, err := part.Write(files[path]); err != nil {
			return err
		}
	}
	if err := form.Close(); err != nil {
		return err
	}
	answer, err := d.request(ctx, http.MethodPost, "/files?"+url.Values{"username": {user}}.Encode(), form.FormDataContentType(), &body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, elsewhere.MaxReply)) // the text is used only in the error message
	if answer.StatusCode >= 300 {
		return &elsewhere.Status{Service: service.Name, Code: answer.StatusCode, Message: string(text[:min(len(text), 200)])}
	}
	return nil
}

// Errors of download.
var (
	errLarge = errors.New("the file is too large")
	errNone  = errors.New("the file does not exist")
)

// download reads a file. It returns errLarge if the file has more than most bytes, and errNone if it does not exist.
func (d envd) download(ctx context.Context, path string, most int64) ([]byte, error) {
	answer, err := d.request(ctx, http.MethodGet, "/files?"+url.Values{"path": {path}, "username": {user}}.Encode(), "", nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == elsewhere.Absent:
		return nil, errNone
	case answer.StatusCode >= 300:
		return nil, &elsewhere.Status{Service: service.Name, Code: answer.StatusCode, Message: "read a file"}
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err == nil && int64(len(data)) > most {
		err = errLarge
	}
	return data, err
}

// event is one message of a process.
type event struct {
	Event struct {
		Start *struct {
			PID int64 `json:"pid"`
		} `json:"start"`
		Data *struct {
			Stdout []byte `json:"stdout"`
			Stderr []byte `json:"stderr"`
		} `json:"data"`
		End *struct {
			ExitCode int    `json:"exitCode"`
			Exited   bool   `json:"exited"`
			Status   string `json:"status"`
		} `json:"end"`
	} `json:"event"`
}

// stream is the stream of a process's messages.
type stream struct {
	answer *http.Response
	in     *bufio.Reader
}

// start starts a process and returns the stream of its messages. connect returns the stream of a process that already
// runs.
func (d envd) start(ctx context.Context, command string, args []string, folder string) (*stream, error) {
	return d.open(ctx, "/process.Process/Start", map[string]any{
		"process": map[string]any{"cmd": command, "args": args, "cwd": folder, "envs": map[string]string{}}, "stdin": false,
	})
}

func (d envd) connect(ctx context.Context, pid int64) (*stream, error) {
	return d.open(ctx, "/process.Process/Connect", map[string]any{"process": map[string]any{"pid": pid}})
}

func (d envd) open(ctx context.Context, path string, message any) (*stream, error) {
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	body := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))) //nolint:gosec // the message is short
	answer, err := d.request(ctx, http.MethodPost, path, "application/connect+json", bytes.NewReader(append(body, text...)))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		_ = answer.Body.Close() // does not read the body, because the status is enough for the error
		return nil, &elsewhere.Status{Service: service.Name, Code: answer.StatusCode, Message: "start a process"}
	}
	return &stream{answer, bufio.NewReaderSize(answer.Body, 64<<10)}, nil
}

// next returns the next message. The error is io.EOF at the end of the stream, and another error if the connection
// broke.
func (s *stream) next() (event, error) {
	var e event
	var head [5]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return e, errors.Join(io.ErrUnexpectedEOF, err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return e, fmt.Errorf("a message of %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(s.in, text); err != nil {
		return e, errors.Join(io.ErrUnexpectedEOF, err)
	}
	if head[0]&2 == 0 {
		return e, json.Unmarshal(text, &e)
	}
	var end struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(text, &end); err != nil {
		return e, err
	}
	if end.Error != nil {
		return e, fmt.Errorf("%s: %s", end.Error.Code, end.Error.Message)
	}
	return e, io.EOF
}

// Closing a response body; nothing was written, so an error has no effect.
func (s *stream) close() { _ = s.answer.Body.Close() }
