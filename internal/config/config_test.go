package config_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/limits"
)

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestDefaultsAreTheContract(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{File: empty(t), Getenv: env(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8002" || !c.Loopback() || c.Data != "data" || c.LogLevel != "info" || c.ShutdownGrace != 10*time.Second {
		t.Errorf("got %+v", c)
	}
	want := limits.Limits{TimeoutMs: 600_000, CPUMs: 600_000, MemoryBytes: 2 << 30, Processes: 512, OutputBytes: 16 << 20, DiskBytes: 1 << 30, RecursionDepth: 10_000}
	if c.Ceilings != want {
		t.Errorf("ceilings are %+v", c.Ceilings)
	}
}

func TestStrongerSourcesWin(t *testing.T) {
	t.Parallel()
	file := write(t, "listen: 127.0.0.1:1\nlogLevel: warn\ndata: from-file\nhost: [a.example, b.example]\n")
	c, err := config.Load(config.Sources{
		File:   file,
		Getenv: env(map[string]string{"ATELIER_LISTEN": "127.0.0.1:2", "ATELIER_LOG_LEVEL": "error"}),
		Flags:  map[string]string{"listen": "0.0.0.0:3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "0.0.0.0:3" || c.LogLevel != "error" || c.Data != "from-file" || len(c.Hosts) != 2 || c.Loopback() {
		t.Errorf("got %+v", c)
	}
}

func TestAliasesOfExistingDeployments(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{
		"CODE_EXEC_HOST": "0.0.0.0", "CODE_EXEC_PORT": "9000", "CODE_EXEC_LOG_LEVEL": "WARNING", "CODE_EXEC_MAX_EXECUTION_TIME": "12.5",
	})})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "0.0.0.0:9000" || c.LogLevel != "warn" || c.Defaults.TimeoutMs != 12_500 {
		t.Errorf("got %+v", c)
	}
}

func TestAliasesOfSkillServices(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  map[string]string
		fits func(config.Config) bool
	}{
		"directory":       {map[string]string{"CODE_EXEC_SKILLS_DIRECTORY": "/srv/skills"}, func(c config.Config) bool { return c.Skills == "/srv/skills" }},
		"other directory": {map[string]string{"SKILLS_DIR": "skills"}, func(c config.Config) bool { return c.Skills == "skills" }},
		"ours wins":       {map[string]string{"SKILLS_DIR": "skills", "ATELIER_SKILLS": "ours"}, func(c config.Config) bool { return c.Skills == "ours" }},
		"timeout":         {map[string]string{"SKILL_TIMEOUT": "30"}, func(c config.Config) bool { return c.Defaults.TimeoutMs == 30_000 }},
		"approval":        {map[string]string{"CODE_EXEC_REQUIRE_POLICY_APPROVAL_FOR_SIDE_EFFECTS": "True"}, func(c config.Config) bool { return c.ApproveSideEffects }},
		"model":           {map[string]string{"CODE_EXEC_EMBEDDING_MODEL": "/srv/models/m"}, func(c config.Config) bool { return c.EmbeddingModel == "/srv/models/m" }},
		"name of a model": {map[string]string{"CODE_EXEC_EMBEDDING_MODEL": "all-MiniLM-L6-v2"}, func(c config.Config) bool { return c.EmbeddingModel == "" }},
		"of a repository": {map[string]string{"CODE_EXEC_EMBEDDING_MODEL": "sentence-transformers/all-MiniLM-L6-v2"}, func(c config.Config) bool { return c.EmbeddingModel == "" }},
		"hosts":           {map[string]string{"ATELIER_SKILLS_HOSTS": "skills.example.com:443, *.example.org:443"}, func(c config.Config) bool { return len(c.SkillsHosts) == 2 }},
		"debug":           {map[string]string{"CODE_EXEC_DEBUG": "true"}, func(c config.Config) bool { return c.LogLevel == "debug" }},
		"nothing": {nil, func(c config.Config) bool {
			return c.Skills == "" && c.SkillsAnonymous == nil && c.SkillsBuiltin && !c.ApproveSideEffects
		}},
	} {
		c, err := config.Load(config.Sources{File: empty(t), Getenv: env(tt.env)})
		if err != nil || !tt.fits(c) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	for text, want := range map[string]string{"off": "", "loopback": "loopback", "10.0.0.0/8": "10.0.0.0/8", "loopback, 172.17.0.5, fd00::/8": "loopback,172.17.0.5/32,fd00::/8"} {
		c, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_SKILLS_ANONYMOUS": text})})
		if got := config.AnonymousText(c.SkillsAnonymous); err != nil || got != want {
			t.Errorf("skills-anonymous %s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"everybody", "0.0.0.0/0", "loopback,::/0", "off,loopback", "10.0.0.0/33", ","} {
		if _, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_SKILLS_ANONYMOUS": text})}); err == nil {
			t.Errorf("skills-anonymous %s is accepted", text)
		}
	}
	if _, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_SKILLS_HOSTS": "https://skills.example.com/"})}); err == nil {
		t.Error("an address is taken for a host")
	}
}

