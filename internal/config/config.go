// Package config is the typed configuration of a server. It reads defaults, then atelier.yaml, then the environment,
// then flags. It is the only package that reads the environment. It reports all wrong values together, each by its
// given name and with the correct form. The package parses values but does not use them.
package config

import (
	"net/netip"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/limits"
	"github.com/atelier-run/atelier/internal/vault"
)

// Config holds the configuration of a server. It is a value: loaded once, checked once, passed down.
type Config struct {
	Listen         string // host:port
	Hosts          []string
	TrustedProxies []netip.Prefix // addresses of proxies whose X-Forwarded-For is trusted
	ProxyCount     int64          // reverse proxies that every request passes; 0 for none or unknown
	PublicURL      string         // "" or scheme://host[:port] and the base path, without a slash at the end
	BasePath       string         // "" or /path, without a slash at the end
	Data           string         // directory
	Kafka          Kafka
	S3             S3
	DatabaseURL    string     // sqlite:PATH or postgres://…; "" is SQLite in the data directory
	Replicas       bool       // several servers share the database
	Token          string     // fixes the administrator's token; "" lets the server make one
	SecretsKeys    vault.Keys // keys of stored secrets; if empty they are read from a file
	SecretsFile    string     // of the keys; "" is secrets.key in the data directory
	BodyBytes      int64
	RequestMemory  int64         // maximum bytes for the bodies of all requests while they are processed
	DrainDelay     time.Duration // time from the first 503 of /ready until the listeners close
	ShutdownGrace  time.Duration
	KeepRuns       time.Duration // 0 means forever
	GCOlder        time.Duration // age at which garbage is removed automatically, 0 for never
	KeepOverlays   time.Duration // how long proposed changes of files wait for a decision
	Tasks          int           // maximum number of tasks that execute at the same time
	KeepEvents     time.Duration // 0 means as long as the run

	DebugListen string // loopback host:port for profiles; "" for none

	LogLevel  string // debug, info, warn, error
	LogFormat string // text, json

	Python string // interpreter; "" looks in /usr/bin and /usr/local/bin
	Bash   string
	Node   string
	// TypeScript is the native TypeScript compiler; "" looks next to the binary and among the system's Node modules.
	Monty      string // path of the Monty interpreter; "" means the default
	WasmEdge   string // path of the program wasmedge; "" for none
	TypeScript string

	UV                           string   // resolver of Python packages; "" looks in /usr/bin and /usr/local/bin
	PythonIndex                  string   // address of the index of Python packages; "" for no packages
	NPM                          string   // npm-cli.js; "" looks where Node's installers put it
	NPMRegistry                  string   // address of the registry of npm packages; "" for no packages
	PackageHosts                 []string // host:port of further hosts that send archives
	AllowPackages, BlockPackages []PackageRule
	PackageBuilds                []string // workspaces, * for all
	PackagesQuota                int64    // maximum size of the installed packages of a workspace
	PackagesDir                  string   // "" is a directory in the data directory, or one that sandboxes can reach

	Concurrency   int      // concurrent programs; 0 means a number chosen for the machine
	QueueSize     int      // maximum waiting runs per workspace
	Warm          int      // prepared workers per runtime
	AllowWeak     []string // required sandbox mechanisms that may be missing
	Masked        []string // sandbox mechanisms to disable, for tests
	ScriptRuntime bool
	Egress        map[string]hostpattern.Ceiling // what agents of a workspace may be granted at most; "" is every other workspace
	Restricted    []string                       // workspaces whose programs must follow the rules; * means all

	OIDC OIDC

	Skills             string         // directory; "" is skills in the data directory
	SkillsAnonymous    []netip.Prefix // networks from which skills may be called without a token
	SkillsBuiltin      bool
	EmbeddingModel     string   // directory; "" for none
	SkillsHosts        []string // hosts from which archives may be fetched
	ApproveSideEffects bool

	Router    string // path of router.yaml; "" takes the shipped table
	Policy    Policy
	Approvals Approvals
	LLM       LLM
	E2B       E2B
	Bacalhau  Bacalhau

	Quotas Quotas
	Usage  Usage

	Defaults limits.Limits
	Ceilings limits.Limits

	Traces bool // OTEL_* variables name a trace collector

	Notes []string // hints on unknown environment variables, with the probable setting
}

// PackageRule names packages that a workspace may or must not use. An empty field matches everything.
type PackageRule struct {
	Workspace string
	Ecosystem string // pypi, npm
	Name      string // * stands for any text
	Version   string
}

// Quotas holds the default quotas of a workspace; 0 means no limit.
type Quotas struct {
	ConcurrentRuns   int64
	RunsPerDay       int64
	CPUSecondsPerDay int64
	StorageBytes     int64
}

// Ceiling returns the hosts that may be granted to agents of a workspace.
func (c Config) Ceiling(workspace string) hostpattern.Ceiling {
	if own, ok := c.Egress[workspace]; ok {
		return own
	}
	all, ok := c.Egress[""]
	return hostpattern.Ceiling{All: all.All || !ok, Grants: all.Grants}
}

// Loopback reports whether only this machine can reach the server's listen address.
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
