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
	maxDepth     = 256              // maximum nesting of arrays and objects in a body
	maxValues    = 1_000_000        // maximum number of JSON values and names in a body; a decoded value can use a hundred times the memory of its text
	maxDigits    = 4300             // maximum number of digits of a number; equals the default limit of Python
	firstRead    = 32 << 10         // initial size in bytes of the buffer for a body of unknown length
	retryBusy    = time.Second      // delay before the next attempt if other requests have reserved the memory
	bodyDeadline = 30 * time.Second // maximum time in which a client must send its body
)

// Body reads the JSON body of a request. The parameter most is its maximum size in bytes. Body returns nil if there is no body. The result is valid
// UTF-8 and valid JSON, and is within the limits of nesting, values and digits. The memory of the body stays reserved
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

// Document does the same as Body, and also returns the decoded value of the body. If there is no body, both results are
// nil.
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

// readJSON reads the body of a request. It returns the body with the limits that apply when the body is checked and
// decoded.
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
			return &fault.Error{Code: fault.BodyTooLarge, Message: "The body has more than 1,000,000 JSON values and names. Send less data.", Extra: map[string]any{"maxValues": maxValues}}
		}
		if !reservation.Reserve(int64(len(body)), int64(values)) {
			return busy()
		}
		return nil
	}}, nil
}

// Whole reads a body of any content type, up to most bytes.
func Whole(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	control := awaitBody(w, r)
	body, err := read(http.MaxBytesReader(w, r.Body, most), r.ContentLength, budget.Of(r.Context()))
	if err == nil {
		// If the body is complete, remove the deadline: during a long run, net/http reads from the connection to notice that
		// the client disconnects, and it would treat an expired deadline as a disconnect. If the body is incomplete, the
		// deadline must stay, because net/http waits for the rest of the body before it answers.
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

// read reads a body of the given length; -1 means an unknown length. It reserves memory before it allocates the memory.
func read(from io.Reader, length int64, reservation *budget.Reservation) ([]byte, error) {
	size := length
	if size < 0 {
		size = firstRead
	}
	if !reservation.Reserve(size, 0) {
		return nil, busy()
	}
	body := make([]byte, 0, size+1) // The additional byte lets the last read reach EOF.
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

// drain reads the rest of a rejected body and discards it. Without this, the client would see a closed connection
// instead of the answer. If the client waits for 100 Continue, drain does not request the body.
func drain(w http.ResponseWriter, r *http.Request, most int64) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, most)) // Ignore errors: the request is rejected in any case.
	}
}

func busy() error {
	return &fault.Error{Code: fault.TooManyRequests, RetryAfter: retryBusy,
		Message: "The server has no memory left for this body. Try again later."}
}

// awaitBody sets a deadline for the client to send its body. The deadline is needed even if no handler reads the body:
// before net/http answers, it reads the body to its end, and could wait without limit.
func awaitBody(w http.ResponseWriter, r *http.Request) *http.ResponseController {
	control := http.NewResponseController(w)
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(time.Now().Add(bodyDeadline)) // This fails only in tests, whose writer has no connection.
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