func TestKafka(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{
		"ATELIER_KAFKA_BROKERS": "a:9092, b:9092", "TOOL_REQUESTS_TOPIC": "in", "TOOL_EXECUTOR_TOPICS": `{"results":"out","group":"g"}`, "TOOL_EXECUTOR_TIMEOUT": "60",
		"TOOL_EXECUTOR_CPU_SECONDS": "15", "TOOL_EXECUTOR_MEMORY_MB": "512", "TOOL_EXECUTOR_MAX_CONCURRENT": "4", "ATELIER_KAFKA_WORKSPACES": "a=one,*=two", "ATELIER_KAFKA_EVENTS": "off",
		"ATELIER_KAFKA_SASL": "SCRAM-SHA-256",
	})})
	k := c.Kafka
	if err != nil || len(k.Brokers) != 2 || k.Requests != "in" || k.Results != "out" || k.Group != "g" || k.Events != "" || k.Concurrent != 4 || k.Workspaces["*"] != "two" || k.SASL != "scram-sha-256" {
		t.Errorf("%+v, %v", k, err)
	}
	if l := k.Limits(); l.TimeoutMs != 60_000 || l.CPUMs != 15_000 || l.MemoryBytes != 512<<20 {
		t.Errorf("%+v", l)
	}
	for name, text := range map[string]string{
		"ATELIER_KAFKA_BROKERS": "broker", "TOOL_REQUESTS_TOPIC": "a topic", "TOOL_EXECUTOR_TOPICS": `{"request":"x"}`, "ATELIER_KAFKA_TOPICS": `{"group":"/"}`,
		"ATELIER_KAFKA_WORKSPACES": "a", "ATELIER_KAFKA_SASL": "gssapi", "TOOL_EXECUTOR_TIMEOUT": "soon", "ATELIER_KAFKA_EVENTS": "?",
	} {
		if _, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{name: text})}); err == nil {
			t.Errorf("%s=%s is accepted", name, text)
		}
	}
}

