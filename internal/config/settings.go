package config

import (
	"slices"
	"strconv"

	"github.com/atelier-run/atelier/internal/limits"
	"github.com/atelier-run/atelier/internal/vault"
)

// Setting is one setting of the server: a flag of `atelier serve`, an environment variable, and a key of atelier.yaml.
type Setting struct {
	Name    string   // name of the flag; in atelier.yaml it is written in camel case
	Env     string   // name of the environment variable; "" if there is none
	Aliases []string // environment variables of existing deployments
	Default string
	Form    string // placeholder for the value in the output of --help
	Help    string
	Group   string
	Secret  bool // messages never contain the value
	Switch  bool // the flag without a value means true

	set func(*Config, string) error
}

// Settings lists all settings, in the order of the output of --help.
func Settings() []Setting {
	return slices.Concat(serverSettings(), signInSettings(), skillSettings(), policySettings(), approvalSettings(), llmSettings(), kafkaSettings(), s3Settings(), runSettings(), packageSettings(), remoteSettings(), quotaSettings(), usageSettings(), limitSettings())
}

func serverSettings() []Setting {
	return []Setting{
		{Name: "listen", Env: "ATELIER_LISTEN", Default: "127.0.0.1:8002", Form: "HOST:PORT", Group: "Server",
			Help: "Address to listen on. Port 0 chooses a free port.",
			set:  func(c *Config, v string) (err error) { c.Listen, err = address(v); return err }},
		{Name: "host", Env: "ATELIER_HOSTS", Form: "NAME,…", Group: "Server",
			Help: "Additional host names of the server. Requests with other names are refused. localhost, 127.0.0.1, [::1] and the listen address are always allowed.",
			set:  func(c *Config, v string) (err error) { c.Hosts, err = hostNames(v); return err }},
		{Name: "trusted-proxy", Env: "ATELIER_TRUSTED_PROXIES", Form: "ADDRESS,…", Group: "Server",
			Help: "Addresses or ranges of reverse proxies, for example 127.0.0.1 or 10.0.0.0/8. X-Forwarded-For is read only in requests from these addresses.",
			set:  func(c *Config, v string) (err error) { c.TrustedProxies, err = prefixes(v); return err }},
		{Name: "proxy-count", Env: "ATELIER_PROXY_COUNT", Default: "0", Form: "N", Group: "Server",
			Help: "Number of reverse proxies in front of the server. With N proxies, the Nth address from the right in X-Forwarded-For is the client. If --trusted-proxy is set, this applies only to requests from those addresses. 0 means that the number is unknown.",
			set:  number(0, 32, func(c *Config) *int64 { return &c.ProxyCount })},
		{Name: "public-url", Env: "ATELIER_PUBLIC_URL", Form: "URL", Group: "Server",
			Help: "Public address of the server, used in exported tools and links (default: the address of the request).",
			set:  func(c *Config, v string) (err error) { c.PublicURL, err = baseURL(v); return err }},
		{Name: "base-path", Env: "ATELIER_BASE_PATH", Form: "/PATH", Group: "Server",
			Help: "Path prefix of the server behind a reverse proxy, for example /atelier. The proxy may forward or remove the prefix. X-Forwarded-Prefix is ignored. Default: the path of --public-url.",
			set:  func(c *Config, v string) (err error) { c.BasePath, err = basePath(v); return err }},
		{Name: "data", Env: "ATELIER_DATA", Default: "data", Form: "DIR", Group: "Server",
			Help: "Directory for the database, its lock file and the token of the command line.",
			set:  func(c *Config, v string) error { c.Data = v; return notEmpty(v) }},
		{Name: "database", Env: "ATELIER_DATABASE_URL", Form: "URL", Group: "Server", Secret: true,
			Help: "Database: sqlite:PATH or postgres://… (default: SQLite in the data directory).",
			set:  func(c *Config, v string) (err error) { c.DatabaseURL, err = databaseURL(v); return err }},
		{Name: "replicas", Env: "ATELIER_REPLICAS", Default: "false", Form: "BOOL", Group: "Server", Switch: true,
			Help: "Share the PostgreSQL database with other servers that also set --replicas. All servers need the same encryption key (--secrets-key or --secrets-key-file). For programs above 100 kB they also need --s3-endpoint.",
			set:  func(c *Config, v string) (err error) { c.Replicas, err = boolean(v); return err }},
		{Name: "token", Env: "ATELIER_TOKEN", Form: "SECRET", Group: "Server", Secret: true,
			Help: "Administrator token for automation, at least 24 characters.",
			set:  func(c *Config, v string) (err error) { c.Token, err = token(v); return err }},
		{Name: "secrets-key", Env: "ATELIER_SECRETS_KEY", Form: "KEY,…", Group: "Server", Secret: true,
			Help: "Encryption key for stored secrets: 32 bytes in base64 or hex. If several are given, the first encrypts and all can decrypt. Default: read from --secrets-key-file.",
			set:  func(c *Config, v string) (err error) { c.SecretsKeys, err = vault.Parse(v); return err }},
		{Name: "secrets-key-file", Env: "ATELIER_SECRETS_KEY_FILE", Form: "FILE", Group: "Server",
			Help: "File with encryption keys for secrets, one per line (default: secrets.key in the data directory, created when first needed).",
			set:  func(c *Config, v string) error { c.SecretsFile = v; return nil }},
		{Name: "body-bytes", Env: "ATELIER_BODY_BYTES", Default: strconv.Itoa(8 << 20), Form: "BYTES", Group: "Server",
			Help: "Maximum size of a request body.",
			set:  number(64<<10, 32<<20, func(c *Config) *int64 { return &c.BodyBytes })},
		{Name: "request-memory", Env: "ATELIER_REQUEST_MEMORY", Default: strconv.Itoa(512 << 20), Form: "BYTES", Group: "Server",
			Help: "Maximum memory for request bodies, run inputs and large answers that are being processed. A third of the memory limit of the server's control group applies if that is less. One workspace may use half. Further requests are refused with 429 and Retry-After.",
			set:  number(64<<20, 1<<40, func(c *Config) *int64 { return &c.RequestMemory })},
		{Name: "drain-delay", Env: "ATELIER_DRAIN_DELAY", Default: "1s", Form: "DURATION", Group: "Server",
			Help: "Time between the stop signal and the closing of the listeners. During this time /ready returns 503, so that load balancers stop sending requests. Set it longer than the interval of their health checks.",
			set:  func(c *Config, v string) (err error) { c.DrainDelay, err = duration(v); return err }},
		{Name: "shutdown-grace", Env: "ATELIER_SHUTDOWN_GRACE", Default: "10s", Form: "DURATION", Group: "Server",
			Help: "Time for running programs to finish when the server stops. Programs that still run are then interrupted.",
			set:  func(c *Config, v string) (err error) { c.ShutdownGrace, err = duration(v); return err }},
		{Name: "debug-listen", Env: "ATELIER_DEBUG_LISTEN", Form: "HOST:PORT", Group: "Server",
			Help: "Loopback address that serves profiles at /debug/pprof/ (default: off). Every user of this machine can read them.",
			set:  func(c *Config, v string) (err error) { c.DebugListen, err = loopbackAddress(v); return err }},
		{Name: "keep-runs", Env: "ATELIER_KEEP_RUNS", Default: "720h", Form: "DURATION", Group: "Server",
			Help: "Time to keep finished runs, for example 2160h. The last 100 runs of each version and draft are always kept. 0s keeps all runs forever.",
			set:  func(c *Config, v string) (err error) { c.KeepRuns, err = span(v); return err }},
		{Name: "keep-overlays", Env: "ATELIER_KEEP_OVERLAYS", Default: "720h", Form: "DURATION", Group: "Server",
			Help: "Time that file changes proposed by a run wait for a decision before they expire.",
			set:  func(c *Config, v string) (err error) { c.KeepOverlays, err = waiting(v); return err }},
		{Name: "gc-older", Env: "ATELIER_GC_OLDER", Default: "0s", Form: "DURATION", Group: "Server",
			Help: "Age of unneeded data that the server removes automatically, once an hour, for example 2160h. It removes the same data as atelier gc. The minimum is 1h; 0s turns this off.",
			set:  func(c *Config, v string) (err error) { c.GCOlder, err = age(v); return err }},
		{Name: "tasks-concurrent", Env: "ATELIER_TASKS_CONCURRENT", Default: "5", Form: "N", Group: "Server",
			Help: "Maximum number of tasks that this server executes at the same time. Further tasks wait.",
			set:  count(1, 100, func(c *Config) *int { return &c.Tasks })},
		{Name: "keep-events", Env: "ATELIER_KEEP_EVENTS", Default: "168h", Form: "DURATION", Group: "Server",
			Help: "Time to keep the events of finished runs. The input, the output and the end of the printed text are stored with the run itself. 0s keeps the events as long as the run.",
			set:  func(c *Config, v string) (err error) { c.KeepEvents, err = span(v); return err }},
		{Name: "log-level", Env: "ATELIER_LOG_LEVEL", Aliases: []string{"CODE_EXEC_LOG_LEVEL"}, Default: "info", Form: "LEVEL", Group: "Server",
			Help: "Log level: debug, info, warn or error.",
			set: func(c *Config, v string) (err error) {
				c.LogLevel, err = oneOf(v, "debug", "info", "warn", "error")
				return err
			}},
		{Name: "log-format", Env: "ATELIER_LOG_FORMAT", Default: "text", Form: "FORMAT", Group: "Server",
			Help: "Log format: text or json.",
			set:  func(c *Config, v string) (err error) { c.LogFormat, err = oneOf(v, "text", "json"); return err }},
	}
}

