package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Sources lists the sources of the configuration. Flags override environment variables, and environment variables
// override the file.
type Sources struct {
	File    string // path of atelier.yaml; "" means the path in ATELIER_CONFIG, or atelier.yaml in the working directory if it exists
	Getenv  func(string) string
	Environ []string          // entries NAME=VALUE, in which Load finds unknown names; nil disables this check
	Flags   map[string]string // values of the flags that were set, by Setting.Name
}

// Faults lists all wrong values of a configuration, one message each.
type Faults []string

func (f Faults) Error() string {
	return "invalid configuration:\n  " + strings.Join(f, "\n  ")
}

// value is the text of a setting and the name of its source, for example --listen. Error messages contain the name.
type value struct{ text, from string }

// defaultFile is the configuration file that is read if it exists and no other file is named.
const defaultFile = "atelier.yaml"

// secondsAliases lists environment variables that set default-timeout-ms, but in seconds.
func secondsAliases() []string { return []string{"CODE_EXEC_MAX_EXECUTION_TIME", "SKILL_TIMEOUT"} }

// Environment returns the value of an environment variable of this process. main passes it as Sources.Getenv.
func Environment(name string) string { return os.Getenv(name) }

// Environ lists the environment variables of this process.
func Environ() []string { return os.Environ() }

// Load reads all sources and returns the configuration. If values are wrong, the error has the type Faults.
func Load(from Sources) (Config, error) {
	settings := Settings()
	file, faults := readFile(from, settings)
	var c Config
	for _, s := range settings {
		v, ok := pick(s, from, file)
		if !ok {
			v = value{text: s.Default, from: s.Name}
		}
		if v.text == "" && s.Default == "" {
			continue
		}
		if err := s.set(&c, v.text); err != nil {
			faults = append(faults, complaint(s, v, err))
		}
	}
	if len(faults) == 0 {
		faults = contradictions(c)
		if err := joinBase(&c); err != nil {
			faults = append(faults, "base-path "+err.Error())
		}
	}
	if len(faults) > 0 {
		return Config{}, faults
	}
	c.Traces = traces(from.Getenv)
	c.Notes = notes(settings, from.Environ)
	return c, nil
}

// pick returns the value of a setting from the source with the highest priority among those that set it.
func pick(s Setting, from Sources, file map[string]string) (value, bool) {
	if text, ok := from.Flags[s.Name]; ok {
		return value{text, "--" + s.Name}, true
	}
	if text := from.Getenv(s.Env); text != "" {
		return value{text, s.Env}, true
	}
	if v, ok := aliased(s, from.Getenv); ok {
		return v, true
	}
	if text, ok := file[s.Key()]; ok {
		return value{text, "atelier.yaml: " + s.Key()}, true
	}
	return value{}, false
}

// aliased reads a setting from environment variables with older names, such as CODE_EXEC_HOST. It converts values that
// have another format.
func aliased(s Setting, getenv func(string) string) (value, bool) {
	switch host, port := getenv("CODE_EXEC_HOST"), getenv("CODE_EXEC_PORT"); {
	case s.Name == "listen" && (host != "" || port != ""):
		host, port = or(host, "127.0.0.1"), or(port, "8002")
		return value{joinHostPort(host, port), "CODE_EXEC_HOST, CODE_EXEC_PORT"}, true
	case s.Name == "log-level" && getenv("CODE_EXEC_LOG_LEVEL") == "" && truthy(getenv("CODE_EXEC_DEBUG")):
		return value{"debug", "CODE_EXEC_DEBUG"}, true
	}
	for _, name := range s.Aliases {
		text := getenv(name)
		if text == "" {
			continue
		}
		if seconds, err := strconv.ParseFloat(text, 64); slices.Contains(secondsAliases(), name) && err == nil {
			text = strconv.FormatInt(int64(seconds*1000), 10)
		}
		if name == "CODE_EXEC_EMBEDDING_MODEL" && !filepath.IsAbs(text) {
			continue // the value is not a directory but the name of a model, such as sentence-transformers/all-MiniLM-L6-v2, and is ignored
		}
		if name == "CODE_EXEC_LOG_LEVEL" && strings.EqualFold(text, "warning") {
			text = "warn"
		}
		return value{text, name}, true
	}
	return value{}, false
}

