package jcs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/jcs"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := jcs.Parse([]byte(` {"b":[1.50,true,null,"\u00e9"],"a":{},"c":[]} `), jcs.Limits{})
	want := jcs.Document{
		Canonical: []byte(`{"a":{},"b":[1.5,true,null,"é"],"c":[]}`),
		Value:     map[string]any{"a": map[string]any{}, "b": []any{json.Number("1.50"), true, nil, "é"}, "c": []any{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
}

func TestCount_EveryThousandAndAtTheEnd_ItsErrorEnds(t *testing.T) {
	t.Parallel()
	var counts []int
	limits := jcs.Limits{Count: func(values int) error { counts = append(counts, values); return nil }}
	text := []byte("[" + strings.Repeat("1,", 2000) + `{"a":1}]`)
	if err := jcs.Check(text, limits); err != nil || !cmp.Equal(counts, []int{1024, 2004}) {
		t.Errorf("%v, %v", counts, err)
	}
	full := errors.New("full")
	limits.Count = func(values int) error {
		if values > 1000 {
			return full
		}
		return nil
	}
	if _, err := jcs.Decode(text, limits); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
