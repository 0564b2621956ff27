// Package hostpattern parses and compares the hosts that a program may be granted, in the form host:port. The code that
// saves, limits and enforces grants uses the same rules. The package does not resolve names.
package hostpattern

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Grant is one entry of capabilities.hosts. It allows a name, all names below a name (wildcard), or an address, always
// with a port.
type Grant struct {
	host string // lower case ASCII; for a wildcard, the part after "*."
	wild bool
	addr netip.Addr // only set if the grant allows an address
	port uint16
}

// ParseGrant parses an entry of capabilities.hosts. An error states the reason as a predicate, so that the Studio can
// show it next to the field.
func ParseGrant(text string) (Grant, error) {
	if err := oddities(text); err != nil {
		return Grant{}, err
	}
	host, port, err := cutPort(text)
	if err != nil {
		return Grant{}, err
	}
	if strings.HasPrefix(host, "[") || strings.Contains(host, ":") {
		return addressGrant(host, port)
	}
	name, wild := strings.CutPrefix(host, "*.")
	if strings.Contains(name, "*") {
		return Grant{}, fmt.Errorf("must have a wildcard only as the whole leftmost label, for example *.example.com:%d", port)
	}
	if strings.HasSuffix(name, ".") {
		return Grant{}, fmt.Errorf("must not end in a dot")
	}
	if endsInNumber(name) || strings.Trim(name, "0123456789.-") == "" {
		return literalGrant(name, wild, port)
	}
	ascii, err := asciiName(name)
	if err != nil {
		return Grant{}, fmt.Errorf("must be host:port: %w", err)
	}
	if !isASCII(name) {
		return Grant{}, fmt.Errorf("has letters that look like other letters; if you mean this host, write its ASCII form: %s:%d", ascii, port)
	}
	if wild && !strings.Contains(ascii, ".") {
		return Grant{}, fmt.Errorf("covers all of %q; add at least one label, for example *.example.%s:%d", ascii, ascii, port)
	}
	return Grant{host: ascii, wild: wild, port: port}, nil
}

// oddities returns a specific error for each common mistake in an entry, or nil if there is none.
func oddities(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("must not be empty; remove the entry to grant nothing")
	case strings.ContainsAny(text, " \t\r\n\x00"):
		return fmt.Errorf("must not contain spaces or control characters")
	case strings.Contains(text, "://"):
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			return fmt.Errorf("must be host:port without a scheme or path: %s", suggestion(u))
		}
		return fmt.Errorf("must be host:port without a scheme or path, for example api.example.com:443")
	case strings.Contains(text, "/"):
		if isRange(text) {
			return fmt.Errorf("must not be an address range; list each address with its port")
		}
		return fmt.Errorf("must be host:port without a path, for example api.example.com:443")
	case strings.Contains(text, "@"):
		return fmt.Errorf("must not contain a user name or password")
	case text == "*" || strings.HasPrefix(text, "*:"):
		return fmt.Errorf("must name a host; a grant of all hosts is not possible")
	}
	return nil
}

func suggestion(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

func isRange(text string) bool {
	before, _, _ := strings.Cut(text, "/")
	_, err := netip.ParseAddr(strings.Trim(before, "[]"))
	return err == nil
}

// cutPort splits an entry into the host and the port at its end.
func cutPort(text string) (host string, port uint16, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 || strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		return "", 0, fmt.Errorf("must end in a port, for example %s:443", text)
	}
	host, digits := text[:at], text[at+1:]
	if digits == "" {
		return "", 0, fmt.Errorf("must have exactly one port, from 1 to 65535")
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "", 0, fmt.Errorf("must have the IPv6 address in brackets, for example [2001:db8::1]:443")
	}
	number, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || digits[0] == '+' || number < 1 || number > 65535 {
		return "", 0, fmt.Errorf("must have exactly one port, from 1 to 65535")
	}
	if host == "" {
		return "", 0, fmt.Errorf("must have a host before the port")
	}
	return host, uint16(number), nil
}

