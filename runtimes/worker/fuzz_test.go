package worker_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// FuzzResult checks with a separate JSON reader that an accepted result is valid JSON without duplicate keys and with
// limited nesting, and that checking it again changes nothing.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,null,"x"]}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, ` [ 1 , 2 ] `, `"\ud83c\udf89"`, `"\ud83c"`, `"\udf89\ud83c"`, `{"\ud800":1}`,
		"\"\xff\"", `NaN`, `[1e999]`, `-0`, `01`, `{"a":{"a":{"a":1}}}`, strings.Repeat("[", 257) + strings.Repeat("]", 257), strings.Repeat("[", 256) + strings.Repeat("]", 256),
		"\"\x00\"", `{"":0,"\u0000":1}`, `1 2`, ``, `{"a":1,}`, "\ufeff1", `"\u2028<script>"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		checked, err := worker.CheckResult(raw)
		if err != nil {
			if checked != nil || len(err.Error()) > 2000 && len(raw) < 1000 {
				t.Fatalf("%q with %v", checked, err)
			}
			return
		}
		if !utf8.Valid(checked) || !json.Valid(checked) {
			t.Fatalf("%q passed as %q", raw, checked)
		}
		if again, err := worker.CheckResult(checked); err != nil || !bytes.Equal(again, checked) {
			t.Fatalf("%q is %q after a second check, %v", checked, again, err)
		}
		depth, keys := 0, []map[string]bool{}
		dec := json.NewDecoder(bytes.NewReader(checked))
		dec.UseNumber()
		if err := walk(dec, &depth, &keys); err != nil {
			t.Fatalf("%q: %v", checked, err)
		}
	})
}

// FuzzGuestMessages sends arbitrary messages of a guest script, because a program can write every byte of them. The outcome
// must be a valid output, or an error of a type that a program may report, with texts of limited length.
func FuzzGuestMessages(f *testing.F) {
	f.Add([]byte(`{"end":{"output":[1]}}`), []byte(nil))
	f.Add([]byte(`{"ahead":true}`), []byte(`{"end":{"output":{"a":1,"a":2}},"code":0}`))
	f.Add([]byte(`{"ahead":true}`), []byte(`{"end":{"error":{"type":"interrupted","message":"The server stopped.","file":"/etc/passwd","line":1}}}`))
	f.Add([]byte(`{"end":{"error":{"type":"denied","rule":"x","grant":{"hosts":["a:1","b:2"]}}}}`), []byte(`{"end":null}`))
	f.Fuzz(func(t *testing.T, stats, parts []byte) {
		if !json.Valid(stats) || len(stats)+len(parts) > 64<<10 {
			return
		}
		crash := func(int) *runtimes.ProgramError { return &runtimes.ProgramError{Type: runtimes.RuntimeError} }
		task := worker.Task{Job: job(), Interpret: func(r frames.Result) frames.Result {
			r, _ = program.Conclude(r, crash)
			return r
		}}
		outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
			a.begin()
			a.send(frames.Part, string(parts))
			a.send(frames.Done, `{"stats":`+string(stats)+`}`)
		}), task, newAudience())
		switch e := outcome.Error; {
		case err != nil:
			t.Fatal(err)
		case e == nil && !json.Valid(outcome.Output), e != nil && outcome.Output != nil:
			t.Fatalf("%q, %+v", outcome.Output, e)
		case e != nil && (slices.Contains([]runtimes.ErrorType{"", runtimes.Interrupted, runtimes.Cancelled}, e.Type) || e.File == "/etc/passwd" || len(e.Message) > 16<<10):
			t.Fatalf("%+v", e)
		}
	})
}

// walk reads one JSON value token by token. It returns an error if the nesting is too deep or a key is duplicate.
func walk(dec *json.Decoder, depth *int, keys *[]map[string]bool) error {
	isKey := []bool{}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		top := len(isKey) - 1
		switch value := token.(type) {
		case json.Delim:
			if value == '{' || value == '[' {
				if top >= 0 && (*keys)[top] != nil {
					isKey[top] = true
				}
				isKey = append(isKey, true)
				seen := map[string]bool(nil)
				if value == '{' {
					seen = map[string]bool{}
				}
				*keys = append(*keys, seen)
				if *depth++; *depth > 256 {
					return errors.New("too deep")
				}
				continue
			}
			isKey, *keys = isKey[:top], (*keys)[:top]
			*depth--
		default:
			if top < 0 || (*keys)[top] == nil {
				continue
			}
			if !isKey[top] {
				isKey[top] = true
				continue
			}
			key, ok := value.(string)
			if !ok || (*keys)[top][key] {
				return errors.New("duplicate key: " + key)
			}
			(*keys)[top][key] = true
			isKey[top] = false
		}
	}
}