func TestS3(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_S3_ENDPOINT": "https://s3.example.com/", "ATELIER_S3_BUCKET": "code"})})
	if s := c.S3; err != nil || s.Endpoint != "s3.example.com" || !s.TLS || s.Bucket != "code" {
		t.Errorf("%+v, %v", s, err)
	}
	for name, text := range map[string]string{"ATELIER_S3_ENDPOINT": "s3.example.com", "ATELIER_S3_BUCKET": "x"} {
		if _, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{name: text})}); err == nil {
			t.Errorf("%s=%s is accepted", name, text)
		}
	}
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	all := map[string]string{"ATELIER_REPLICAS": "true", "ATELIER_DATABASE_URL": "postgres://db/atelier", "ATELIER_SECRETS_KEY_FILE": "/etc/atelier/secrets.key"}
	if c, err := config.Load(config.Sources{File: empty(t), Getenv: env(all)}); err != nil || !c.Replicas {
		t.Errorf("%t, %v", c.Replicas, err)
	}
	for missing, want := range map[string]string{"ATELIER_DATABASE_URL": "replicas requires a PostgreSQL database", "ATELIER_SECRETS_KEY_FILE": "replicas requires secrets-key"} {
		some := maps.Clone(all)
		delete(some, missing)
		if _, err := config.Load(config.Sources{File: empty(t), Getenv: env(some)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

// Each unknown variable is reported once, with the most similar known name.
func TestNamesThatNobodyReads(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Sources{File: empty(t), Getenv: env(nil), Environ: []string{
		"PATH=/bin", "ATELIER_LISTN=x", "CODE_EXEC_SKILL_DIRECTORY=/x", "CODE_EXEC_REDIS_URL=redis://x", "CODE_EXEC_HASH_ALGORITHM=sha256", "CODE_EXEC_PORT=1",
		"ATELIER_DATA=d", "ATELIER_TEST_PG_URL=x", "ATELIER_CONFIG=x", "CODE_EXEC_REDIS_URL=twice", "ATELIER_MAX_MEMORY_BYTE=\x1b[2J",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CODE_EXEC_HASH_ALGORITHM is ignored: hashes are always SHA-256.",
		"CODE_EXEC_REDIS_URL is ignored: runs and their provenance are stored in the database.",
		"Unknown variable ATELIER_LISTN is ignored. Did you mean ATELIER_LISTEN?",
		"Unknown variable ATELIER_MAX_MEMORY_BYTE is ignored. Did you mean ATELIER_MAX_MEMORY_BYTES?",
		"Unknown variable CODE_EXEC_SKILL_DIRECTORY is ignored. Did you mean CODE_EXEC_SKILLS_DIRECTORY?",
	}
	if diff := cmp.Diff(want, c.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Sources{
		File:   write(t, "queueSize: many\ncolour: red\nwarm: {a: 1}\n"),
		Getenv: env(map[string]string{"ATELIER_TOKEN": "short-secret", "ATELIER_PYTHON": "python3", "ATELIER_DATABASE_URL": "mysql://root:hidden@db/x"}),
		Flags:  map[string]string{"listen": "8002", "log-level": "loud", "debug-listen": "0.0.0.0:6060"},
	})
	var faults config.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("got %v, want Faults", err)
	}
	for _, want := range []string{
		`--debug-listen: "0.0.0.0:6060" must be a loopback address`, `--listen: "8002" must be HOST:PORT`, `--log-level: "loud" must be one of`, `ATELIER_TOKEN must have at least 24`,
		`ATELIER_PYTHON: "python3" must be an absolute path`, `ATELIER_DATABASE_URL must be sqlite:PATH`,
		`atelier.yaml: queueSize: "many" must be a whole number`, `atelier.yaml: unknown setting colour`, `atelier.yaml: warm must be a single value`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if len(faults) != 9 {
		t.Errorf("%d faults:\n%v", len(faults), err)
	}
	for _, secret := range []string{"short-secret", "hidden"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the secret %q is repeated", secret)
		}
	}
}

func TestEgressHosts(t *testing.T) {
	t.Parallel()
	load := func(value string) (config.Config, error) {
		return config.Load(config.Sources{Getenv: env(nil), Flags: map[string]string{"egress-hosts": value}})
	}
	target, err := hostpattern.ParseTarget("api.example.com", 443)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string][2]bool{ // of workspace a, and of another
		"*": {true, true}, "none": {}, "*.example.com:443": {true, true}, "a=api.example.com:443,none": {true, false}, "a=none,*": {false, true}, "a=none": {false, true},
	} {
		c, err := load(value)
		if got := [2]bool{c.Ceiling("a").Reaches(target), c.Ceiling("b").Reaches(target)}; err != nil || got != want {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
	for _, value := range []string{"https://x", "*:443", "a=", ",", "api.example.com"} {
		if _, err := load(value); err == nil || !strings.Contains(err.Error(), "--egress-hosts") {
			t.Errorf("%s: %v", value, err)
		}
	}
	if c := (config.Config{}); !c.Ceiling("a").All { // a Config that was not loaded
		t.Error("nothing said is not everything")
	}
}

func TestContradictionsAreFaults(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_DEFAULT_TIMEOUT_MS": "700000"})})
	if err == nil || !strings.Contains(err.Error(), "default-timeout-ms (700000) must be at most max-timeout-ms (600000)") {
		t.Errorf("got %v", err)
	}
}

func TestNamedFileMustExist(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "nowhere.yaml"), Getenv: env(nil)})
	if err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestSettingsHaveNamesAndHelp(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range config.Settings() {
		if s.Help == "" || s.Env == "" || s.Form == "" || s.Group == "" || seen[s.Name] || seen[s.Env] {
			t.Errorf("%+v is incomplete or there twice", s)
		}
		seen[s.Name], seen[s.Env] = true, true
	}
}

func TestTracesNeedACollector(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env  map[string]string
		want bool
	}{
		"nothing":  {nil, false},
		"endpoint": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, true},
		"disabled": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(config.Sources{File: empty(t), Getenv: env(tt.env)})
			if err != nil || c.Traces != tt.want {
				t.Errorf("got %v, %v", c.Traces, err)
			}
		})
	}
}

