package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/limits"
)

// Kafka configures the Kafka API. The server runs the tools that messages of one topic request, and publishes the
// results in another topic. Without brokers the Kafka API is off.
type Kafka struct {
	Brokers      []string
	Requests     string
	Results      string
	Events       string // topic of side events; "" means none
	Group        string
	Concurrent   int64
	Timeout      time.Duration // Timeout, CPUSeconds and MemoryMB lower the limits of versions; 0 changes nothing
	CPUSeconds   int64
	MemoryMB     int64
	MessageBytes int64
	Workspaces   map[string]string // workspace of each tenant; "*" is for all other tenants
	TLS          bool
	CAFile       string
	SASL         string // plain, scram-sha-256 or scram-sha-512; "" means no authentication
	User         string
	Password     string
}

// Limits returns the highest limits of a run that was requested through Kafka. If a limit is 0, only the limit of the
// version applies.
func (k Kafka) Limits() limits.Limits {
	return limits.Limits{TimeoutMs: k.Timeout.Milliseconds(), CPUMs: k.CPUSeconds * 1000, MemoryBytes: k.MemoryMB << 20}
}

// kafkaTopic parses the name of a topic.
func kafkaTopic(v string) (string, error) {
	if v == "" || len(v) > 249 || strings.ContainsFunc(v, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r)
	}) {
		return "", errors.New("must be the name of a topic: letters, digits, '.', '_' and '-'")
	}
	return v, nil
}

// kafkaTopics parses a setting of existing deployments. It contains the topics and the group: {"requests": …,
// "results": …, "group": …}.
func kafkaTopics(k *Kafka, v string) error {
	if v == "" {
		return nil
	}
	var names struct {
		Requests, Results, Group string
	}
	decoder := json.NewDecoder(strings.NewReader(v))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&names) != nil {
		return errors.New(`must be JSON such as {"requests":"tool.requests","results":"tool.results","group":"tool-executor"}`)
	}
	for _, field := range []struct {
		value string
		to    *string
	}{{names.Requests, &k.Requests}, {names.Results, &k.Results}, {names.Group, &k.Group}} {
		if field.value == "" {
			continue
		}
		name, err := kafkaTopic(field.value)
		if err != nil {
			return err
		}
		*field.to = name
	}
	return nil
}

// kafkaWorkspaces parses a list TENANT=WORKSPACE,….
func kafkaWorkspaces(v string) (map[string]string, error) {
	all := map[string]string{}
	for _, pair := range list(v) {
		tenant, workspace, ok := strings.Cut(pair, "=")
		if !ok || tenant == "" || workspace == "" {
			return nil, fmt.Errorf("has %q; must be TENANT=WORKSPACE, with * for all other tenants", pair)
		}
		all[tenant] = workspace
	}
	return all, nil
}

func kafkaSASL(v string) (string, error) {
	known := []string{"", "plain", "scram-sha-256", "scram-sha-512"}
	if !slices.Contains(known, strings.ToLower(v)) {
		return "", fmt.Errorf("must be one of %s", strings.Join(known[1:], ", "))
	}
	return strings.ToLower(v), nil
}

