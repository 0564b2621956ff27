package gate

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

const (
	maxDepth     = 256              // of nested arrays and objects in a body
	maxValues    = 1_000_000        // JSON values and names in a body: decoded, each takes up to a hundred times its text
	maxDigits    = 4300             // of a number: what Python reads by default
	firstRead    = 32 << 10         // of a body whose length is not known
	retryBusy    = time.Second      // after which a request is worth another try when memory was reserved by others
	bodyDeadline = 30 * time.Second // for a client to send its body
)

// Body reads the JSON body of a request, up to most bytes. It returns nil if there is no body. The result is valid
// UTF-8 and valid JSON, and its numbers of levels and values are within the decoder's limits. Its memory stays reserved
// until the request ends.
func Body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	body, limits, err := readJSON(w, r, most)
	if err == nil && body != nil {
		err = refused(body, jcs.Check(body, limits))
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// Document is Body with the value that it has. There is a value only if there is a body.
func Document(w http.ResponseWriter, r *http.Request, most int64) (body []byte, value any, err error) {
	body, limits, err := readJSON(w, r, most)
	if err == nil && body != nil {
		value, err = jcs.Decode(body, limits)
		err = refused(body, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return body, value, nil
}

// readJSON reads a body, and returns the limits within which it is decoded.
func readJSON(w http.ResponseWriter, r *http.Request, most int64) (body []byte, limits jcs.Limits, err error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, limits, nil
	}
	body, err = Whole(w, r, most)
	switch {
	case err != nil:
		return nil, limits, err
	case len(body) == 0:
		return nil, limits, nil
	case !isJSON(r.Header.Get("Content-Type")):
		return nil, limits, fault.New(fault.UnsupportedMediaType, "The body must be JSON. Send Content-Type: application/json.")
	}
	reservation := budget.Of(r.Context())
	return body, jcs.Limits{Depth: maxDepth, Digits: maxDigits, Count: func(values int) error {
		if values > maxValues {
			return &fault.Error{Code: fault.BodyTooLarge, Message: "The body has more than 1,000,000 JSON values and names.", Extra: map[string]any{"maxValues": maxValues}}
		}
		if !reservation.Reserve(int64(len(body)), int64(values)) {
			return busy()
		}
		return nil
	}}, nil
}

// Whole reads a body of any type, up to most bytes.
func Whole(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	control := awaitBody(w, r)
	body, err := read(http.MaxBytesReader(w, r.Body, most), r.ContentLength, budget.Of(r.Context()))
	if err == nil {
		// The deadline must not outlast the body. The server keeps reading to notice that a client has disconnected,
		// and would mistake the deadline of a long run for that. The deadline must stay for an incomplete body, because
		// the server waits for the rest before it answers.
		_ = control.SetReadDeadline(time.Time{})
	}
	var large *http.MaxBytesError
	switch {
	case fault.Is(err, fault.TooManyRequests):
		drain(w, r, most)
		return nil, err
	case errors.As(err, &large):
		return nil, tooLarge(most)
	case err != nil:
		return nil, &fault.Error{Code: fault.BadRequest, Message: "The body is incomplete.", Err: err}
	}
	return body, nil
}

// read reads a body of known length, or of unknown length (-1). It reserves memory before it allocates it.
func read(from io.Reader, length int64, reservation *budget.Reservation) ([]byte, error) {
	size := length
	if size < 0 {
		size = firstRead
	}
	if !reservation.Reserve(size, 0) {
		return nil, busy()
	}
	body := make([]byte, 0, size+1) // one byte more, to reach EOF
	for {
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		case len(body) < cap(body):
			continue
		}
		if !reservation.Reserve(2*int64(cap(body)), 0) {
			return nil, busy()
		}
		body = append(make([]byte, 0, 2*cap(body)), body...)
	}
}

// drain reads a rejected body to its end and discards it, so that the client receives the answer instead of a closed
// connection. It does not request the body from a client that waits for 100 Continue.
func drain(w http.ResponseWriter, r *http.Request, most int64) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, most)) // the answer is the rejection either way
	}
}

func busy() error {
	return &fault.Error{Code: fault.TooManyRequests, RetryAfter: retryBusy,
		Message: "The server has no memory left for this body. Try again later."}
}

// awaitBody sets a deadline for the client to send its body, even if no handler reads it. Before it answers, the server
// reads to the body's end, and without a deadline would wait forever.
func awaitBody(w http.ResponseWriter, r *http.Request) *http.ResponseController {
	control := http.NewResponseController(w)
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(time.Now().Add(bodyDeadline)) // the writer of a test has no connection
	}
	return control
}

func isJSON(contentType string) bool {
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset, given := parameters["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

func tooLarge(most int64) error {
	return &fault.Error{Code: fault.BodyTooLarge, Message: "The body is larger than this endpoint allows.", Extra: map[string]any{"maxBytes": most}}
}
