package egress_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// tricky lists ways to write a host, or to make a granted name resolve to another place. Only example.com:80 and a few
// similar targets are granted, and the name servers are hostile. PORT is the port of a server on this machine's
// loopback, which must not be reached.
var tricky = []struct{ form, rule string }{
	// numeric notations that some resolvers read as 127.0.0.1
	{"2130706433:PORT", egress.RuleForm},
	{"0x7f000001:PORT", egress.RuleForm},
	{"0X7F000001:PORT", egress.RuleForm},
	{"017700000001:PORT", egress.RuleForm},
	{"127.1:PORT", egress.RuleForm},
	{"127.0.1:PORT", egress.RuleForm},
	{"0x7f.1:PORT", egress.RuleForm},
	{"0x7f.0.0.1:PORT", egress.RuleForm},
	{"0177.0.0.1:PORT", egress.RuleForm},
	{"127.0.0.0x1:PORT", egress.RuleForm},
	{"127.000.000.001:PORT", egress.RuleForm},
	{"0:PORT", egress.RuleForm},
	{"4294967296:PORT", egress.RuleForm},
	{"256.0.0.1:PORT", egress.RuleForm},
	{"1.2.3.4.5:PORT", egress.RuleForm},
	// addresses in their usual form
	{"127.0.0.1:PORT", egress.RuleHosts},
	{"127.0.0.1.:PORT", egress.RuleHosts},
	{"127.255.255.254:PORT", egress.RuleHosts},
	{"0.0.0.0:PORT", egress.RuleHosts},
	{"10.0.0.1:80", egress.RuleHosts},
	{"169.254.169.254:80", egress.RuleAddress + "metadata"},
	{"100.64.0.1:80", egress.RuleHosts},
	{"224.0.0.1:80", egress.RuleHosts},
	{"[::1]:PORT", egress.RuleHosts},
	{"[::]:PORT", egress.RuleHosts},
	{"[0:0:0:0:0:0:0:1]:PORT", egress.RuleHosts},
	{"[::ffff:127.0.0.1]:PORT", egress.RuleHosts},
	{"[::ffff:7f00:1]:PORT", egress.RuleHosts},
	{"[::127.0.0.1]:PORT", egress.RuleHosts},
	{"[64:ff9b::7f00:1]:PORT", egress.RuleHosts},
	{"[2002:7f00:1::]:PORT", egress.RuleHosts},
	{"[fe80::1]:80", egress.RuleHosts},
	{"[fc00::1]:80", egress.RuleHosts},
	{"[ff02::1]:80", egress.RuleHosts},
	// names that are not granted, some of them similar to a granted name
	{"localhost:PORT", egress.RuleHosts},
	{"LOCALHOST:PORT", egress.RuleHosts},
	{"localhost.:PORT", egress.RuleHosts},
	{"localhost.localdomain:PORT", egress.RuleHosts},
	{"ip6-localhost:PORT", egress.RuleHosts},
	{"example.com:81", egress.RuleHosts},
	{"example.com.evil.org:80", egress.RuleHosts},
	{"evilexample.com:80", egress.RuleHosts},
	{"wild.example.com:80", egress.RuleHosts},
	{"evilwild.example.net:80", egress.RuleHosts},
	{"xn--xample-9uf.com:80", egress.RuleHosts},
	{"example.com..:80", egress.RuleForm},
	{".example.com:80", egress.RuleForm},
	{"example..com:80", egress.RuleForm},
	{"example.com:0", egress.RuleForm},
	{"example.com:65536", egress.RuleForm},
	// granted names whose server returns a non-public address
	{"loopback.wild.example.net:80", egress.RuleAddress + "loopback"},
	{"LOOPBACK.wild.example.net.:80", egress.RuleAddress + "loopback"},
	{"loopback6.wild.example.net:80", egress.RuleAddress + "loopback"},
	{"mapped.wild.example.net:80", egress.RuleAddress + "loopback"},
	{"unspecified.wild.example.net:80", egress.RuleAddress + "unspecified"},
	{"unspecified6.wild.example.net:80", egress.RuleAddress + "unspecified"},
	{"private10.wild.example.net:80", egress.RuleAddress + "private"},
	{"private172.wild.example.net:80", egress.RuleAddress + "private"},
	{"private192.wild.example.net:80", egress.RuleAddress + "private"},
	{"ula.wild.example.net:80", egress.RuleAddress + "private"},
	{"linklocal.wild.example.net:80", egress.RuleAddress + "link-local"},
	{"linklocal6.wild.example.net:80", egress.RuleAddress + "link-local"},
	{"metadata.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"azure.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"alibaba.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"aws6.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"cgnat.wild.example.net:80", egress.RuleAddress + "carrier"},
	{"multicast.wild.example.net:80", egress.RuleAddress + "multicast"},
	{"multicast6.wild.example.net:80", egress.RuleAddress + "multicast"},
	{"broadcast.wild.example.net:80", egress.RuleAddress + "reserved"},
	{"nat64.wild.example.net:80", egress.RuleAddress + "nat64"},
	{"sixtofour.wild.example.net:80", egress.RuleAddress + "6to4"},
	{"teredo.wild.example.net:80", egress.RuleAddress + "teredo"},
	{"compatible.wild.example.net:80", egress.RuleAddress + "compatible"},
	{"beyond.wild.example.net:80", egress.RuleAddress + "reserved"},
	{"scoped.wild.example.net:80", egress.RuleAddress + "invalid"},
	{"mixed.wild.example.net:80", egress.RuleAddress + "loopback"}, // one public address does not make the other acceptable
	{"own.wild.example.net:80", egress.RuleAddress + "own"},
	{"own6.wild.example.net:80", egress.RuleAddress + "own"},
	{"xn--bcher-kva.wild.example.net:80", egress.RuleAddress + "loopback"},
}

