package hostpattern

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Target is the destination of a request, in the canonical form that is compared with grants.
type Target struct {
	Host string     // name in lower case ASCII, or the address as text
	Addr netip.Addr // only set if the target is a literal address
	Port uint16
}

// String returns the target in the form of a grant.
func (t Target) String() string {
	if t.Addr.IsValid() {
		return netip.AddrPortFrom(t.Addr, t.Port).String()
	}
	return t.Host + ":" + strconv.Itoa(int(t.Port))
}

// Authority returns the target as the value of a Host header. It omits the port that is the default of the scheme.
func (t Target) Authority(implied uint16) string {
	if t.Port != implied {
		return t.String()
	}
	if t.Addr.Is6() {
		return "[" + t.Host + "]"
	}
	return t.Host
}

// longestHost is the maximum length of a host in bytes. Every valid name is shorter. A longer text is rejected without
// parsing.
const longestHost = 512

// ParseTarget parses the host of a URL or a CONNECT request, with or without brackets. It accepts only one form of an
// address, because resolvers interpret forms such as 0x7f.1 or 2130706433 differently.
func ParseTarget(host string, port uint16) (Target, error) {
	if len(host) > longestHost {
		return Target{}, errors.New("the host is too long")
	}
	if port == 0 {
		return Target{}, errors.New("the port must be from 1 to 65535")
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return Target{}, errors.New("the host must be an address without a zone")
		}
		addr = addr.Unmap()
		return Target{Host: addr.String(), Addr: addr, Port: port}, nil
	}
	name, err := asciiName(strings.TrimSuffix(host, "."))
	if err != nil {
		return Target{}, err
	}
	if !endsInNumber(name) {
		return Target{Host: name, Port: port}, nil
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return Target{}, errors.New("the host is an address in an unusual form")
	}
	return Target{Host: name, Addr: addr, Port: port}, nil
}

// ParseHostPort parses host:port. If the text has no port, the port is otherwise.
func ParseHostPort(text string, otherwise uint16) (Target, error) {
	host, digits := text, ""
	if at := strings.LastIndexByte(text, ':'); at >= 0 && !strings.HasSuffix(text, "]") {
		host, digits = text[:at], text[at+1:]
	}
	port := otherwise
	if digits != "" {
		number, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return Target{}, errors.New("the port must be from 1 to 65535")
		}
		port = uint16(number)
	}
	return ParseTarget(host, port)
}

// asciiName converts a host name to the form for lookups: mapped and encoded by IDNA, in lower case. Each label
// consists of letters, digits, hyphens and underscores.
func asciiName(name string) (string, error) {
	profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false))
	ascii, err := profile.ToASCII(name)
	if err != nil {
		return "", fmt.Errorf("%q is not a valid host name", shorten(name))
	}
	ascii = strings.ToLower(ascii)
	if ascii == "" || len(ascii) > 253 {
		return "", errors.New("a host name must have 1 to 253 characters")
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return "", fmt.Errorf("%q is not a valid host name", shorten(name))
		}
	}
	return ascii, nil
}

// endsInNumber reports whether a resolver might interpret the name as an address. It follows the rule of the WHATWG URL
// standard.
func endsInNumber(name string) bool {
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(name), "."), ".")
	last := labels[len(labels)-1]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

func shorten(text string) string {
	const longest = 100
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
