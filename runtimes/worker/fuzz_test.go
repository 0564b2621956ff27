package worker_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/atelier-run/atelier/runtimes/worker"
)

// FuzzResult checks with another reader that accepted results have the properties that their readers rely on.
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
			t.Fatalf("%q is %q at the second look, %v", checked, again, err)
		}
		depth, keys := 0, []map[string]bool{}
		dec := json.NewDecoder(bytes.NewReader(checked))
		dec.UseNumber()
		if err := walk(dec, &depth, &keys); err != nil {
			t.Fatalf("%q: %v", checked, err)
		}
	})
}

// walk reads one value token by token and rejects excessive depth and duplicate keys.
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
				return errors.New("a key twice: " + key)
			}
			(*keys)[top][key] = true
			isKey[top] = false
		}
	}
}
