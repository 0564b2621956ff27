// Package config is the typed configuration of a server: defaults, then atelier.yaml, then the environment, then flags.
// It is the only room that reads the environment. Every wrong value is reported at once, by the name under which it was
// given, with what would be right. The package knows what values mean as text, not what is done with them.
package config

import (
	"net/netip"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/vault"
)

// Config is what a server is told. It is a value: loaded once, checked once, passed down.
type Config struct {
	Listen         string // host:port
	Hosts          []string
	TrustedProxies []netip.Prefix // whose X-Forwarded-For names the client
	PublicURL      string         // "" or scheme://host[:port] and the base path, without a slash at the end
	BasePath       string         // "" or /path, without a slash at the end
	Data           string         // directory
	DatabaseURL    string         // sqlite:PATH or postgres://…; "" is SQLite in the data directory
	Token          string         // fixes the administrator's token; "" lets the server make one
	SecretsKeys    vault.Keys     // of stored secrets; none reads them from a file
	SecretsFile    string         // of the keys; "" is secrets.key in the data directory
	BodyBytes      int64
	RequestMemory  int64 // bytes that the bodies of all requests may take while they are processed
	ShutdownGrace  time.Duration
	KeepRuns       time.Duration // 0 is for ever
	KeepEvents     time.Duration // 0 is as long as the run

	DebugListen string // loopback host:port for profiles; "" for none

	LogLevel  string // debug, info, warn, error
	LogFormat string // text, json

	Python string // interpreter; "" looks in /usr/bin and /usr/local/bin
	Bash   string
	Node   string

	Concurrency   int      // programs at once; 0 is chosen from the machine
	QueueSize     int      // runs that may wait, per workspace
	Warm          int      // prepared workers per runtime
	AllowWeak     []string // required mechanisms of the sandbox that may be missing
	Masked        []string // mechanisms of the sandbox to do without, for trials
	ScriptRuntime bool
	Egress        map[string]hostpattern.Ceiling // what agents of a workspace may be granted at most; "" is every other workspace
	Restricted    []string                       // workspaces whose Python programs follow the rules; * is every one

	OIDC OIDC

	Skills             string // directory; "" is skills in the data directory
	SkillsAnonymous    string // off, loopback
	SkillsBuiltin      bool
	EmbeddingModel     string   // directory; "" for none
	SkillsHosts        []string // grants for fetching archives
	ApproveSideEffects bool

	Quotas Quotas

	Defaults Limits
	Ceilings Limits

	Traces bool // OTEL_* names a place to send traces to

	Notes []string // about the environment: names that nobody reads, and what was probably meant
}

// Limits has the fields of runtimes.Limits, which lies a floor above.
type Limits struct {
	TimeoutMs      int64
	CPUMs          int64
	MemoryBytes    int64
	Processes      int64
	OutputBytes    int64
	DiskBytes      int64
	RecursionDepth int64
}

// Quotas are what each workspace may take unless it has its own; 0 is no limit.
type Quotas struct {
	ConcurrentRuns   int64
	RunsPerDay       int64
	CPUSecondsPerDay int64
	StorageBytes     int64
}

// Ceiling is what the agents of a workspace may be granted at most.
func (c Config) Ceiling(workspace string) hostpattern.Ceiling {
	if own, ok := c.Egress[workspace]; ok {
		return own
	}
	all, ok := c.Egress[""]
	return hostpattern.Ceiling{All: all.All || !ok, Grants: all.Grants}
}

// Loopback reports whether only this machine can reach the address that the server listens on.
func (c Config) Loopback() bool { return isLoopback(c.Listen) }

func isLoopback(address string) bool {
	host, err := hostOf(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
