package bash

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// These patterns match error messages of common tools about resources that a sandbox does not have, such as DNS or a
// network.
var (
	unresolved = regexp.MustCompile("(?:Could not resolve host: |[Ff]ailed to connect to |unable to resolve host address [‘'`\"])([A-Za-z0-9._-]+)")
	device     = regexp.MustCompile(`/dev/(?:tcp|udp)/([^/\s]+)/(\d{1,5})`)
	address    = regexp.MustCompile(`\b(https?)://(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?`)
	refusedTo  = regexp.MustCompile(`(?:^|[\s'"‘:])(/[^\s'"’:]*)['"’]?: (Permission denied|Read-only file system|Operation not permitted)$`)
	refused    = regexp.MustCompile(`: (Operation not permitted|Function not implemented|Address family not supported by protocol)$`)
)

var (
	ownCode = regexp.MustCompile(`^(?:exit|return)\s+['"]?\d+['"]?$`)
	client  = regexp.MustCompile(`://|/dev/(?:tcp|udp)/|\b(?:curl|wget|git|openssl|nc|python3?|pip3?|node|npm)\b`)
)

// chose reports whether the script ended with an explicit exit or return. Then it had handled all earlier errors.
func chose(command string) bool { return ownCode.MatchString(strings.TrimSpace(command)) }

// stopped reports whether a denied request may have ended a script: the exit code is a network error of curl or wget, or
// the failed command makes requests.
func stopped(code int, command string) bool {
	switch code {
	case 4, 8: // wget: network error, error response of the server
		return true
	case 5, 6, 7, 22, 28, 35, 52, 55, 56, 97: // curl: name, connection, response of 400 and above
		return true
	}
	return client.MatchString(command)
}

// deny changes the error type to denied if the sandbox caused the failure. It detects this from the messages of the script's
// tools and from the command that failed.
func deny(e *runtimes.ProgramError, lines []string, code int, command string) {
	last := lines[len(lines)-1]
	switch host := hostIn(lines, command); {
	case host != "" && stopped(code, command):
		e.Type, e.Rule, e.Grant = runtimes.Denied, egress.RuleNetwork, &runtimes.Grant{Hosts: []string{host}}
		e.Remedy = fmt.Sprintf("Add %q to capabilities.hosts.", host)
	case beyond(refusedTo.FindStringSubmatch(last)):
		e.Type, e.Rule = runtimes.Denied, "files"
		e.Remedy = "A program can write to /work, /tmp and /dev/shm and read its language runtime. No capability grants more."
	case refusedTo.FindStringSubmatch(last) == nil && refused.MatchString(last):
		e.Type, e.Rule = runtimes.Denied, "system calls"
		e.Remedy = "The sandbox refuses this system call to all programs. No capability grants it."
	}
}

// beyond reports whether a refused path is outside of the directories that the program may write.
func beyond(found []string) bool {
	if found == nil {
		return false
	}
	for _, own := range []string{"/work/", "/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(found[1]+"/", own) {
			return false
		}
	}
	return true
}

// hostIn returns the host and port to which a script could not connect, or "" if there was no such failure.
func hostIn(lines []string, command string) string {
	const near = 3 // Bash prints two lines
	said := strings.Join(lines[max(0, len(lines)-near):], "\n")
	if found := device.FindStringSubmatch(said); found != nil {
		return found[1] + ":" + found[2]
	}
	named := unresolved.FindStringSubmatch(said)
	if named == nil {
		return ""
	}
	host, port := named[1], "443"
	if url := address.FindStringSubmatch(command); url != nil {
		if url[1] == "http" {
			port = "80"
		}
		if url[2] != "" {
			port = url[2]
		}
	}
	return host + ":" + port
}
