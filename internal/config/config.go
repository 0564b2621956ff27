// Package config contains the typed configuration of a server. It reads defaults, then atelier.yaml, then the
// environment, then flags. It is the only package that reads the environment. It reports all wrong values together,
// each with the name that the user gave and the correct form. The package parses values but does not use them.
package config

import (
	"net/netip"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/limits"
	"github.com/atelier-run/atelier/internal/vault"
)

// Config holds the configuration of a server. It is loaded and checked once, and then passed by value.
type Config struct {
	Listen         string // HOST:PORT on which the server listens
	Hosts          []string
	TrustedProxies []netip.Prefix // addresses of proxies whose X-Forwarded-For is trusted
	ProxyCount     int64          // number of reverse proxies that every request passes; 0 if there are none or the number is unknown
	PublicURL      string         // "" or scheme://host[:port] and the base path, without a slash at the end
	BasePath       string         // "" or /path, without a slash at the end
	Data           string         // data directory
	Kafka          Kafka
	S3             S3
	DatabaseURL    string     // sqlite:PATH or postgres://…; "" means SQLite in the data directory
	Replicas       bool       // several servers share the database
	Token          string     // token of the administrator; "" means that the server creates one
	SecretsKeys    vault.Keys // keys that encrypt stored secrets; if there are none, the server reads them from SecretsFile
	SecretsFile    string     // path of the file with the keys; "" means secrets.key in the data directory
	BodyBytes      int64
	RequestMemory  int64         // maximum total bytes of all request bodies that are being processed
	DrainDelay     time.Duration // time between the first 503 of /ready and the closing of the listeners
	ShutdownGrace  time.Duration
	KeepRuns       time.Duration // how long runs are stored; 0 means forever
	GCOlder        time.Duration // age at which unused data is removed automatically; 0 means never
	KeepOverlays   time.Duration // how long proposed file changes wait for a decision
	Tasks          int           // maximum number of tasks that execute at the same time
	KeepEvents     time.Duration // how long events of runs are stored; 0 means as long as the run

	DebugListen string // loopback HOST:PORT for profiles; "" means none

	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json

	Python     string // path of the interpreter; "" means that the server looks in /usr/bin and /usr/local/bin
	Bash       string
	Node       string
	Monty      string // path of the Monty interpreter; "" means the default path
	WasmEdge   string // path of the program wasmedge; "" means none
	TypeScript string // path of the native TypeScript compiler; "" means that the server looks next to the binary and in the system's Node modules

	UV                           string   // path of uv, which resolves Python packages; "" means that the server looks in /usr/bin and /usr/local/bin
	PythonIndex                  string   // URL of the index of Python packages; "" means no Python packages
	NPM                          string   // path of npm-cli.js; "" means that the server looks where installers of Node put it
	NPMRegistry                  string   // URL of the registry of npm packages; "" means no npm packages
	PackageHosts                 []string // HOST:PORT of additional hosts from which package archives are downloaded
	AllowPackages, BlockPackages []PackageRule
	PackageBuilds                []string // workspaces whose packages may run their own code when they are resolved and installed; * means all
	PackagesQuota                int64    // maximum total size of a workspace's installed packages
	PackagesDir                  string   // "" means a directory in the data directory, or another directory if sandboxes cannot reach that one

	Concurrency   int      // maximum number of concurrent programs; 0 means a number that fits the machine
	QueueSize     int      // maximum number of waiting runs per workspace
	Warm          int      // number of prepared workers per runtime
	AllowWeak     []string // sandbox mechanisms that may be missing although they are required
	Masked        []string // sandbox mechanisms to disable, for tests
	ScriptRuntime bool
	Egress        map[string]hostpattern.Ceiling // hosts that may be granted to agents, by workspace; "" means all other workspaces
	Restricted    []string                       // workspaces whose programs must follow the rules; * means all

	OIDC OIDC

	Skills             string         // directory of skills; "" means skills in the data directory
	SkillsAnonymous    []netip.Prefix // networks from which clients may call skills without a token
	SkillsBuiltin      bool
	EmbeddingModel     string   // directory of the embedding model; "" means none
	SkillsHosts        []string // hosts from which skill archives may be downloaded
	ApproveSideEffects bool

	Router    string // path of router.yaml; "" means the routing table in the binary
	Policy    Policy
	Approvals Approvals
	LLM       LLM
	E2B       E2B
	Bacalhau  Bacalhau

	Quotas Quotas
	Usage  Usage

	Defaults limits.Limits
	Ceilings limits.Limits

	Traces bool // true if OTEL_* variables name a collector for traces

	Notes []string // notes about unknown environment variables, each with the setting that was probably meant
}

// PackageRule names packages that a workspace may use or must not use. An empty field matches everything.
type PackageRule struct {
	Workspace string
	Ecosystem string // pypi or npm
	Name      string // name of the packages; * matches any text
	Version   string
}

// Quotas holds the default quotas of a workspace; 0 means no limit.
type Quotas struct {
	ConcurrentRuns   int64
	RunsPerDay       int64
	CPUSecondsPerDay int64
	StorageBytes     int64
}

// Ceiling returns the hosts that may be granted to the agents of a workspace.
func (c Config) Ceiling(workspace string) hostpattern.Ceiling {
	if own, ok := c.Egress[workspace]; ok {
		return own
	}
	all, ok := c.Egress[""]
	return hostpattern.Ceiling{All: all.All || !ok, Grants: all.Grants}
}

// Loopback reports whether the server listens on a loopback address, so that only this machine can reach it.
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
