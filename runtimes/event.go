package runtimes

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"
)

// Kind is the kind of an event.
type Kind string

// Kinds of events, with their names in the HTTP contract.
const (
	KindStatus   Kind = "status"
	KindStdout   Kind = "stdout"
	KindStderr   Kind = "stderr"
	KindLog      Kind = "log"
	KindProgress Kind = "progress"
	KindCall     Kind = "call"
	KindEgress   Kind = "egress"
	KindResult   Kind = "result"
	KindDropped  Kind = "dropped"
)

// MaxChunk is the largest stdout or stderr event in bytes; longer output is several events, cut at UTF-8 borders.
const MaxChunk = 32 << 10

// Event is one ordered event of a run. Runtimes set Kind and Data, and At if they know it better than the recorder. The
// recorder numbers events from 1. Data is JSON: a string for stdout and stderr, an object otherwise.
type Event struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// WriteJSON writes the event as JSON without a copy of its data, which may be large. Line breaks between the values of the
// data are removed, because a server-sent event ends at one.
func (e Event) WriteJSON(w io.Writer) error {
	at, err := e.At.MarshalJSON()
	if err != nil {
		return err
	}
	data := []byte(e.Data)
	switch {
	case len(data) == 0:
		data = []byte("null")
	case bytes.ContainsAny(data, "\r\n"):
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			return err
		}
		data = compact.Bytes()
	}
	head := `{"seq":` + strconv.FormatInt(e.Seq, 10) + `,"at":` + string(at) + `,"kind":` + strconv.Quote(string(e.Kind)) + `,"data":`
	for _, part := range [][]byte{[]byte(head), data, []byte("}")} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// LogData is the data of a log event.
type LogData struct {
	Level   string          `json:"level"` // debug, info, warn, error
	Message string          `json:"message"`
	Fields  json.RawMessage `json:"fields,omitempty"`
}

// ProgressData is the data of a progress event; Total is 0 when the program does not know it.
type ProgressData struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total"`
	Message string  `json:"message,omitempty"`
}

// StatusData is the data of a status event. Position counts from 1 and is set while the run is queued, as is the
// estimated time until it starts.
type StatusData struct {
	Status         string `json:"status"`
	Position       int    `json:"position,omitempty"`
	ExpectedWaitMs int64  `json:"expectedWaitMs,omitempty"`
}

// DroppedData holds how many bytes of output exceeded the limit and were dropped.
type DroppedData struct {
	Bytes int64 `json:"bytes"`
}

// Decision is the result of a network request.
type Decision string

// A request is denied by a rule of the server, failed at its destination, or was allowed and is complete.
const (
	EgressAllowed Decision = "allowed"
	EgressDenied  Decision = "denied"
	EgressFailed  Decision = "failed"
)

// EgressData is the data of an egress event: the destination and the result of a request. It has no path, query, header
// or body, because those may hold secrets.
type EgressData struct {
	Host     string   `json:"host"`
	Port     uint16   `json:"port"`
	Decision Decision `json:"decision"`
	Rule     string   `json:"rule"`  // the grant that allowed it, or the rule that denied it
	Bytes    int64    `json:"bytes"` // in both directions
	Ms       float64  `json:"ms"`
}

// CallData is the data of a call event: a program called another agent, or a host function. A call of an agent has one
// event when its run starts and one when it ends. A call that started no run has only the last one, with an error and
// without a run.
type CallData struct {
	Reference string  `json:"reference,omitempty"` // of an agent as declared, name@^1
	Function  string  `json:"function,omitempty"`  // host function
	Path      string  `json:"path,omitempty"`      // file that a host function worked on
	Bytes     int64   `json:"bytes,omitempty"`     // that it read or wrote
	Tokens    int64   `json:"tokens,omitempty"`    // of the language model
	Version   string  `json:"version,omitempty"`
	RunID     string  `json:"runId,omitempty"`
	Status    string  `json:"status"` // of the run; refused if there was none; of a host function succeeded or refused
	Error     string  `json:"error,omitempty"`
	Ms        float64 `json:"ms,omitempty"` // set at the end
}

// Text returns a stdout or stderr event. Invalid UTF-8 is replaced, as encoding/json does.
func Text(kind Kind, s string) Event {
	data, _ := json.Marshal(s) // a string always marshals
	return Event{Kind: kind, Data: data}
}
