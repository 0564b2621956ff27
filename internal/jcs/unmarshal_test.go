package jcs_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/jcs"
)

func TestUnmarshal_WholeNumbers(t *testing.T) {
	t.Parallel()
	type limits struct {
		N    int64
		More []int
		Any  any
	}
	for text, want := range map[string]limits{
		`{"n":1e3,"more":[1.0,2,30E-1]}`:      {N: 1000, More: []int{1, 2, 3}},
		`{"n":-0.0}`:                          {},
		`{"more":[7.0, 8.0],"any":1.0,"n":5}`: {N: 5, More: []int{7, 8}, Any: 1.0},
	} {
		var got limits
		if err := jcs.Unmarshal([]byte(text), &got); err != nil || got.N != want.N || len(got.More) != len(want.More) || got.Any != want.Any {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"n":1.5}`, `{"n":1e400}`, `{"n":1e999999999}`, `{"n":99999999999999999999}`, `{"n":"1"}`, `{"n":1.` + strings.Repeat("0", 100) + `}`} {
		if err := jcs.Unmarshal([]byte(text), &limits{}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
