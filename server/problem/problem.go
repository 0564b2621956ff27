// Package problem converts errors to RFC 9457 problem documents. It is the only package that maps faults to HTTP
// statuses. Information that a caller may not see is only logged: for an unclassified error, the document contains
// "Internal error." and a request ID.
package problem

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// MediaType is the content type of every error answer.
const MediaType = "application/problem+json"

// Document is a problem document in the form in which it is sent. It implements error, so that a framework can pass it
// on.
type Document struct {
	Title      string
	Status     int
	Code       fault.Code
	Detail     string
	Errors     []fault.Detail
	Extra      map[string]any // further members, such as currentRevision; they cannot replace the members above
	RetryAfter time.Duration
}

// Of returns the problem document of an error. From a fault, it contains only the fields that callers may see.
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

// GetStatus returns the document's status. A framework uses it to send the document.
func (d *Document) GetStatus() int { return d.Status }

// GetHeaders returns the document's headers. A framework uses it to send the document.
func (d *Document) GetHeaders() http.Header {
	h := http.Header{}
	if d.RetryAfter > 0 {
		seconds := (d.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if d.Code == fault.Unauthenticated {
		h.Set("WWW-Authenticate", `Bearer realm="atelier"`)
	}
	return h
}

// ContentType returns the content type of problem documents. A framework uses it instead of plain JSON.
func (d *Document) ContentType(string) string { return MediaType }

// MarshalJSON writes the document as one object. The members of RFC 9457 come first, then the other fields, and then
// the extra members, sorted by name.
func (d *Document) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	known := struct {
		Type   string         `json:"type"`
		Title  string         `json:"title"`
		Status int            `json:"status"`
		Code   fault.Code     `json:"code"`
		Detail string         `json:"detail"`
		Errors []fault.Detail `json:"errors,omitempty"`
	}{"about:blank", d.Title, d.Status, d.Code, d.Detail, d.Errors}
	if err := encode(&text, known); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(d.Extra)) {
		if slices.Contains([]string{"type", "title", "status", "code", "detail", "errors"}, name) {
			continue
		}
		text.Truncate(text.Len() - 1) // Remove the closing brace.
		text.WriteByte(',')
		if err := encode(&text, name); err != nil {
			return nil, err
		}
		text.WriteByte(':')
		if err := encode(&text, d.Extra[name]); err != nil {
			return nil, err
		}
		text.WriteByte('}')
	}
	return text.Bytes(), nil
}

// encode writes the JSON of v without escaping <, > and &.
func encode(text *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	text.Truncate(len(bytes.TrimSuffix(text.Bytes(), []byte{'\n'})))
	return err
}

func retryAfter(f *fault.Error) time.Duration {
	if f.RetryAfter == 0 && (f.Code == fault.QueueFull || f.Code == fault.QuotaExceeded || f.Code == fault.TooManyRequests || f.Code == fault.StorageUnavailable || f.Code == fault.ShuttingDown) {
		return time.Second
	}
	return f.RetryAfter
}
