package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/atelier-run/atelier/internal/redact"
)

// value contains characters that each encoding writes differently.
const value = `s3cr<t/Key+"é&%~ ?\1=`

// spellings returns the encodings of a value that programs produce.
func spellings(t *testing.T, value string) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(quoted))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"plain": value, "upper case": strings.ToUpper(value), "json": string(quoted), "json in json": string(twice), "python": strconv.QuoteToASCII(value),
		"query": url.QueryEscape(value), "path": url.PathEscape(value), "query twice": url.QueryEscape(url.QueryEscape(value)),
		"query, lower case": strings.ToLower(url.QueryEscape(value)), "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"hex dump": fmt.Sprintf("% x", value), "hex with colons": strings.ReplaceAll(fmt.Sprintf("% X", value), " ", ":"),
	}
	var escaped strings.Builder
	for _, r := range value {
		fmt.Fprintf(&escaped, `\u%04X`, r)
	}
	all["every character escaped"] = escaped.String()
	for shift := range 3 {
		for tail := range 3 {
			raw := []byte(strings.Repeat("a", shift) + value + strings.Repeat("z", tail))
			for name, encoding := range map[string]*base64.Encoding{
				"std": base64.StdEncoding, "std, raw": base64.RawStdEncoding, "url": base64.URLEncoding, "url, raw": base64.RawURLEncoding,
			} {
				all[fmt.Sprintf("base64 %s, %d before, %d after", name, shift, tail)] = encoding.EncodeToString(raw)
			}
			all[fmt.Sprintf("base64 in a query, %d before, %d after", shift, tail)] = url.QueryEscape(base64.StdEncoding.EncodeToString(raw))
		}
	}
	return all
}

// most is the maximum number of characters of an encoded value that may remain unredacted. In base64, the first and last
// characters also depend on adjacent bytes, so they cannot be found.
const most = 16