func empty(t *testing.T) string { return write(t, "") }

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "atelier.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	load := func(flags map[string]string) (config.Config, error) {
		return config.Load(config.Sources{File: empty(t), Getenv: env(nil), Flags: flags})
	}
	c, err := load(map[string]string{
		"oidc-issuer": "http://localhost:9/realm/", "oidc-client": "studio", "oidc-roles": "cn=dev,ou=x=developer, ops=acme:administrator,*=Viewer",
	})
	if err == nil {
		t.Errorf("a group with a comma: %+v", c.OIDC.Roles)
	}
	c, err = load(map[string]string{"oidc-issuer": "http://localhost:9/realm/", "oidc-client": "studio", "oidc-roles": "cn=dev=developer, ops=acme:administrator,*=Viewer"})
	want := []config.GroupRole{{Group: "cn=dev", Workspace: "default", Role: "developer"}, {Group: "ops", Workspace: "acme", Role: "administrator"}, {Group: "*", Workspace: "default", Role: "viewer"}}
	if err != nil || c.OIDC.Issuer != "http://localhost:9/realm/" || !slices.Equal(c.OIDC.Roles, want) || c.OIDC.GroupsClaim != "groups" {
		t.Errorf("%+v, %v", c.OIDC, err)
	}
	for name, flags := range map[string]map[string]string{
		"must be the URL of a provider":   {"oidc-issuer": "http://login.example.com"},
		"https://login.example.com":       {"oidc-issuer": "login.example.com"},
		"user":                            {"oidc-issuer": "https://user@login.example.com"},
		"requires oidc-client":            {"oidc-issuer": "https://login.example.com"},
		`has "ops", which must be`:        {"oidc-roles": "ops"},
		`"ops=king" with an unknown role`: {"oidc-roles": "ops=king"},
		`has "=viewer", which must be`:    {"oidc-roles": "=viewer"},
		`"ops=:viewer" with an unknown`:   {"oidc-roles": "ops=:viewer"},
	} {
		if _, err := load(flags); err == nil || name != "user" && !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

func TestApprovalWebhook(t *testing.T) {
	t.Parallel()
	const url, secret = "https://hooks.example.com/atelier?a=b", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	load := func(flags map[string]string) (config.Config, error) {
		return config.Load(config.Sources{File: empty(t), Getenv: env(nil), Flags: flags})
	}
	c, err := load(map[string]string{"approval-webhook": url, "approval-webhook-secret": secret + "," + secret})
	if err != nil || c.Approvals.Webhook != url || len(c.Approvals.Secrets) != 2 || string(c.Approvals.Secrets[0]) != "01234567890123456789012345678901" {
		t.Errorf("%+v, %v", c.Approvals, err)
	}
	for want, flags := range map[string]map[string]string{
		"requires approval-webhook-secret":  {"approval-webhook": url},
		"must be a URL without a user name": {"approval-webhook": "https://me@hooks.example.com", "approval-webhook-secret": secret},
		"must be whsec_":                    {"approval-webhook-secret": "not-one-" + secret},
		"24 to 64 bytes":                    {"approval-webhook-secret": "whsec_c2hvcnQ="},
		"from 10ms to 1h":                   {"approval-webhook-retry": "0s"},
	} {
		_, err := load(flags)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

// A node stores the interpreter under the last name in its URL, so the URL must have one.
func TestBacalhauPythonModule(t *testing.T) {
	t.Parallel()
	const name = "bacalhau-python-module"
	for _, url := range []string{"https://files.example.com", "https://files.example.com/", "https://files.example.com/my%20python.wasm", "https://files.example.com/python.wasm?a=b", "python.wasm"} {
		if _, err := config.Load(config.Sources{File: empty(t), Getenv: env(nil), Flags: map[string]string{name: url}}); err == nil || !strings.Contains(err.Error(), "name of a file") {
			t.Errorf("%s: %v", url, err)
		}
	}
	const url = "https://files.example.com/wasm/python.wasm"
	if c, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_BACALHAU_PYTHON_MODULE": url})}); err != nil || c.Bacalhau.Module != url {
		t.Errorf("%q, %v", c.Bacalhau.Module, err)
	}
}

// The variables of existing deployments configure the policy service.
func TestPolicyService_FormerVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SA01_POLICY_URL", "SA01_OPA_URL"} {
		c, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{name: "http://127.0.0.1:8181/", "SA01_POLICY_DATA_PATH": "/v1/data/tools/allow", "SA01_POLICY_CACHE_TTL": "3"})})
		if want := (config.Policy{URL: "http://127.0.0.1:8181", Path: "/v1/data/tools/allow", TTL: 3 * time.Second, Keep: 168 * time.Hour}); err != nil || c.Policy != want {
			t.Errorf("%s: %+v, %v", name, c.Policy, err)
		}
	}
}
