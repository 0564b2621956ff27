// Package problem turns errors into RFC 9457 problem documents. It is the only room that knows which HTTP status a
// fault has. What a caller may not see goes to the log: an unclassified error is "Internal error." and a request ID.
package problem

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// MediaType is the content type of every error answer.
const MediaType = "application/problem+json"

// Document is one problem as it goes over the wire. It is an error, so that a framework can carry it.
type Document struct {
	Title      string
	Status     int
	Code       fault.Code
	Detail     string
	Errors     []fault.Detail
	Extra      map[string]any // further members, such as currentRevision; they cannot replace those above
	RetryAfter time.Duration
}

// Of describes an error to a caller. Only what the fault says for callers goes in.
func Of(err error) *Document {
	var f *fault.Error
	if !errors.As(err, &f) {
		f = unclassified(err)
	}
	if f.Code == fault.Internal {
		f = &fault.Error{Code: fault.Internal, Message: "Internal error."}
	}
	status := Status(f.Code)
	return &Document{Title: title(status), Status: status, Code: f.Code, Detail: f.Message, Errors: f.Details,
		Extra: f.Extra, RetryAfter: retryAfter(f)}
}

func (d *Document) Error() string { return string(d.Code) + ": " + d.Detail }

// GetStatus and GetHeaders let a framework answer with the document.
func (d *Document) GetStatus() int { return d.Status }

// GetHeaders returns the headers that belong to the document.
func (d *Document) GetHeaders() http.Header {
	h := http.Header{"Cache-Control": {"no-store"}}
	if d.RetryAfter > 0 {
		seconds := (d.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if d.Code == fault.Unauthenticated {
		h.Set("WWW-Authenticate", `Bearer realm="atelier"`)
	}
	return h
}

// ContentType is what a framework should answer with instead of plain JSON.
func (d *Document) ContentType(string) string { return MediaType }

// MarshalJSON writes the members of RFC 9457, ours and the extra ones, in one object.
func (d *Document) MarshalJSON() ([]byte, error) {
	members := map[string]any{}
	maps.Copy(members, d.Extra)
	members["type"], members["title"], members["status"] = "about:blank", d.Title, d.Status
	members["code"], members["detail"] = d.Code, d.Detail
	if len(d.Errors) > 0 {
		members["errors"] = d.Errors
	}
	return json.Marshal(members)
}

func retryAfter(f *fault.Error) time.Duration {
	if f.RetryAfter == 0 && (f.Code == fault.QueueFull || f.Code == fault.TooManyRequests || f.Code == fault.ShuttingDown) {
		return time.Second
	}
	return f.RetryAfter
}