func trickyOptions() egress.Options {
	lists := map[string]string{
		"loopback": "127.0.0.1", "loopback6": "::1", "mapped": "::ffff:127.0.0.1", "unspecified": "0.0.0.0", "unspecified6": "::",
		"private10": "10.1.2.3", "private172": "172.31.255.255", "private192": "192.168.0.1", "ula": "fd12::1", "linklocal": "169.254.1.1",
		"linklocal6": "fe80::1", "metadata": "169.254.169.254", "azure": "168.63.129.16", "alibaba": "100.100.100.200", "aws6": "fd00:ec2::254",
		"cgnat": "100.127.255.255", "multicast": "239.1.1.1", "multicast6": "ff05::1", "broadcast": "255.255.255.255", "nat64": "64:ff9b::a00:1",
		"sixtofour": "2002:a00:1::1", "teredo": "2001:0:1::1", "compatible": "::10.0.0.1", "beyond": "4000::1", "scoped": "fe80::1%lo",
		"mixed": "93.184.216.34 127.0.0.1", "own": "198.51.99.7", "own6": "2a00::7", "xn--bcher-kva": "127.0.0.1",
	}
	resolver := &names{lists: map[string][][]string{"localhost": {{"127.0.0.1"}}, "example.com": {{"127.0.0.1"}}}}
	for name, list := range lists {
		resolver.lists[name+".wild.example.net"] = [][]string{strings.Fields(list)}
	}
	own := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("198.51.99.7")}, &net.IPNet{IP: net.ParseIP("2a00::7")}, &net.UnixAddr{}}, nil
	}
	return egress.Options{Resolver: resolver, Own: own}
}