// addressGrant parses an entry with an IPv6 address.
func addressGrant(host string, port uint16) (Grant, error) {
	inner, ok := strings.CutPrefix(host, "[")
	inner, end := strings.CutSuffix(inner, "]")
	addr, err := netip.ParseAddr(inner)
	switch {
	case !ok || !end || err != nil || !addr.Is6():
		return Grant{}, fmt.Errorf("must have the IPv6 address in brackets, for example [2001:db8::1]:443")
	case addr.Zone() != "":
		return Grant{}, fmt.Errorf("must not have a zone (%s)", addr.Zone())
	case addr.Is4In6():
		return Grant{}, fmt.Errorf("must be written as an IPv4 address: %s:%d", addr.Unmap(), port)
	}
	return Grant{addr: addr, port: port}, nil
}

// literalGrant parses an entry with an IPv4 address. It rejects a name that a resolver could interpret as an address.
func literalGrant(name string, wild bool, port uint16) (Grant, error) {
	addr, err := netip.ParseAddr(name)
	switch {
	case wild || strings.Contains(name, "-"):
		return Grant{}, fmt.Errorf("must not be an address range; list each address with its port")
	case err != nil:
		return Grant{}, fmt.Errorf("must be a name, or an address in its usual form, for example 192.0.2.7:%d", port)
	}
	return Grant{addr: addr, port: port}, nil
}

// String returns the grant in canonical form.
func (g Grant) String() string {
	switch {
	case g.addr.IsValid():
		return netip.AddrPortFrom(g.addr, g.port).String()
	case g.wild:
		return "*." + g.host + ":" + strconv.Itoa(int(g.port))
	}
	return g.host + ":" + strconv.Itoa(int(g.port))
}

// Covers reports whether the grant allows a target. It compares the target's name or literal address.
func (g Grant) Covers(t Target) bool {
	switch {
	case g.port != t.Port:
		return false
	case t.Addr.IsValid() || g.addr.IsValid():
		return g.addr == t.Addr
	case g.wild:
		return strings.HasSuffix(t.Host, "."+g.host)
	}
	return g.host == t.Host
}

// Ceiling limits which hosts may be granted. Grants are always allowed. If All is set, all hosts of the public internet
// are allowed too. Addresses of metadata services are never allowed.
type Ceiling struct {
	All     bool // all hosts of the public internet
	Private bool // together with All: also addresses that are not public
	Grants  []Grant
}

// Allows reports whether the ceiling allows a grant. If the grant is a name, the server checks its addresses when it
// resolves the name.
func (c Ceiling) Allows(grant Grant) bool {
	if grant.addr.IsValid() && Class(grant.addr) == Metadata {
		return false
	}
	for _, most := range c.Grants {
		if most.Includes(grant) {
			return true
		}
	}
	return c.All && (c.Private || !grant.addr.IsValid() || Class(grant.addr) == "")
}

// Reaches reports whether the ceiling allows a target. It does not consider the grants of a version.
func (c Ceiling) Reaches(t Target) bool {
	if t.Addr.IsValid() && Class(t.Addr) == Metadata {
		return false
	}
	return c.Lists(t) || c.All && (c.Private || !t.Addr.IsValid() || Class(t.Addr) == "")
}

// Lists reports whether a grant of the ceiling covers a target, or the ceiling allows all addresses.
func (c Ceiling) Lists(t Target) bool {
	for _, most := range c.Grants {
		if most.Covers(t) {
			return true
		}
	}
	return c.All && c.Private
}

// Includes reports whether this grant allows every target that the other grant allows.
func (g Grant) Includes(other Grant) bool {
	switch {
	case g == other:
		return true
	case g.port != other.port || !g.wild || other.addr.IsValid():
		return false
	}
	return strings.HasSuffix(other.host, "."+g.host)
}
