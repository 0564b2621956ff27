package tests_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/studio/tests"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expected, actual string
		ignore           []string
		want             string // expected pointers and messages
	}{
		"equal in another order":       {`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1.0}`, nil, ""},
		"large integers":               {`12345678901234567890`, `12345678901234567891`, nil, " is 12345678901234567891 instead of 12345678901234567890."},
		"another type":                 {`{"a":{}}`, `{"a":[]}`, nil, "/a is [] instead of {}."},
		"null is not false":            {`null`, `false`, nil, " is false instead of null."},
		"missing and unexpected":       {`{"a":1,"b/c":2}`, `{"a":1,"d~":2}`, nil, "/b~1c is missing. /d~0 is not expected."},
		"shorter and longer":           {`[[1,2],[1]]`, `[[1],[1,2]]`, nil, "/0/1 is missing. /1/1 is not expected."},
		"ignored":                      {`{"at":1,"b":2}`, `{"b":2,"at":{"x":1}}`, []string{"/at"}, ""},
		"ignored and missing":          {`{"at":1}`, `{}`, []string{"/at"}, ""},
		"ignored in elements":          {`[{"id":1,"n":1},{"id":2,"n":2}]`, `[{"id":8,"n":1},{"id":9,"n":3}]`, []string{"/*/id"}, "/1/n is 3 instead of 2."},
		"a star is no name":            {`{"a":{"id":1}}`, `{"a":{"id":2}}`, []string{"/*/id"}, "/a/id is 2 instead of 1."},
		"a star as a name":             {`{"*":1}`, `{"*":2}`, []string{"/*"}, ""},
		"one ignored element":          {`[1,2]`, `[3,4]`, []string{"/0"}, "/1 is 4 instead of 2."},
		"a pointer with escapes":       {`{"a/b":{"c~":1}}`, `{"a/b":{"c~":2}}`, []string{"/a~1b/c~0"}, ""},
		"an ignored part is not below": {`{"a":1}`, `{"a":2}`, []string{"/a/b"}, "/a is 2 instead of 1."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := tests.Compare(json.RawMessage(tt.expected), json.RawMessage(tt.actual), tt.ignore)
			var got []string
			for _, d := range found {
				got = append(got, d.Pointer+" "+d.Message)
			}
			if err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("got %q (%v), want %q", strings.Join(got, " "), err, tt.want)
			}
		})
	}
}

// The number and the size of the differences are limited, however large the output is.
func TestCompare_ManyDifferences_Bounded(t *testing.T) {
	t.Parallel()
	long := json.RawMessage("[" + strings.Repeat("1,", 5000) + "1]")
	other := json.RawMessage("[" + strings.Repeat("2,", 5000) + `"` + strings.Repeat("x", 9000) + `"]`)
	found, err := tests.Compare(long, other, nil)
	if err != nil || len(found) != 50 {
		t.Errorf("%d differences (%v)", len(found), err)
	}
	found, err = tests.Compare(json.RawMessage(`{"a":1}`), json.RawMessage(`{"a":"`+strings.Repeat("x", 9000)+`"}`), nil)
	if err != nil || len(found) != 1 || found[0].Actual != nil || found[0].Message != "is different." {
		t.Errorf("%+v (%v)", found, err)
	}
}