// TestTrickyForms requests each form in three ways: by a request to the proxy, by a tunnel and by the host function. None
// may reach the server.
func TestTrickyForms(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	if len(tricky) < 50 {
		t.Fatalf("only %d forms", len(tricky))
	}
	for _, tt := range tricky {
		form := strings.ReplaceAll(tt.form, "PORT", s.port())
		ways := map[string]func(r *run) (refused bool, said string){
			"proxy": func(r *run) (bool, string) {
				said := r.raw(t, "GET http://"+form+"/ HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
				return strings.HasPrefix(said, "HTTP/1.1 403 "+egress.Marker) || strings.HasPrefix(said, "HTTP/1.1 400 "), said
			},
			"tunnel": func(r *run) (bool, string) {
				said := r.connect(t, form)
				return said == "HTTP/1.1 403 "+egress.Marker || strings.HasPrefix(said, "HTTP/1.1 400 "), said
			},
			"fetch": func(r *run) (bool, string) {
				_, err := r.Call(t.Context(), egress.Function, json.RawMessage(`{"url":"http://`+form+`/"}`))
				return err != nil, fmt.Sprint(err)
			},
		}
		for way, try := range ways {
			t.Run(way+" "+tt.form, func(t *testing.T) {
				t.Parallel()
				r := open(t, trickyOptions(), "example.com:80", "*.wild.example.net:80", "api.example.com:443")
				refused, said := try(r)
				if !refused {
					t.Fatalf("let through: %s", said)
				}
				events := r.host.all()
				if len(events) == 0 && strings.Contains(said, "400 ") || len(events) == 0 && strings.Contains(said, "fetch: url") {
					return // it was not a valid request
				}
				if len(events) != 1 || events[0].Decision != runtimes.EgressDenied || events[0].Rule != tt.rule {
					t.Errorf("%+v, want %s denied by %s", events, form, tt.rule)
				}
			})
		}
	}
	t.Cleanup(func() {
		if s.visits() > 0 {
			t.Errorf("somebody came through: %v", s.came)
		}
	})
}

// TestMalformedRequests sends malformed and unusual requests to the proxy, which must refuse them.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	for name, request := range map[string]string{
		"a page of the proxy":        "GET / HTTP/1.1\r\nHost: " + s.address() + "\r\n\r\n",
		"another page":               "GET /http://x HTTP/1.1\r\nHost: " + s.address() + "\r\n\r\n",
		"https without a tunnel":     "GET https://" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"ftp":                        "GET ftp://" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"file":                       "GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
		"user and password":          "GET http://" + s.address() + "@evil.org/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"user before a granted host": "GET http://evil.org@" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"backslash":                  "GET http://evil.org\\@" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"encoded host":               "GET http://127%2e0.0.1:" + s.port() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"zone":                       "GET http://[::1%25lo]:" + s.port() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"no host":                    "GET http:///x HTTP/1.1\r\nHost: x\r\n\r\n",
		"tunnel without a port":      "CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"tunnel to a path":           "CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n",
		"tunnel to a URL":            "CONNECT http://" + s.address() + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"two lengths":                "POST " + s.URL + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"a star":                     "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"very long host":             "GET http://" + strings.Repeat("a", 2000) + ".com/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"endless header":             "GET " + s.URL + "/ HTTP/1.1\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n",
		"nonsense":                   "\x00\x01\x02\r\n\r\n",
		"TLS to the proxy":           "\x16\x03\x01\x00\x05hello\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, egress.Options{}, s.address())
			before := s.visits()
			if said := r.raw(t, request); !strings.HasPrefix(said, "HTTP/1.1 40") && !strings.HasPrefix(said, "HTTP/1.1 431") && said != "" {
				t.Errorf("%.200s", said)
			}
			if s.visits() != before {
				t.Error("it came through")
			}
		})
	}
}

// TestHostHeaderDoesNotCount checks that the proxy ignores the program's Host header and sends the granted host.
func TestHostHeaderDoesNotCount(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %q %q", r.Host, r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Hop"))
	})
	r := open(t, egress.Options{}, s.address())
	said := r.raw(t, "GET "+s.URL+"/ HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: Basic secret\r\nX-Hop: 1\r\nConnection: close, X-Hop\r\n\r\n")
	if !strings.HasSuffix(said, s.address()+` "" ""`) {
		t.Error(said)
	}
}
