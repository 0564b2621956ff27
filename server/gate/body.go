package gate

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

const (
	maxDepth     = 256              // of nested arrays and objects in a body
	bodyDeadline = 30 * time.Second // for a client to send its body
)

// Body reads the JSON body of a request, up to most bytes. An absent body is nil. What it returns is valid UTF-8, valid
// JSON and not nested deeper than a decoder can bear.
func Body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	body, err := Whole(w, r, most)
	switch {
	case err != nil:
		return nil, err
	case len(body) == 0:
		return nil, nil
	case !isJSON(r.Header.Get("Content-Type")):
		return nil, fault.New(fault.UnsupportedMediaType, "Bodies are JSON: send Content-Type: application/json.")
	}
	return body, checkJSON(body, maxDepth)
}

// Whole reads a body of any kind, up to most bytes.
func Whole(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	control := awaitBody(w, r)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		// The deadline must not outlive the body: the server reads on to notice that a client has gone, and would take the
		// deadline of a long run for that. It must outlive half a body: the server waits for the rest before it answers.
		_ = control.SetReadDeadline(time.Time{})
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge(most)
	case err != nil:
		return nil, &fault.Error{Code: fault.BadRequest, Message: "The body did not arrive whole.", Err: err}
	}
	return body, nil
}

// awaitBody gives a client a time to send its body, also one that nobody reads: before it answers, the server reads on to
// the body's end, and would wait for ever.
func awaitBody(w http.ResponseWriter, r *http.Request) *http.ResponseController {
	control := http.NewResponseController(w)
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(time.Now().Add(bodyDeadline)) // a writer of a test has no connection
	}
	return control
}

func isJSON(contentType string) bool {
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset, given := parameters["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

func tooLarge(most int64) error {
	return &fault.Error{Code: fault.BodyTooLarge, Message: "The body is larger than this route takes.", Extra: map[string]any{"maxBytes": most}}
}