func kafkaSettings() []Setting {
	return []Setting{
		{Name: "kafka-brokers", Env: "ATELIER_KAFKA_BROKERS", Form: "HOST:PORT,…", Group: "Kafka",
			Help: "Brokers of a Kafka cluster (default: none). With brokers, the server runs tools that are requested in a topic.",
			set: func(c *Config, v string) error {
				c.Kafka.Brokers = list(v)
				for _, broker := range c.Kafka.Brokers {
					if _, err := hostOf(broker); err != nil {
						return fmt.Errorf("has %q; must be HOST:PORT, for example 127.0.0.1:9092", broker)
					}
				}
				return nil
			}},
		{Name: "kafka-requests", Env: "ATELIER_KAFKA_REQUESTS", Aliases: []string{"TOOL_REQUESTS_TOPIC"}, Default: "tool.requests", Form: "TOPIC", Group: "Kafka",
			Help: "Topic from which requests are read. Invalid requests are copied to the topic with the suffix .dlq.",
			set:  func(c *Config, v string) (err error) { c.Kafka.Requests, err = kafkaTopic(v); return err }},
		{Name: "kafka-results", Env: "ATELIER_KAFKA_RESULTS", Aliases: []string{"TOOL_RESULTS_TOPIC"}, Default: "tool.results", Form: "TOPIC", Group: "Kafka",
			Help: "Topic to which results are written.",
			set:  func(c *Config, v string) (err error) { c.Kafka.Results, err = kafkaTopic(v); return err }},
		{Name: "kafka-events", Env: "ATELIER_KAFKA_EVENTS", Default: "conversation.outbound", Form: "TOPIC", Group: "Kafka",
			Help: "Topic for events about the start and the end of tools. off writes no events.",
			set: func(c *Config, v string) (err error) {
				if v == "off" {
					c.Kafka.Events = ""
					return nil
				}
				c.Kafka.Events, err = kafkaTopic(v)
				return err
			}},
		{Name: "kafka-group", Env: "ATELIER_KAFKA_GROUP", Aliases: []string{"TOOL_EXECUTOR_GROUP"}, Default: "tool-executor", Form: "NAME", Group: "Kafka",
			Help: "Consumer group. Servers of one group share the requests.",
			set:  func(c *Config, v string) (err error) { c.Kafka.Group, err = kafkaTopic(v); return err }},
		{Name: "kafka-topics", Env: "ATELIER_KAFKA_TOPICS", Aliases: []string{"TOOL_EXECUTOR_TOPICS"}, Form: "JSON", Group: "Kafka",
			Help: `Topics and group as one JSON value: {"requests":…,"results":…,"group":…}. Names in it override --kafka-requests, --kafka-results and --kafka-group.`,
			set:  func(c *Config, v string) error { return kafkaTopics(&c.Kafka, v) }},
		{Name: "kafka-concurrent", Env: "ATELIER_KAFKA_CONCURRENT", Aliases: []string{"TOOL_EXECUTOR_MAX_CONCURRENT"}, Default: "64", Form: "N", Group: "Kafka",
			Help: "Maximum requests in progress at the same time. The limits of the workspace and of the runtimes also apply.",
			set:  number(1, 1024, func(c *Config) *int64 { return &c.Kafka.Concurrent })},
		{Name: "kafka-timeout", Env: "ATELIER_KAFKA_TIMEOUT", Aliases: []string{"TOOL_EXECUTOR_TIMEOUT"}, Default: "0s", Form: "DURATION", Group: "Kafka",
			Help: "Maximum run time of a requested tool, for example 60s or 60. It can only lower the limit of a version. With 0s, the limit of the version applies.",
			set: func(c *Config, v string) (err error) {
				if v != "" && strings.Trim(v, "0123456789") == "" {
					v += "s" // existing deployments set this value in seconds
				}
				c.Kafka.Timeout, err = span(v)
				return err
			}},
		{Name: "kafka-cpu-seconds", Env: "ATELIER_KAFKA_CPU_SECONDS", Aliases: []string{"TOOL_EXECUTOR_CPU_SECONDS"}, Default: "0", Form: "SECONDS", Group: "Kafka",
			Help: "Maximum CPU time of a requested tool. It can only lower the limit of a version. With 0, the limit of the version applies.",
			set:  number(0, 600, func(c *Config) *int64 { return &c.Kafka.CPUSeconds })},
		{Name: "kafka-memory-mb", Env: "ATELIER_KAFKA_MEMORY_MB", Aliases: []string{"TOOL_EXECUTOR_MEMORY_MB"}, Default: "0", Form: "MB", Group: "Kafka",
			Help: "Maximum memory of a requested tool. It can only lower the limit of a version. With 0, the limit of the version applies.",
			set:  number(0, 1<<20, func(c *Config) *int64 { return &c.Kafka.MemoryMB })},
		{Name: "kafka-message-bytes", Env: "ATELIER_KAFKA_MESSAGE_BYTES", Default: "1000000", Form: "BYTES", Group: "Kafka",
			Help: "Maximum size of a message, at most max.message.bytes of the topics. A larger result is replaced by an error; the run itself keeps the result.",
			set:  number(128<<10, 24<<20, func(c *Config) *int64 { return &c.Kafka.MessageBytes })},
		{Name: "kafka-workspaces", Env: "ATELIER_KAFKA_WORKSPACES", Default: "default=default", Form: "TENANT=WORKSPACE,…", Group: "Kafka",
			Help: "Workspace for each tenant. Requests name their tenant in metadata.tenant. * stands for all other tenants. Requests of unknown tenants are answered with an error.",
			set:  func(c *Config, v string) (err error) { c.Kafka.Workspaces, err = kafkaWorkspaces(v); return err }},
		{Name: "kafka-tls", Env: "ATELIER_KAFKA_TLS", Default: "false", Form: "BOOL", Group: "Kafka", Switch: true,
			Help: "Connect to the brokers with TLS.",
			set:  func(c *Config, v string) (err error) { c.Kafka.TLS, err = boolean(v); return err }},
		{Name: "kafka-ca", Env: "ATELIER_KAFKA_CA", Form: "FILE", Group: "Kafka",
			Help: "Certificates of the authority that signed the brokers' certificates, in PEM (default: those of the system).",
			set:  func(c *Config, v string) error { c.Kafka.CAFile = v; return nil }},
		{Name: "kafka-sasl", Env: "ATELIER_KAFKA_SASL", Form: "MECHANISM", Group: "Kafka",
			Help: "Sign in to the brokers with plain, scram-sha-256 or scram-sha-512.",
			set:  func(c *Config, v string) (err error) { c.Kafka.SASL, err = kafkaSASL(v); return err }},
		{Name: "kafka-user", Env: "ATELIER_KAFKA_USER", Form: "NAME", Group: "Kafka",
			Help: "User name for --kafka-sasl.",
			set:  func(c *Config, v string) error { c.Kafka.User = v; return nil }},
		{Name: "kafka-password", Env: "ATELIER_KAFKA_PASSWORD", Form: "SECRET", Group: "Kafka", Secret: true,
			Help: "Password for --kafka-sasl.",
			set:  func(c *Config, v string) error { c.Kafka.Password = v; return nil }},
	}
}