// readFile reads atelier.yaml. The file has top-level keys, and their values are scalars or lists.
func readFile(from Sources, settings []Setting) (map[string]string, Faults) {
	name := or(from.File, from.Getenv("ATELIER_CONFIG"))
	text, err := os.ReadFile(or(name, defaultFile))
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		return nil, nil
	}
	if err != nil {
		return nil, Faults{fmt.Sprintf("--config: %v", err)}
	}
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil {
		return nil, Faults{fmt.Sprintf("%s is not valid YAML with one setting per line: %v", or(name, defaultFile), err)}
	}
	values := map[string]string{}
	var faults Faults
	for key, v := range keys {
		text, ok := scalar(v)
		switch {
		case !slices.ContainsFunc(settings, func(s Setting) bool { return s.Key() == key }):
			faults = append(faults, fmt.Sprintf("atelier.yaml: unknown setting %s; `atelier serve --help` lists all settings", key))
		case !ok:
			faults = append(faults, fmt.Sprintf("atelier.yaml: %s must be a single value or a list of values", key))
		default:
			values[key] = text
		}
	}
	slices.Sort(faults)
	return values, faults
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string, bool, int, int64, uint64, float64:
		return fmt.Sprint(v), true
	case []any:
		var parts []string
		for _, item := range v {
			text, ok := scalar(item)
			if !ok {
				return "", false
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ","), true
	}
	return "", false
}

// contradictions reports combinations of settings that contradict each other, although each value is valid alone.
func contradictions(c Config) Faults {
	var faults Faults
	most := c.Ceilings.Fields()
	for i, f := range c.Defaults.Fields() {
		if *f.Value > *most[i].Value {
			faults = append(faults, fmt.Sprintf("default-%s (%d) must be at most max-%s (%d)", limitNames[i].name, *f.Value, limitNames[i].name, *most[i].Value))
		}
	}
	if c.SecretsKeys.ID() != "" && c.SecretsFile != "" {
		faults = append(faults, "secrets-key and secrets-key-file are both set; set only one of them")
	}
	if c.Replicas && !strings.HasPrefix(c.DatabaseURL, "postgres") {
		faults = append(faults, "replicas requires a PostgreSQL database; set database to postgres://…")
	}
	if c.Replicas && c.SecretsKeys.ID() == "" && c.SecretsFile == "" {
		faults = append(faults, "replicas requires secrets-key or secrets-key-file; all servers need the same key")
	}
	if c.OIDC.Issuer != "" && c.OIDC.Client == "" {
		faults = append(faults, "oidc-issuer requires oidc-client; register this server at the provider and set the client ID it assigns")
	}
	if slices.Contains(c.OIDC.Audiences, c.OIDC.Client) && c.OIDC.Client != "" {
		faults = append(faults, "oidc-audience must not contain the value of oidc-client; ID tokens have that audience. Set the audience of access tokens")
	}
	if len(c.OIDC.Audiences) > 0 && (c.OIDC.Issuer == "" || c.PublicURL == "") {
		faults = append(faults, "oidc-audience requires oidc-issuer and public-url; access tokens are accepted only with both")
	}
	if c.Approvals.Webhook != "" && len(c.Approvals.Secrets) == 0 {
		faults = append(faults, "approval-webhook requires approval-webhook-secret; the receiver checks the signature with it")
	}
	if (c.LLM.BaseURL == "") != (c.LLM.Model == "") {
		faults = append(faults, "llm-base-url and llm-model require each other; set both or none")
	}
	if c.LLM.EmbeddingModel != "" && c.LLM.Model == "" {
		faults = append(faults, "llm-embedding-model requires llm-base-url and llm-model")
	}
	return faults
}

func complaint(s Setting, v value, err error) string {
	if s.Secret || v.text == "" {
		return fmt.Sprintf("%s %v", v.from, err)
	}
	return fmt.Sprintf("%s: %q %v", v.from, v.text, err)
}

// traces reports whether the standard OTEL_* variables name a collector for traces. The OpenTelemetry library itself
// reads the collector's address and the other settings.
func traces(getenv func(string) string) bool {
	return !truthy(getenv("OTEL_SDK_DISABLED")) && getenv("OTEL_TRACES_EXPORTER") != "none" &&
		(getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "")
}
