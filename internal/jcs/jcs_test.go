package jcs_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/jcs"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"RFC 8785 3.2.2": {
			in: `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`,
			want: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		"RFC 8785 3.2.3": {
			in: `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
				`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			want: `{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
				`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
		"shorter key first":    {`{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`},
		"nested":               {`{"b":[{"d":1,"c":{"f":1,"e":2}}],"a":{}}`, `{"a":{},"b":[{"c":{"e":2,"f":1},"d":1}]}`},
		"white space":          {" [ 1 ,\t{ \"a\" : [ ] }\r\n] ", `[1,{"a":[]}]`},
		"scalar":               {` "x" `, `"x"`},
		"escapes":              {`"\b\f\n\r\t\u0001\u001f\u007f\u2028<>&\/"`, `"\b\f\n\r\t\u0001\u001f` + "\u007f\u2028" + `<>&/"`},
		"minus zero":           {`[-0,-0.0,0e5,-0E-3]`, `[0,0,0,0]`},
		"big integers":         {`[9007199254740993,-123456789012345678901234567890]`, `[9007199254740993,-123456789012345678901234567890]`},
		"integral doubles":     {`[1.0,1e2,1E+2,100e-2,1e20,1e21]`, `[1,100,100,1,100000000000000000000,1e+21]`},
		"underflow":            {`1e-400`, `0`},
		"escaped key is equal": {`{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := jcs.JSON([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestTidy_ManyForms_OneForm(t *testing.T) {
	t.Parallel()
	const want = `{"b":"ë😀/\n\"\\","a":[1.0,12345678901234567890,-0,1E2,true,null],"":{}}`
	for _, in := range []string{
		want,
		" {\n\t\"b\" : \"\\u00eb\\ud83d\\ude00\\/\\u000a\\u0022\\\\\" ,\r\n \"\\u0061\":[ 1.0,12345678901234567890 ,-0,1E2, true, null ], \"\" : { } }\n",
	} {
		if got := jcs.Tidy([]byte(in)); string(got) != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	for _, in := range []string{`"open`, `"\x"`} {
		if got := jcs.Tidy([]byte(in)); string(got) != in {
			t.Errorf("%s became %s", in, got)
		}
	}
}