func runSettings() []Setting {
	return []Setting{
		{Name: "python", Env: "ATELIER_PYTHON", Form: "FILE", Group: "Programs",
			Help: "Path of the Python interpreter (default: python3 in /usr/bin or /usr/local/bin).",
			set:  func(c *Config, v string) (err error) { c.Python, err = absolute(v); return err }},
		{Name: "bash", Env: "ATELIER_BASH", Form: "FILE", Group: "Programs",
			Help: "Path of Bash (default: bash in /usr/bin or /usr/local/bin).",
			set:  func(c *Config, v string) (err error) { c.Bash, err = absolute(v); return err }},
		{Name: "node", Env: "ATELIER_NODE", Form: "FILE", Group: "Programs",
			Help: "Path of Node.js 20 or newer (default: node in /usr/bin or /usr/local/bin).",
			set:  func(c *Config, v string) (err error) { c.Node, err = absolute(v); return err }},
		{Name: "monty", Env: "ATELIER_MONTY", Form: "FILE", Group: "Programs",
			Help: "Path of the Monty interpreter, for the runtime monty (default: monty in /usr/bin or /usr/local/bin).",
			set:  func(c *Config, v string) (err error) { c.Monty, err = absolute(v); return err }},
		{Name: "wasmedge", Env: "WASMEDGE_PATH", Form: "FILE", Group: "Programs",
			Help: "Path of the program wasmedge, for the runtime wasmedge (default: none).",
			set:  func(c *Config, v string) (err error) { c.WasmEdge, err = absolute(v); return err }},
		{Name: "typescript", Env: "ATELIER_TYPESCRIPT", Form: "FILE", Group: "Programs",
			Help: "Path of the native TypeScript compiler, for schemas from types (default: typescript/tsc next to this program, else the compiler installed with npm install -g typescript@7).",
			set:  func(c *Config, v string) (err error) { c.TypeScript, err = absolute(v); return err }},
		{Name: "concurrency", Env: "ATELIER_CONCURRENCY", Default: "0", Form: "N", Group: "Programs",
			Help: "Maximum number of programs that run at the same time. 0 chooses a number for the processors of this machine. With 4 or more, the last free slot is reserved for a workspace that has no active run.",
			set:  count(0, 4096, func(c *Config) *int { return &c.Concurrency })},
		{Name: "queue-size", Env: "ATELIER_QUEUE_SIZE", Default: "100", Form: "N", Group: "Programs",
			Help: "Maximum number of queued runs per workspace. Further runs are refused with 429.",
			set:  count(0, 100_000, func(c *Config) *int { return &c.QueueSize })},
		{Name: "warm", Env: "ATELIER_WARM", Default: "2", Form: "N", Group: "Programs",
			Help: "Number of workers to start ahead of time for each runtime.",
			set:  count(1, 256, func(c *Config) *int { return &c.Warm })},
		{Name: "allow-weak-sandbox", Env: "ATELIER_ALLOW_WEAK_SANDBOX", Form: "MECHANISM,…", Group: "Programs",
			Help: "Required sandbox mechanisms that may be missing on this host; only seccomp is possible. By default the server runs no program if a required mechanism is missing.",
			set:  func(c *Config, v string) (err error) { c.AllowWeak, err = mechanisms(v, weakMechanisms()); return err }},
		{Name: "mask-sandbox", Env: "ATELIER_MASK_SANDBOX", Form: "MECHANISM,…", Group: "Programs",
			Help: "Simulate a host without these sandbox mechanisms: namespaces, seccomp, landlock, cgroups, proc. This makes the sandbox weaker.",
			set:  func(c *Config, v string) (err error) { c.Masked, err = mechanisms(v, maskableMechanisms()); return err }},
		{Name: "egress-hosts", Env: "ATELIER_EGRESS_HOSTS", Default: "*", Form: "[WORKSPACE=]HOST:PORT,…", Group: "Programs",
			Help: "Hosts that agents may be granted at most, for example api.example.com:443, *.example.com:443 or 10.0.0.5:5432. * means the public internet; none means no host. Private addresses must be listed. An entry that starts with WORKSPACE= applies only to that workspace. All other workspaces use the entries without a workspace, or the public internet if there are none. The server's own listeners and metadata addresses are always blocked.",
			set:  func(c *Config, v string) (err error) { c.Egress, err = ceilings(v); return err }},
		{Name: "restricted-workspaces", Env: "ATELIER_RESTRICTED_WORKSPACES", Form: "NAME,…", Group: "Programs",
			Help: "Workspaces whose programs must follow the rules `restricted`: they may import only listed modules and must not create code from text. The gate checks all languages; Python programs are also checked while they run. * means all workspaces. An agent can also set these rules for itself.",
			set:  func(c *Config, v string) error { c.Restricted = list(v); return nil }},
		{Name: "script-runtime", Env: "ATELIER_SCRIPT_RUNTIME", Default: "false", Form: "BOOL", Group: "Programs", Switch: true,
			Help: "Enable the deterministic runtime `script` for tests and demos. It follows a script instead of running a program.",
			set:  func(c *Config, v string) (err error) { c.ScriptRuntime, err = boolean(v); return err }},
	}
}

