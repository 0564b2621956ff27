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

// MaxChunk is the maximum size of a stdout or stderr event in bytes. Longer output is divided into several events at
// the boundaries of UTF-8 characters.
const MaxChunk = 32 << 10

// Event is one event of a run. A runtime sets Kind and Data. It sets At only if its time is more precise than that of
// the recorder. The recorder numbers the events of a run from 1. Data is JSON: a string for stdout and stderr, an
// object otherwise.
type Event struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// WriteJSON writes the event as JSON without copying its data, which may be large. It removes line breaks between the
// values of the data, because a line break ends the data line of a server-sent event.
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

// ProgressData is the data of a progress event. Total is 0 if the program does not know the total.
type ProgressData struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total"`
	Message string  `json:"message,omitempty"`
}

// StatusData is the data of a status event. Position and ExpectedWaitMs are set while the run is queued. Position is
// the run's position in the queue, from 1. ExpectedWaitMs is the estimated time until the run starts.
type StatusData struct {
	Status         string `json:"status"`
	Position       int    `json:"position,omitempty"`
	ExpectedWaitMs int64  `json:"expectedWaitMs,omitempty"`
}

// DroppedData is the number of bytes of output that were dropped because the output exceeded its limit.
type DroppedData struct {
	Bytes int64 `json:"bytes"`
}

// Decision is the result of a network request.
type Decision string

// EgressAllowed: the request was allowed and is complete. EgressDenied: a rule of the server denied the request.
// EgressFailed: the request was allowed but failed.
const (
	EgressAllowed Decision = "allowed"
	EgressDenied  Decision = "denied"
	EgressFailed  Decision = "failed"
)

// EgressData is the data of an egress event: the destination and the result of a request. It does not contain the path,
// query, headers or body, because these may contain secrets.
type EgressData struct {
	Host     string   `json:"host"`
	Port     uint16   `json:"port"`
	Decision Decision `json:"decision"`
	Rule     string   `json:"rule"`  // the grant that allowed the request, or the rule that denied it
	Bytes    int64    `json:"bytes"` // bytes sent and received
	Ms       float64  `json:"ms"`
}

// CallData is the data of a call event: a program called another agent or a host function. A call of an agent has one
// event when the called run starts and one event when that run ends. If the call started no run, there is only the
// second event, with an error and without a run.
type CallData struct {
	Reference string  `json:"reference,omitempty"` // called agent, as the version declares it, for example name@^1
	Function  string  `json:"function,omitempty"`  // called host function
	Path      string  `json:"path,omitempty"`      // file that the host function read or wrote
	Bytes     int64   `json:"bytes,omitempty"`     // bytes that the host function read or wrote
	Tokens    int64   `json:"tokens,omitempty"`    // tokens that the language model used
	Version   string  `json:"version,omitempty"`
	RunID     string  `json:"runId,omitempty"`
	Status    string  `json:"status"` // status of the called run, refused if no run started; for a host function succeeded or refused
	Error     string  `json:"error,omitempty"`
	Ms        float64 `json:"ms,omitempty"` // set in the event at the end of the call
}

// Text returns a stdout or stderr event. It replaces invalid UTF-8 like encoding/json.
func Text(kind Kind, s string) Event {
	data, _ := json.Marshal(s) // marshaling a string never fails
	return Event{Kind: kind, Data: data}
}
