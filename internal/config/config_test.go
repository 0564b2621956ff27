package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/config"
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
	want := config.Limits{TimeoutMs: 600_000, CPUMs: 600_000, MemoryBytes: 2 << 30, Processes: 512, OutputBytes: 16 << 20, DiskBytes: 1 << 30, RecursionDepth: 10_000}
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
		`--debug-listen: "0.0.0.0:6060" is not a loopback address`, `--listen: "8002" is not HOST:PORT`, `--log-level: "loud" is none of`, `ATELIER_TOKEN is shorter than 24`,
		`ATELIER_PYTHON: "python3" is not an absolute path`, `ATELIER_DATABASE_URL is not a database`,
		`atelier.yaml: queueSize: "many" is not a whole number`, `atelier.yaml: colour is no setting`, `atelier.yaml: warm is not a single value`,
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

func TestContradictionsAreFaults(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Sources{File: empty(t), Getenv: env(map[string]string{"ATELIER_DEFAULT_TIMEOUT_MS": "700000"})})
	if err == nil || !strings.Contains(err.Error(), "default-timeout-ms (700000) is above max-timeout-ms (600000)") {
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
