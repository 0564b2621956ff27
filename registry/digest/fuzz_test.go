package digest_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
)

// FuzzOf searches for different content with equal digests and equal content with different digests.
func FuzzOf(f *testing.F) {
	f.Add("main.ts", []byte("export default 1"), []byte(`{"type":"object","properties":{"days":{"maximum":7}}}`), "UNITS", "metric")
	f.Add("a/b.py", []byte{0xff, 0}, []byte(`{"b":1.0,"a":[1e2,-0,"\u2028"]}`), "", "")
	f.Add("main.sh", []byte{}, []byte(`{"a":{"a":1},"A":9007199254740993}`), "A=B", "\x00")
	f.Fuzz(func(t *testing.T, name string, content, schema []byte, key, value string) {
		v := sample()
		v.Files, v.Entrypoint, v.InputSchema = map[string]registry.File{name: content}, name, schema
		v.Environment = map[string]string{key: value}
		sums, err := digest.Of(v)
		if err != nil {
			return
		}
		if again, err := digest.Of(v); err != nil || again != sums {
			t.Fatalf("%+v, then %+v, %v", sums, again, err)
		}
		var spaced bytes.Buffer
		if json.Indent(&spaced, schema, " ", "\t") == nil {
			v.InputSchema = spaced.Bytes()
			if same, err := digest.Of(v); err != nil || same != sums {
				t.Fatalf("space counts: %+v, %+v, %v", sums, same, err)
			}
			v.InputSchema = schema
		}
		v.Files = map[string]registry.File{name: append(bytes.Clone(content), 'x')}
		other, err := digest.Of(v)
		if err != nil || other.Code == sums.Code || other.Content == sums.Content || other.Version == sums.Version {
			t.Fatalf("other content, %+v, %+v, %v", sums, other, err)
		}
		if files := map[string][]byte{name: content, name + "x": nil}; len(files) == 2 {
			if code, err := digest.Code(files, name); err == nil && code == sums.Code {
				t.Fatal("a further file does not change the digest")
			}
		}
	})
}
