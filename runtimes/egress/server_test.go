package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// TestNever_GrantedAndListed_Refused checks that the server's own listener and metadata services cannot be reached by
// address, by name or in another notation, even if they are granted and in the ceiling.
func TestNever_GrantedAndListed_Refused(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	own := netip.MustParseAddrPort(s.address())
	resolver := leadsTo(map[string]string{"own.test": own.Addr().String(), "mapped.test": "::ffff:127.0.0.1", "other.test": "127.0.0.9", "meta.test": "169.254.169.254", "azure.test": "168.63.129.16"})
	r := open(t, egress.Options{Resolver: resolver, Server: func() []netip.AddrPort { return []netip.AddrPort{own} }},
		s.address(), "own.test:"+s.port(), "mapped.test:"+s.port(), "other.test:"+s.port(), "127.0.0.9:"+s.port(),
		"meta.test:80", "azure.test:80", "169.254.169.254:80", "168.63.129.16:80")
	for url, class := range map[string]string{
		s.URL: "server", "http://own.test:" + s.port(): "server", "http://mapped.test:" + s.port(): "server", "http://other.test:" + s.port(): "server",
		"http://127.0.0.9:" + s.port(): "server", "http://[::ffff:127.0.0.1]:" + s.port(): "server",
		"http://meta.test/": "metadata", "http://azure.test/": "metadata", "http://169.254.169.254/": "metadata", "http://[::ffff:169.254.169.254]/": "metadata",
	} {
		if status, body := r.get(t, url); status != 403 || !strings.Contains(body, egress.RuleAddress+class) || strings.Contains(body, `"grant"`) {
			t.Errorf("%s: %d %s", url, status, body)
		}
		if got := r.fetch(t, `{"url":"`+url+`"}`); !strings.Contains(got, egress.RuleAddress+class) {
			t.Errorf("fetch %s: %s", url, got)
		}
	}
}

// TestPublicCeiling_PrivateAddresses checks the default ceiling, which is the public internet: a private address must be
// listed in addition, even if a granted name resolves to it.
func TestPublicCeiling_PrivateAddresses(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	resolver := leadsTo(map[string]string{"inside.test": "127.0.0.1"})
	for what, tt := range map[string]struct {
		ceiling hostpattern.Ceiling
		want    int
	}{
		"public internet": {hostpattern.Ceiling{All: true}, 403},
		"listed":          {hostpattern.Ceiling{All: true, Grants: []hostpattern.Grant{parse(t, s.address())}}, 200},
	} {
		r := open(t, egress.Options{Resolver: resolver, Ceiling: func(string) hostpattern.Ceiling { return tt.ceiling }}, s.address(), "inside.test:"+s.port())
		for _, url := range []string{s.URL, "http://inside.test:" + s.port() + "/"} {
			if status, body := r.get(t, url); status != tt.want {
				t.Errorf("%s, %s: %d %s", what, url, status, body)
			}
		}
	}
}

func parse(t *testing.T, text string) hostpattern.Grant {
	t.Helper()
	grant, err := hostpattern.ParseGrant(text)
	if err != nil {
		t.Fatal(err)
	}
	return grant
}
