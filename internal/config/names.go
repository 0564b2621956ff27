package config

import (
	"net"
	"strings"
)

// Key returns the name of a setting in atelier.yaml. For example, log-level becomes logLevel.
func (s Setting) Key() string {
	parts := strings.Split(s.Name, "-")
	for i, part := range parts[1:] {
		parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "")
}

// envName returns the name of a setting's environment variable. For example, default-cpu-ms becomes
// ATELIER_DEFAULT_CPU_MS.
func envName(name string) string {
	return "ATELIER_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func joinHostPort(host, port string) string { return net.JoinHostPort(host, port) }

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func truthy(text string) bool {
	yes, err := boolean(text)
	return yes && err == nil
}
