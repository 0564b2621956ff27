package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/atelier-run/atelier/registry/schema"
)

// TestFormats checks the asserted formats with our own cases. Comments name the documents that define the formats.
func TestFormats(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ takes, refuses []string }{
		"date": { // RFC 3339, full-date
			takes:   []string{"2026-01-31", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"},
			refuses: []string{"", "2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-31", "26-01-31", "2026/01/31", "20260131", "2026-01-31 ", "2026-01-31T00:00:00Z", "२०२६-01-31", "2026-W05-6"},
		},
		"time": { // full-time: an offset is required, a leap second is 23:59:60 in UTC
			takes:   []string{"00:00:00Z", "23:59:59z", "12:30:00.5Z", "12:30:00.123456789+05:30", "23:59:60Z", "01:29:60+01:30", "00:00:00-23:59"},
			refuses: []string{"", "12:30:00", "24:00:00Z", "12:60:00Z", "12:30:61Z", "12:30:60Z", "12:30Z", "1:30:00Z", "12:30:00.Z", "12:30:00+24:00", "12:30:00+05:60", "12:30:00+0530", "12:30:00 Z", "12:30:00,5Z", "12:30:00UTC"},
		},
		"date-time": {
			takes:   []string{"2026-01-31T12:30:00Z", "2026-01-31t12:30:00z", "2026-01-31T12:30:00.25+05:30", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60-08:00"},
			refuses: []string{"", "2026-01-31", "2026-01-31T12:30:00", "2026-01-31 12:30:00Z", "2026-02-30T12:30:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:30Z", "1998-12-31T22:59:60Z", "20260131T123000Z", "2026-031T12:30:00Z"},
		},
		"email": { // RFC 5321, Mailbox
			takes:   []string{"ada@example.com", "ada.lovelace+tag@mail.example.com", "a@b", "!#$%&'*+/=?^_`{|}~-@example.com"},
			refuses: []string{"", "ada", "@example.com", "ada@", ".ada@example.com", "ada.@example.com", "a..da@example.com", "ada lovelace@example.com"},
		},
		"ipv4": { // RFC 2673, dotted-quad
			takes:   []string{"0.0.0.0", "127.0.0.1", "255.255.255.255"},
			refuses: []string{"", "256.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.04", "0x7f.0.0.1", "1.2.3.4/8", "1.2.3.4 ", "::1", "１.2.3.4", "2130706433"},
		},
		"ipv6": { // RFC 4291, section 2.2: no zone, no length of a prefix
			takes:   []string{"::", "::1", "2001:db8::8:800:200c:417a", "FF01:0:0:0:0:0:0:101", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"},
			refuses: []string{"", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "::g", "fe80::1%eth0", "::1/64", "[::1]", ":1:2:3:4:5:6:7", "192.0.2.1", "::ffff:192.0.2.256"},
		},
		"uri": { // RFC 3986: with a scheme
			takes:   []string{"https://example.com/a?b=c#d", "http://[2001:db8::1]:8080/", "mailto:ada@example.com", "urn:isbn:0451450523", "file:///etc/hosts", "http://example.com/%7Eada"},
			refuses: []string{"", "/a/b", "//example.com/a", "example.com", ":a", "http://exa mple.com", "http://example.com/<a>", `http://example.com/a\b`, "http://example.com/%zz", "http://example.com/é", "http://example.com/[a]"},
		},
		"json-pointer": { // RFC 6901
			takes:   []string{"", "/", "/a", "/a~1b/~0c/0", "/é", "//"},
			refuses: []string{"a", "#/a", "/a~", "/~2", "0/a"},
		},
		"uuid": { // RFC 9562, with hyphens
			takes:   []string{"0190f0f0-0000-7000-8000-000000000001", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "00000000-0000-0000-0000-000000000000"},
			refuses: []string{"", "0190f0f000007000800000000000000a", "0190f0f0-0000-7000-8000-00000000000", "0190f0f0-0000-7000-8000-0000000000012", "0190f0f0-0000-7000-8000-00000000000g", "{0190f0f0-0000-7000-8000-000000000001}", "0190f0f00-000-7000-8000-000000000001"},
		},
	}
	for format, tt := range tests {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile(json.RawMessage(`{"format":"` + format + `"}`))
			if err != nil {
				t.Fatal(err)
			}
			check := func(texts []string, want bool) {
				for _, text := range texts {
					document, err := json.Marshal(text)
					if err != nil {
						t.Fatal(err)
					}
					if got := len(s.Validate(document)) == 0; got != want {
						t.Errorf("%q: valid %v, want %v", text, got, want)
					}
				}
			}
			check(tt.takes, true)
			check(tt.refuses, false)
			for _, other := range []string{"1", "null", "[]", "{}", "true"} { // a format applies only to strings
				if len(s.Validate(json.RawMessage(other))) != 0 {
					t.Errorf("%s is refused", other)
				}
			}
		})
	}
}

// TestLargeNumbers checks that numbers that no float can represent are compared by their decimal digits.
func TestLargeNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema, document string
		valid            bool
	}{
		{`{"type":"integer"}`, `60221407600000000000000000000000000000000000000000001`, true},
		{`{"type":"integer"}`, `-60221407600000000000000000000000000000000000000000001`, true},
		{`{"type":"integer"}`, `60221407600000000000000000000000000000000000000000001.5`, false},
		{`{"type":"string"}`, `60221407600000000000000000000000000000000000000000001`, false},
		{`{"maximum":18446744073709551615}`, `18446744073709551615`, true},
		{`{"maximum":18446744073709551615}`, `18446744073709551616`, false},
		{`{"exclusiveMaximum":100000000000000000000000000.000000001}`, `100000000000000000000000000.000000000`, true},
		{`{"exclusiveMaximum":100000000000000000000000000.000000001}`, `100000000000000000000000000.000000001`, false},
		{`{"minimum":-18446744073709551615}`, `-18446744073709551616`, false},
		{`{"multipleOf":0.1}`, `12345678901234567890.1`, true},
		{`{"multipleOf":0.1}`, `12345678901234567890.15`, false},
		{`{"const":9007199254740993}`, `9007199254740992`, false},
		{`{"enum":[1e2]}`, `100.0`, true},
	}
	for _, tt := range tests {
		s, err := schema.Compile(json.RawMessage(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Validate(json.RawMessage(tt.document))) == 0; got != tt.valid {
			t.Errorf("%s of %s: valid %v, want %v", tt.document, tt.schema, got, tt.valid)
		}
	}
}
