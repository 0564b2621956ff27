package hostpattern_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

func TestGrantsThatAreTaken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"api.example.com:443":      "api.example.com:443",
		"API.Example.com:443":      "api.example.com:443",
		"localhost:8080":           "localhost:8080",
		"my_bucket.example.com:80": "my_bucket.example.com:80",
		"*.example.com:443":        "*.example.com:443",
		"xn--bcher-kva.de:443":     "xn--bcher-kva.de:443",
		"127.0.0.1:1":              "127.0.0.1:1",
		"[2001:db8::1]:65535":      "[2001:db8::1]:65535",
		"[2001:DB8:0::1]:443":      "[2001:db8::1]:443",
	} {
		grant, err := hostpattern.ParseGrant(text)
		if err != nil || grant.String() != want {
			t.Errorf("%q is %q, %v", text, grant, err)
		}
	}
}

// TestGrantsThatAreRefused checks that the error names the mistake, and the correct form if it is known.
func TestGrantsThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		"":                                   "must not be empty",
		" ":                                  "must not be empty",
		"*":                                  "a grant of all hosts is not possible",
		"*:443":                              "a grant of all hosts is not possible",
		"https://api.example.com":            "without a scheme or path: api.example.com:443",
		"http://api.example.com/v1":          "without a scheme or path: api.example.com:80",
		"https://[2001:db8::1]/x":            "without a scheme or path: [2001:db8::1]:443",
		"https://user:pw@example.com":        "without a scheme or path: example.com:443",
		"://":                                "without a scheme or path",
		"api.example.com/v1:443":             "without a path",
		"user:pw@example.com:443":            "user name or password",
		"api.example.com":                    "must end in a port",
		"[2001:db8::1]":                      "must end in a port",
		"api.example.com:":                   "one port, from 1 to 65535",
		"api.example.com:0":                  "one port, from 1 to 65535",
		"api.example.com:65536":              "one port, from 1 to 65535",
		"api.example.com:-1":                 "one port, from 1 to 65535",
		"api.example.com:+80":                "one port, from 1 to 65535",
		"api.example.com:https":              "one port, from 1 to 65535",
		"api.example.com:80-90":              "one port, from 1 to 65535",
		"api.example.com:80:443":             "brackets",
		"api.*.com:443":                      "leftmost label",
		"a*.example.com:443":                 "leftmost label",
		"*.*.example.com:443":                "leftmost label",
		"**.example.com:443":                 "leftmost label",
		"*.com:443":                          "at least one label",
		"10.0.0.0/8:443":                     "address range",
		"10.0.0.0/8":                         "address range",
		"[2001:db8::]/32":                    "address range",
		"*.0.0.1:80":                         "address range",
		"10.0.0.1-10.0.0.9:80":               "address range",
		"10.0.0.1-9:80":                      "address range",
		"2130706433:80":                      "usual form",
		"0x7f.1:80":                          "usual form",
		"0177.0.0.1:80":                      "usual form",
		"127.1:80":                           "usual form",
		"1.2.3.4.5:80":                       "usual form",
		"256.1.1.1:80":                       "usual form",
		"[::ffff:127.0.0.1]:80":              "written as an IPv4 address: 127.0.0.1:80",
		"[fe80::1%eth0]:80":                  "zone",
		"[::1:80":                            "brackets",
		"[nonsense]:80":                      "brackets",
		"[127.0.0.1]:80":                     "brackets",
		"2001:db8::1:443":                    "brackets",
		"аpi.example.com:443":                "xn--pi-6kc.example.com:443", // the first letter is Cyrillic
		"bücher.de:443":                      "xn--bcher-kva.de:443",
		"ａpi.example.com:443":                "api.example.com:443", // full width
		"api.example.com.:443":               "must not end in a dot",
		"api..example.com:443":               "not a valid host name",
		"-api.example.com:443":               "not a valid host name",
		"api.example.com :443":               "spaces",
		"api.example.com:443\n":              "spaces",
		"api,example.com:443":                "not a valid host name",
		"xn--zzzzzz-.com:443":                "not a valid host name",
		":443":                               "have a host before the port",
		strings.Repeat("a", 64) + ".com:443": "not a valid host name",
	} {
		_, err := hostpattern.ParseGrant(text)
		if err == nil {
			t.Errorf("%q is taken", text)
		} else if !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want it to say %q", text, err, reason)
		}
	}
}