// quotaSettings lists the settings for the default quotas of workspaces.
func quotaSettings() []Setting {
	var all []Setting
	for _, q := range []struct {
		name, form, what string
		field            func(*Quotas) *int64
	}{
		{"concurrent-runs", "N", "Maximum concurrent runs of a workspace, including queued runs", func(q *Quotas) *int64 { return &q.ConcurrentRuns }},
		{"runs-per-day", "N", "Maximum runs of a workspace per day. The day begins at midnight UTC", func(q *Quotas) *int64 { return &q.RunsPerDay }},
		{"cpu-seconds-per-day", "SECONDS", "Maximum CPU time of a workspace's runs per day", func(q *Quotas) *int64 { return &q.CPUSecondsPerDay }},
		{"storage-bytes", "BYTES", "Maximum storage of a workspace: code, files of projects, and inputs, outputs and events of runs", func(q *Quotas) *int64 { return &q.StorageBytes }},
	} {
		all = append(all, Setting{Name: "quota-" + q.name, Env: envName("quota-" + q.name), Default: "0", Form: q.form, Group: "Quotas",
			Help: q.what + ". 0 means no limit. `atelier quotas set` changes it for one workspace.",
			set:  number(0, 1<<50, func(c *Config) *int64 { return q.field(&c.Quotas) })})
	}
	return all
}

