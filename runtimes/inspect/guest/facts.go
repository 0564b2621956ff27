package guest

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
)

// collector collects facts up to a limit. It only counts further facts.
type collector struct {
	facts []runtimes.Fact
	cut   int
}

func (c *collector) add(f runtimes.Fact) {
	if len(c.facts) >= runtimes.MaxFacts {
		c.cut++
		return
	}
	if len(f.Name) > 200 {
		f.Name = strings.ToValidUTF8(f.Name[:200], "")
	}
	c.facts = append(c.facts, f)
}

// facts lists facts about a program.
func facts(job Job) Report {
	c := &collector{}
	var problems []fault.Detail
	switch job.Language {
	case runtimes.JavaScript, runtimes.TypeScript:
		problems = c.javascript(job)
	case runtimes.Bash:
		problems = c.bash(job)
	case runtimes.WASM:
		return c.wasm(job)
	default: // an error and not a missing list: without facts, the gate would approve every program
		problems = []fault.Detail{{File: job.Entrypoint, Line: 1, Column: 1, Code: bundle.CodeUndecided, Message: fmt.Sprintf("Programs in %q cannot be analysed.", job.Language)}}
	}
	return Report{Errors: problems, Facts: c.facts, Cut: c.cut}
}

// wasm lists the imports of a module.
func (c *collector) wasm(job Job) Report {
	report := wasm(job)
	if report.Module == nil {
		return report
	}
	for _, one := range report.Module.Imports {
		c.add(runtimes.Fact{Kind: runtimes.ImportFact, Name: one.Module + "." + one.Name, File: job.Entrypoint, Line: 1, Column: 1})
	}
	report.Facts, report.Cut = c.facts, c.cut
	return report
}

var (
	address     = regexp.MustCompile(`\b(https?|wss?|ftps?|sftp|ssh|smtps?|imaps?|postgres(?:ql)?|mysql|redis|mongodb|amqp|ldaps?|grpc)://(?:[^/@\s'"]*@)?([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?`)
	secretName  = regexp.MustCompile(`(?i)(^|_)(pass(word|wd|phrase)?|secret(_key)?|(api|access|auth|private|signing|encryption)_?(key|token)|token|credentials?|client_secret)($|_)`)
	knownSecret = regexp.MustCompile(`\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|sk-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|glpat-[A-Za-z0-9_-]{15,})|-----BEGIN [A-Z ]*PRIVATE KEY-----|^eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.`)
	placeholder = regexp.MustCompile(`(?i)[<>{}*%$\s]|example|change|your|dummy|placeholder|redacted|xxx|^test|^none$|^null$`)
	hump        = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	digit       = regexp.MustCompile(`\d`)
	letter      = regexp.MustCompile(`[A-Za-z]`)
	symbol      = regexp.MustCompile(`[^\w.-]`)
)

func ports() map[string]string {
	return map[string]string{
		"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "ftps": "990", "sftp": "22", "ssh": "22", "smtp": "25", "smtps": "465", "imap": "143", "imaps": "993",
		"postgres": "5432", "postgresql": "5432", "mysql": "3306", "redis": "6379", "mongodb": "27017", "amqp": "5672", "ldap": "389", "ldaps": "636", "grpc": "443",
	}
}

// hosts returns the hosts of the URLs in a text, each with its port.
func hosts(text string) []string {
	var found []string
	for _, m := range address.FindAllStringSubmatch(text, -1) {
		port := m[3]
		if port == "" {
			port = ports()[m[1]]
		}
		found = append(found, net.JoinHostPort(strings.ToLower(strings.Trim(m[2], "[]")), port))
	}
	return found
}

// isSecret reports whether a value looks like a secret. It decides by the form of the value or by the name that the
// value is assigned to.
func isSecret(name, value string) bool {
	if knownSecret.MatchString(value) {
		return true
	}
	name = hump.ReplaceAllString(name, "${1}_${2}")
	name = strings.ReplaceAll(name, "-", "_")
	if len(value) < 8 || !secretName.MatchString(name) || placeholder.MatchString(value) {
		return false
	}
	return digit.MatchString(value) && letter.MatchString(value) || symbol.MatchString(value)
}