// TestDoubles checks the samples of RFC 8785, appendix B.
func TestDoubles(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		// The exponent form is used because an integer literal would keep its digits.
		in := strconv.FormatFloat(math.Float64frombits(bits), 'e', 20, 64)
		got, err := jcs.JSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%016x (%s): got %s (%v), want %s", bits, in, got, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in      string
		reason  jcs.Reason
		pointer string
	}{
		"nothing":                  {"", jcs.Syntax, ""},
		"white space only":         {" \n", jcs.Syntax, ""},
		"two values":               {"1 2", jcs.Syntax, ""},
		"comma at the end":         {`{"a":[1,]}`, jcs.Syntax, "/a/1"},
		"comma in object":          {`{"a":1,}`, jcs.Syntax, ""},
		"bare word":                {`{"a":nul}`, jcs.Syntax, "/a"},
		"NaN":                      {`[NaN]`, jcs.Syntax, "/0"},
		"leading zero":             {`01`, jcs.Syntax, ""},
		"leading plus":             {`+1`, jcs.Syntax, ""},
		"no fraction":              {`1.`, jcs.Syntax, ""},
		"no exponent":              {`1e+`, jcs.Syntax, ""},
		"only a minus":             {`-`, jcs.Syntax, ""},
		"open string":              {`"abc`, jcs.Syntax, ""},
		"open escape":              {`"abc\`, jcs.Syntax, ""},
		"unknown escape":           {`"\x41"`, jcs.Syntax, ""},
		"short escape":             {`"\u12"`, jcs.Syntax, ""},
		"raw line feed":            {"\"a\nb\"", jcs.Syntax, ""},
		"raw NUL":                  {"\x00", jcs.Syntax, ""},
		"byte order mark":          {"\ufeff{}", jcs.Syntax, ""},
		"key without quotes":       {`{a:1}`, jcs.Syntax, ""},
		"open object":              {`{"a":{"b":`, jcs.Syntax, "/a/b"},
		"duplicate":                {`{"x":[{"a":1,"b":2,"a":3}]}`, jcs.DuplicateKey, "/x/0/a"},
		"duplicate in other words": {`{"a":1,"\u0061":1}`, jcs.DuplicateKey, "/a"},
		"pointer escapes":          {`{"a/b":{"c~d":{"e":1,"e":1}}}`, jcs.DuplicateKey, "/a~1b/c~0d/e"},
		"broken UTF-8":             {"\"\xff\"", jcs.BadEncoding, ""},
		"overlong":                 {"\"\xc0\xaf\"", jcs.BadEncoding, ""},
		"surrogate in UTF-8":       {"\"\xed\xa0\x80\"", jcs.BadEncoding, ""},
		"broken after an escape":   {"\"\\n\xff\"", jcs.BadEncoding, ""},
		"high surrogate alone":     {`["\ud800"]`, jcs.BadEncoding, "/0"},
		"high surrogate twice":     {`"\ud800\ud800"`, jcs.BadEncoding, ""},
		"low surrogate alone":      {`"\udc00"`, jcs.BadEncoding, ""},
		"beyond a double":          {`{"n":1e400}`, jcs.BadNumber, "/n"},
		"beyond it without e":      {strings.Repeat("9", 400) + ".5", jcs.BadNumber, ""},
		"too deep":                 {strings.Repeat("[", 257) + strings.Repeat("]", 257), jcs.TooDeep, strings.Repeat("/0", 256)},
		"far too deep and open":    {strings.Repeat(`{"a":`, 1<<20), jcs.TooDeep, strings.Repeat("/a", 256)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := jcs.JSON([]byte(tt.in))
			checked := jcs.Check([]byte(tt.in), jcs.Limits{})
			var e *jcs.Error
			if !errors.As(err, &e) || e.Reason != tt.reason || e.Pointer != tt.pointer {
				t.Errorf("got %#v, want %s at %q", err, tt.reason, tt.pointer)
			}
			if !reflect.DeepEqual(err, checked) {
				t.Errorf("Check says %#v, JSON says %#v", checked, err)
			}
		})
	}
}

func TestCheckLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in     string
		limits jcs.Limits
		want   jcs.Reason
	}{
		"flat object at depth 1": {`{"a":1}`, jcs.Limits{Depth: 1}, ""},
		"nested at depth 1":      {`{"a":[]}`, jcs.Limits{Depth: 1}, jcs.TooDeep},
		"siblings do not add up": {`[[],[],[[]]]`, jcs.Limits{Depth: 3}, ""},
		"bytes met":              {`[1,2]`, jcs.Limits{Bytes: 5}, ""},
		"bytes exceeded":         {`[1,2] `, jcs.Limits{Bytes: 5}, jcs.TooLarge},
		"no limits":              {strings.Repeat("[", 256) + strings.Repeat("]", 256), jcs.Limits{}, ""},
		"depth has a ceiling":    {strings.Repeat("[", 257) + strings.Repeat("]", 257), jcs.Limits{Depth: 1000}, jcs.TooDeep},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := jcs.Check([]byte(tt.in), tt.limits)
			var e *jcs.Error
			if (tt.want == "") != (err == nil) || (errors.As(err, &e) && e.Reason != tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLongKeysDoNotGrowPointers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 1<<16)
	err := jcs.Check([]byte(`{"`+long+`":{"`+long+`":x}}`), jcs.Limits{})
	var e *jcs.Error
	if !errors.As(err, &e) || len(e.Pointer) > 2048 {
		t.Errorf("got a pointer of %d bytes", len(e.Pointer))
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	const want = "sha256:43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777" // printf '{"a":1,"b":2}' | sha256sum
	got, err := jcs.Digest([]byte(` {"b":2.0, "a":1} `))
	if err != nil || got != want {
		t.Errorf("got %s (%v)", got, err)
	}
	value, err := jcs.DigestValue(map[string]any{"a": 1, "b": 2})
	if err != nil || value != want || jcs.Sum([]byte(`{"a":1,"b":2}`)) != want {
		t.Errorf("got %s (%v)", value, err)
	}
	if _, err := jcs.DigestValue(math.NaN()); err == nil {
		t.Error("NaN has a digest")
	}
	if _, err := jcs.Digest([]byte("x")); err == nil {
		t.Error("x has a digest")
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,2.50,-0,1e21,123456789012345678901],"a":{"\ud83d\ude00":"\u000f","\ufb33":null}}`,
		`[[[[]]],{},"",0.1e-7,true,false]`, `{"a":1,"a":2}`, `"\ud800"`, `1e999`, "\"\xff\"", ` `, `{"a" : [ ] , "" : "\/" }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := jcs.JSON(raw)
		if checked := jcs.Check(raw, jcs.Limits{}); (err == nil) != (checked == nil) {
			t.Fatalf("JSON: %v, Check: %v", err, checked)
		}
		if err != nil {
			return
		}
		var before, after any
		if err := json.Unmarshal(raw, &before); err != nil && !strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Fatalf("encoding/json refuses what is accepted: %v", err)
		}
		if err := json.Unmarshal(once, &after); err == nil && !reflect.DeepEqual(before, after) {
			t.Fatalf("%q means %v, %q means %v", raw, before, once, after)
		}
		twice, err := jcs.JSON(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%q became %q (%v)", once, twice, err)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	raw := []byte(`{"zeta":[1,2.50,{"b":"text with \"escapes\" and ümlauts","a":null}],"alpha":{"y":true,"x":-12.5e3},"name":"weather"}`)
	b.Run("canonical", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jcs.JSON(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if err := jcs.Check(raw, jcs.Limits{Depth: 64}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