func TestEverySpellingIsRedactedWhereverItIsCut(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{value, "0123456789abcdef", "12345678", "Tr0ub4dor", "pass word", "\\\\\\\\\\\\\\\\", "%%%%%%%%", "++++++++", strings.Repeat("A7", 500)} {
		m := redact.New([]string{secret})
		for name, spelling := range spellings(t, secret) {
			text := "before " + spelling + " after"
			if got := m.Text(text); !strings.Contains(got, redact.Stars) || len(got) > len("before  after")+most || !strings.HasSuffix(got, " after") {
				t.Errorf("%.20q, %s: %q became %q", secret, name, text, got)
			}
			for cut := 1; cut < len(text); cut += 1 + len(text)/97 {
				s := m.Stream()
				if got, want := s.Write(text[:cut])+s.Write(text[cut:])+s.End(), m.Text(text); got != want {
					t.Errorf("%.20q, %s cut at %d: %q, want %q", secret, name, cut, got, want)
				}
			}
			s, bytewise := m.Stream(), ""
			for i := range len(text) {
				bytewise += s.Write(text[i : i+1])
			}
			if bytewise += s.End(); bytewise != m.Text(text) {
				t.Errorf("%.20q, %s byte by byte: %q", secret, name, bytewise)
			}
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	t.Parallel()
	m := redact.New([]string{value, "0123456789abcdef"})
	for _, text := range []string{"", "s", "s3cr", "hello\nworld", "01234567 89abcdef", `\u0041\n%20+%zz`, strings.Repeat("s3cr<t/", 1000), "grüß 世界 🎉", "\\", "%", "012345"} {
		if got := m.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestShortValuesAreNotLookedFor(t *testing.T) {
	t.Parallel()
	if redact.New([]string{"", "1234567"}) != nil {
		t.Error("there is a mask of values that are too short")
	}
	var none *redact.Redactor
	if none.Text("x") != "x" || string(none.JSON([]byte(`1`))) != "1" || none.Stream().Write("x") != "x" || none.Stream().End() != "" {
		t.Error("no mask masks")
	}
	if none.Even("x") != "x" {
		t.Error("no mask masks")
	}
}

func TestTheLongestOfSeveralIsRedacted(t *testing.T) {
	t.Parallel()
	m := redact.New([]string{"password", "password-and-more"})
	for text, want := range map[string]string{"password-and-more!": "***!", "password-and": "***-and", "password": "***"} {
		s := m.Stream()
		if got := s.Write(text) + s.End(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Tokens of one issuer can share a prefix that is longer than the window. Each must still be redacted to its end.
func TestValuesThatBeginAlikeAreRedactedToTheirEnds(t *testing.T) {
	t.Parallel()
	head := "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + strings.Repeat("eyJpc3MiOiJodHRwczov", 3)
	first, second, third := head+`grüß.\t"signature of the first`, head+`grüß.\t"sign of the second`, head+"ÉÈ of the third"
	m := redact.New([]string{first, second, third})
	for _, secret := range []string{first, second, third} {
		for name, spelling := range spellings(t, secret) {
			text := "before " + spelling + " after"
			if got := m.Text(text); len(got) > len("before  after")+most || !strings.HasSuffix(got, " after") {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			s, bytewise := m.Stream(), ""
			for i := range len(text) {
				bytewise += s.Write(text[i : i+1])
			}
			if bytewise += s.End(); bytewise != m.Text(text) {
				t.Errorf("%s byte by byte: %q", name, bytewise)
			}
			read, err := io.ReadAll(m.Reader(iotest.OneByteReader(strings.NewReader(text))))
			if err != nil || string(read) != m.Even(text) || len(read) != len(text) {
				t.Errorf("%s byte by byte: %q, want %q", name, read, m.Even(text))
			}
		}
	}
}

func TestLinesOfAValueAreRedactedByThemselves(t *testing.T) {
	t.Parallel()
	pem := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n"
	m := redact.New([]string{pem})
	if got := m.Text("line: AQEFAASCBKcwggSjAgEAAoIB."); got != "line: ***." {
		t.Error(got)
	}
	if got := m.Text(pem); strings.Contains(got, "MII") || strings.Contains(got, "AQEF") {
		t.Error(got)
	}
}

func TestStreamsHoldBackLittle(t *testing.T) {
	t.Parallel()
	m := redact.New([]string{strings.Repeat("a", 16000) + "b"})
	s := m.Stream()
	written := 0
	for range 1000 {
		written += len(s.Write(strings.Repeat("a", 1000) + "c"))
	}
	if held := len(s.End()); held > 4096 || written == 0 {
		t.Errorf("%d bytes were held back, %d written", held, written)
	}
}

func TestDocumentsStayDocuments(t *testing.T) {
	t.Parallel()
	m := redact.New([]string{value, "12345678"})
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for document, want := range map[string]string{
		`{"a": ` + string(quoted) + `, "n": [1.50, 12345678, -912345678.5]}`: `{"a": "***", "n": [1.50, "***", "***"]}`,
		`{"12345678":"\u0031\u0032345678 <b>","x":"\ud83c"}`:                 `{"***":"*** <b>","x":"\ud83c"}`,
		`"keeps \u0041 as it is"`:                                            `"keeps \u0041 as it is"`,
		`"broken`:                                                            `"***"`,
		`null`:                                                               `null`,
	} {
		if got := string(m.JSON([]byte(document))); got != want {
			t.Errorf("%s became %s, want %s", document, got, want)
		}
	}
}

func TestEvenKeepsTheLength(t *testing.T) {
	t.Parallel()
	m := redact.New([]string{"password-1"})
	text := "a password-1 b cGFzc3dvcmQtMQ== password-"
	want := "a ********** b *************Q== password-"
	if got := m.Even(text); len(got) != len(text) || got != want {
		t.Errorf("%q, want %q", got, want)
	}
	read, err := io.ReadAll(m.Reader(iotest.OneByteReader(strings.NewReader(text))))
	if err != nil || string(read) != want {
		t.Errorf("%q, %v", read, err)
	}
	long := redact.New([]string{strings.Repeat("ab", 100)})
	text = "x" + strings.Repeat("ab", 100) + "y"
	read, err = io.ReadAll(long.Reader(iotest.HalfReader(strings.NewReader(text))))
	if err != nil || string(read) != "x"+strings.Repeat("*", 200)+"y" {
		t.Errorf("%q, %v", read, err)
	}
}

func FuzzStreamsAreTexts(f *testing.F) {
	f.Add(value, "before "+value+" after", uint8(9))
	f.Add("password", `passw\u006frd %70assword`, uint8(3))
	f.Add(strings.Repeat("\x9e", 200), "no letter begins in it: "+strings.Repeat("\x9e", 200), uint8(3))
	f.Fuzz(func(t *testing.T, secret, text string, size uint8) {
		m := redact.New([]string{secret})
		if m == nil {
			return
		}
		s, got := m.Stream(), ""
		for at := 0; at < len(text); at += int(size) + 1 {
			got += s.Write(text[at:min(len(text), at+int(size)+1)])
		}
		if got += s.End(); got != m.Text(text) {
			t.Errorf("in pieces %q, whole %q", got, m.Text(text))
		}
		if strings.Contains(m.Text(text), secret) && !strings.Contains(secret, "*") {
			t.Errorf("%q is left in %q", secret, m.Text(text))
		}
	})
}

// BenchmarkHostileOutput measures output that makes the search slow: at every byte, nearly a whole value seems to begin.
func BenchmarkHostileOutput(b *testing.B) {
	for _, count := range []int{1, 64} {
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			values := make([]string, count)
			for i := range values {
				values[i] = strings.Repeat("a", 60) + strconv.Itoa(100+i)
			}
			m, text := redact.New(values), strings.Repeat("a", 64<<10)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}