func grant(t *testing.T, text string) hostpattern.Grant {
	t.Helper()
	g, err := hostpattern.ParseGrant(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		grant, target string
		want          bool
	}{
		{"api.example.com:443", "api.example.com:443", true},
		{"api.example.com:443", "API.EXAMPLE.COM.:443", true},
		{"api.example.com:443", "api.example.com:80", false},
		{"api.example.com:443", "example.com:443", false},
		{"api.example.com:443", "api.example.com.evil.org:443", false},
		{"*.example.com:443", "api.example.com:443", true},
		{"*.example.com:443", "a.b.example.com:443", true},
		{"*.example.com:443", "example.com:443", false},
		{"*.example.com:443", "evilexample.com:443", false},
		{"xn--bcher-kva.de:443", "BÜCHER.de:443", true},
		{"127.0.0.1:80", "127.0.0.1:80", true},
		{"127.0.0.1:80", "[::ffff:127.0.0.1]:80", true},
		{"127.0.0.1:80", "１２７.０.０.１:80", true},
		{"127.0.0.1:80", "127.0.0.2:80", false},
		{"[::1]:80", "[0:0:0:0:0:0:0:1]:80", true},
		{"[::1]:80", "127.0.0.1:80", false},
	} {
		target, err := hostpattern.ParseHostPort(tt.target, 0)
		if err != nil {
			t.Errorf("%s: %v", tt.target, err)
			continue
		}
		if got := grant(t, tt.grant).Covers(target); got != tt.want {
			t.Errorf("%s covers %s: %v", tt.grant, target, got)
		}
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "1.2.3.4.5", "256.1.1.1", "0x", "127.0.0.0x1",
		"", ".", "a..b", "-a.com", "a-.com", "a b.com", "a\x00.com", "exa\tmple.com", "example.com:99999", "example.com:x", "[::1%lo]", "[::g]", "[fe80::1%25eth0]",
		"::1:80:80x", strings.Repeat("a.", 300) + "com", strings.Repeat("x", 64) + ".com", "example.com:0", "a@b", "a/b", "ex%61mple.com", "example。。com",
	} {
		target, err := hostpattern.ParseHostPort(text, 80)
		if text == "127.0.0.1." { // the dot at the end is not part of a name
			if err != nil || target.String() != "127.0.0.1:80" {
				t.Errorf("%q is %s, %v", text, target, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%q is %s", text, target)
		}
	}
}

func TestCeilings(t *testing.T) {
	t.Parallel()
	capped := hostpattern.Ceiling{Grants: []hostpattern.Grant{grant(t, "*.example.com:443"), grant(t, "10.0.0.1:80")}}
	for text, want := range map[string]bool{
		"api.example.com:443": true, "*.example.com:443": true, "*.api.example.com:443": true, "10.0.0.1:80": true,
		"api.example.com:80": false, "example.com:443": false, "*.example.org:443": false, "10.0.0.2:80": false,
	} {
		if got := capped.Allows(grant(t, text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if !(hostpattern.Ceiling{All: true, Private: true}).Allows(grant(t, text)) {
			t.Errorf("%s is above everything", text)
		}
		if private := strings.HasPrefix(text, "10."); (hostpattern.Ceiling{All: true}).Allows(grant(t, text)) == private {
			t.Errorf("%s beneath the public internet: %v", text, private)
		}
	}
	for _, address := range []string{"169.254.169.254:80", "168.63.129.16:80", "100.100.100.200:80", "[fd00:ec2::254]:80"} {
		listed := grant(t, address)
		everything := hostpattern.Ceiling{All: true, Private: true, Grants: []hostpattern.Grant{listed}}
		if target, err := hostpattern.ParseHostPort(address, 0); err != nil || everything.Allows(listed) || everything.Reaches(target) {
			t.Errorf("a metadata service: %s, %v", address, err)
		}
	}
	target, err := hostpattern.ParseTarget("x.example.com", 443)
	if err != nil || !capped.Reaches(target) || (hostpattern.Ceiling{}).Reaches(target) || !(hostpattern.Ceiling{All: true}).Reaches(target) {
		t.Errorf("%s, %v", target, err)
	}
}
