package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry"
)

func TestFileJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file registry.File
		want string
	}{
		"text":          {registry.File("print('ä')\n"), `"print('ä')\n"`},
		"empty":         {registry.File{}, `""`},
		"bytes":         {registry.File{0xff, 0x00, 'a'}, `{"base64":"/wBh"}`},
		"broken in two": {registry.File("ä")[:1], `{"base64":"ww=="}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := json.Marshal(map[string]registry.File{"f": tt.file})
			if want := `{"f":` + tt.want + `}`; err != nil || string(raw) != want {
				t.Errorf("got %s (%v), want %s", raw, err, want)
			}
			var back map[string]registry.File
			if err := json.Unmarshal(raw, &back); err != nil || !cmp.Equal(back["f"], tt.file) {
				t.Errorf("got back %q (%v)", back["f"], err)
			}
		})
	}
}

func TestFileRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`null`, `{}`, `{"base64":null}`, `{"b64":"aGk="}`, `{"base64":"aGk=","x":1}`, `{"base64":"aGk"}`, `{"base64":5}`, `5`, `[]`, `true`} {
		f := registry.File("kept")
		if err := json.Unmarshal([]byte(in), &f); err == nil || string(f) != "kept" {
			t.Errorf("%s became %q (%v)", in, f, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("text"))
	f.Add([]byte{0xff, 0xfe})
	f.Add([]byte("<&>\u2028\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		raw, err := json.Marshal(registry.File(content))
		if err != nil {
			t.Fatal(err)
		}
		var back registry.File
		if err := json.Unmarshal(raw, &back); err != nil || string(back) != string(content) {
			t.Errorf("%q became %s became %q (%v)", content, raw, back, err)
		}
	})
}
