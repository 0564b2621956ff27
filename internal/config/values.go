package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// Each function below parses one kind of value. Its error is a predicate that follows the name of the setting and
// states the expected form. The error does not contain the value, because the value may be secret.

func address(v string) (string, error) {
	if _, err := hostOf(v); err != nil {
		return "", fmt.Errorf("must be HOST:PORT, for example 127.0.0.1:8002")
	}
	return v, nil
}

// loopbackAddress parses a loopback address, which only this machine can reach.
func loopbackAddress(v string) (string, error) {
	if v != "" && !isLoopback(v) {
		return "", fmt.Errorf("must be a loopback address, for example 127.0.0.1:6060")
	}
	return v, nil
}

// hostOf returns the host of HOST:PORT. It returns an error if the port is invalid.
func hostOf(v string) (string, error) {
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		return "", err
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return host, err
}

func hostNames(v string) ([]string, error) {
	names := list(v)
	for _, name := range names {
		if strings.ContainsAny(name, "/:@*? ") {
			return nil, fmt.Errorf("has %q, which must be a plain host name, for example studio.example.com", name)
		}
	}
	return names, nil
}

// prefixes parses a list of IP addresses and address ranges.
func prefixes(v string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range list(v) {
		if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
			all = append(all, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Addr().Is4In6() {
			return nil, fmt.Errorf("contains %q, which is neither an address nor a range; write for example 127.0.0.1 or 10.0.0.0/8", text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// weakMechanisms lists the sandbox mechanisms that may be missing. maskableMechanisms lists the sandbox mechanisms that
// can be disabled.
func weakMechanisms() []string { return []string{"seccomp"} }

func maskableMechanisms() []string {
	return []string{"namespaces", "seccomp", "landlock", "cgroups", "proc"}
}

func mechanisms(v string, known []string) ([]string, error) {
	names := list(v)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("has %q; must be one of %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}

func baseURL(v string) (string, error) {
	if v == "" {
		return "", nil
	}
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("must be a URL, for example https://atelier.example.com")
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

func databaseURL(v string) (string, error) {
	for _, form := range []string{"sqlite:", "postgres://", "postgresql://"} {
		if rest, ok := strings.CutPrefix(v, form); ok && rest != "" {
			return v, nil
		}
	}
	return "", fmt.Errorf("must be sqlite:PATH or postgres://user@host/name")
}

func token(v string) (string, error) {
	if v != "" && len(v) < 24 {
		return "", fmt.Errorf("must have at least 24 characters; create one with: openssl rand -hex 32")
	}
	if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("must have only characters that are allowed in an HTTP header; create one with: openssl rand -hex 32")
	}
	return v, nil
}

func absolute(v string) (string, error) {
	if v != "" && !filepath.IsAbs(v) {
		return "", fmt.Errorf("must be an absolute path, for example /usr/bin/python3")
	}
	return v, nil
}

// modelDirectory parses the path of a directory. It ignores a value that is the name of a model, because existing
// deployments set the same variable to a name.
func modelDirectory(v string) (string, error) {
	if v != "" && !strings.Contains(v, "/") && !strings.HasPrefix(v, ".") {
		return "", nil
	}
	if v != "" && !filepath.IsAbs(v) {
		return "", fmt.Errorf("must be an absolute path, for example /srv/models/all-MiniLM-L6-v2")
	}
	if v == "" {
		return "", nil
	}
	return filepath.Clean(v), nil
}

func notEmpty(v string) error {
	if strings.TrimSpace(v) == "" {
		return fmt.Errorf("must not be empty")
	}
	return nil
}

func duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > time.Hour {
		return 0, fmt.Errorf("must be a duration of at most 1h, for example 10s")
	}
	return d, nil
}

// span parses a retention time. There is no maximum.
func span(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("must be a duration, for example 2160h, or 0s to keep data forever")
	}
	return d, nil
}

// age parses the age at which data is removed automatically.
func age(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d != 0 && d < time.Hour {
		return 0, fmt.Errorf("must be a duration of at least 1h, for example 2160h, or 0s to turn it off")
	}
	return d, nil
}

// waiting parses the time after which a request for approval expires.
func waiting(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Hour {
		return 0, fmt.Errorf("must be a duration of at least 1h, for example 720h")
	}
	return d, nil
}

func oneOf(v string, choices ...string) (string, error) {
	v = strings.ToLower(v)
	if slices.Contains(choices, v) {
		return v, nil
	}
	return "", fmt.Errorf("must be one of %s", strings.Join(choices, ", "))
}

func boolean(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false")
}

// ceilings parses a list of the hosts that may be granted to the agents of each workspace.
func ceilings(v string) (map[string]hostpattern.Ceiling, error) {
	all := map[string]hostpattern.Ceiling{}
	for _, entry := range list(v) {
		workspace, text, named := strings.Cut(entry, "=")
		if !named {
			workspace, text = "", entry
		}
		ceiling := all[workspace]
		switch text {
		case "*":
			ceiling.All = true
		case "none":
		default:
			grant, err := hostpattern.ParseGrant(text)
			if err != nil {
				return nil, fmt.Errorf("has %q, which %w", entry, err)
			}
			ceiling.Grants = append(ceiling.Grants, grant)
		}
		all[workspace] = ceiling
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("must not be empty; write * to allow all or none to allow nothing")
	}
	return all, nil
}

// grants parses a list of hosts.
func grants(v string) ([]string, error) {
	all := list(v)
	for _, text := range all {
		if _, err := hostpattern.ParseGrant(text); err != nil {
			return nil, fmt.Errorf("has %q, which %w", text, err)
		}
	}
	return all, nil
}

func list(v string) []string {
	var names []string
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func number(least, most int64, field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*field(c) = n
		return nil
	}
}

func count(least, most int, field func(*Config) *int) func(*Config, string) error {
	var n int64
	read := number(int64(least), int64(most), func(*Config) *int64 { return &n })
	return func(c *Config, v string) error {
		if err := read(c, v); err != nil {
			return err
		}
		*field(c) = int(n)
		return nil
	}
}