// limitNames describes the limits of a run, in the order of limits.Fields.
var limitNames = []struct{ name, form, what string }{
	{"timeout-ms", "MS", "run time"}, {"cpu-ms", "MS", "CPU time"}, {"memory-bytes", "BYTES", "memory"}, {"processes", "N", "processes"},
	{"output-bytes", "BYTES", "output and result"}, {"disk-bytes", "BYTES", "disk space in the private directory"}, {"recursion-depth", "N", "call depth"},
}

// limitSettings lists the settings for the default and the maximum of each limit of a run.
func limitSettings() []Setting {
	defaults, ceilings := limits.Defaults(), limits.Ceilings()
	var all []Setting
	for i, l := range limitNames {
		byDefault := Setting{Name: "default-" + l.name, Env: envName("default-" + l.name), Default: strconv.FormatInt(*defaults.Fields()[i].Value, 10), Form: l.form,
			Group: "Limits", Help: "Default limit of " + l.what + " for agents that do not set it.",
			set: number(1, 1<<40, func(c *Config) *int64 { return c.Defaults.Fields()[i].Value })}
		if l.name == "timeout-ms" {
			byDefault.Aliases = secondsAliases()
		}
		all = append(all, byDefault, Setting{Name: "max-" + l.name, Env: envName("max-" + l.name), Default: strconv.FormatInt(*ceilings.Fields()[i].Value, 10), Form: l.form,
			Group: "Limits", Help: "Maximum limit of " + l.what + " that an agent may set.",
			set: number(1, 1<<40, func(c *Config) *int64 { return c.Ceilings.Fields()[i].Value })})
	}
	return all
}
