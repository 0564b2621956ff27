package assist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// edit replaces the text Old in a file by New. If Old is empty, the edit creates the file.
type edit struct {
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// document decodes the JSON object in a model's answer. It skips prose and code fences around the object.
func document(text string, into any) error {
	begin, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if begin < 0 || end < begin {
		return errors.New("the answer contains no JSON object")
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text[begin : end+1])))
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("the answer is not a JSON object of the requested form: %s", fault.Shown(err.Error(), 200))
	}
	return nil
}

// apply returns all files after the edits, and the names of the changed files. It does not modify the given files.
func apply(files map[string]registry.File, edits []edit) (map[string]registry.File, map[string]registry.File, error) {
	if len(edits) == 0 {
		return nil, nil, errors.New("the answer has no edits")
	}
	all, changed := make(map[string]registry.File, len(files)), map[string]registry.File{}
	for name, content := range files {
		all[name] = content
	}
	for i, e := range edits {
		before, exists := all[e.File]
		switch {
		case e.Old == "" && exists && len(bytes.TrimSpace(before)) > 0:
			return nil, nil, fmt.Errorf("edits[%d]: old is empty, but the file %q exists; give the text to replace", i, shownPath(e.File))
		case e.Old == "":
			all[e.File] = registry.File(e.New)
		case !exists:
			return nil, nil, fmt.Errorf("edits[%d]: there is no file %q", i, shownPath(e.File))
		default:
			if n := strings.Count(string(before), e.Old); n != 1 {
				return nil, nil, fmt.Errorf("edits[%d]: the old text occurs %d times in %q, not once; copy more of its surroundings exactly", i, n, shownPath(e.File))
			}
			all[e.File] = registry.File(strings.Replace(string(before), e.Old, e.New, 1))
		}
		changed[e.File] = all[e.File]
	}
	for name := range changed {
		if bytes.Equal(files[name], all[name]) {
			delete(changed, name)
		}
	}
	if len(changed) == 0 {
		return nil, nil, errors.New("the edits change nothing")
	}
	return all, changed, nil
}

func shownPath(name string) string { return fault.Shown(name, 100) }

// textsOf returns the text files of a program, for a prompt.
func textsOf(files map[string]registry.File) map[string]string {
	texts := map[string]string{}
	for name, content := range files {
		if utf8.Valid(content) {
			texts[name] = string(content)
		}
	}
	return texts
}
