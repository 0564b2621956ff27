package config

import (
	"errors"
	"strconv"
	"time"
)

// LLM configures a language model that is called through an API like OpenAI's. Without BaseURL there is no model.
type LLM struct {
	BaseURL    string
	Model      string
	Key        string
	Timeout    time.Duration // maximum time of one request
	Attempts   int           // maximum number of requests until a proposal passes its checks
	FirstDelay time.Duration // delay before the second attempt
	Factor     float64       // factor by which the delay grows after each further attempt
	LongDelay  time.Duration // maximum delay
	Models     []string      // models that workspaces may choose instead of Model
	Workspaces []string      // workspaces that may use the model; empty means all
	// TokensPerMonth limits the tokens that a workspace may use in a calendar month; 0 means no limit.
	TokensPerMonth int64
	// TokensPerRun limits the tokens that the program of one run may use; 0 means no limit.
	TokensPerRun int64
	ProgramModel string // name of the model that programs call; "" means Model
	// CompletionModel is the name of the model that completes code while a person types; "" means Model.
	CompletionModel string
	// EmbeddingModel is the name of the model that compares the meaning of tasks and tools; "" means none.
	EmbeddingModel string
	Likeness       float64 // minimum cosine similarity between a task and a tool that fits the task
}

func llmSettings() []Setting {
	const group = "Language model"
	return []Setting{
		{Name: "llm-base-url", Env: "ATELIER_LLM_BASE_URL", Form: "URL", Group: group,
			Help: "Address of a language model with the OpenAI API, for example http://127.0.0.1:11434/v1 (default: none). Programs, errors and inputs of members who ask for help are sent there.",
			set:  func(c *Config, v string) (err error) { c.LLM.BaseURL, err = policyURL(v); return err }},
		{Name: "llm-model", Env: "ATELIER_LLM_MODEL", Form: "NAME", Group: group,
			Help: "Name of the model.",
			set:  func(c *Config, v string) error { c.LLM.Model = v; return nil }},
		{Name: "llm-models", Env: "ATELIER_LLM_MODELS", Form: "NAME,…", Group: group,
			Help: "Further models at the same address. Administrators of workspaces may choose one of them instead of --llm-model.",
			set:  func(c *Config, v string) error { c.LLM.Models = list(v); return nil }},
		{Name: "llm-api-key", Env: "ATELIER_LLM_API_KEY", Form: "SECRET", Group: group, Secret: true,
			Help: "API key of the language model, if it needs one.",
			set:  func(c *Config, v string) error { c.LLM.Key = v; return nil }},
		{Name: "llm-workspaces", Env: "ATELIER_LLM_WORKSPACES", Form: "NAME,…", Group: group,
			Help: "Workspaces whose members may use the model (default: all).",
			set:  func(c *Config, v string) error { c.LLM.Workspaces = list(v); return nil }},
		{Name: "llm-tokens-per-month", Env: "ATELIER_LLM_TOKENS_PER_MONTH", Default: "0", Form: "N", Group: group,
			Help: "Maximum tokens of requests and answers that a workspace may use in a calendar month. 0 means no limit.",
			set:  number(0, 1<<50, func(c *Config) *int64 { return &c.LLM.TokensPerMonth })},
		{Name: "llm-program-model", Env: "ATELIER_LLM_PROGRAM_MODEL", Form: "NAME", Group: group,
			Help: "Name of the model that programs ask with askLLM (default: the model of the workspace).",
			set:  func(c *Config, v string) error { c.LLM.ProgramModel = v; return nil }},
		{Name: "llm-completion-model", Env: "ATELIER_LLM_COMPLETION_MODEL", Form: "NAME", Group: group,
			Help: "Name of the model that completes code in the editor (default: the model of the workspace). A small model that supports fill-in-the-middle is fastest.",
			set:  func(c *Config, v string) error { c.LLM.CompletionModel = v; return nil }},
		{Name: "llm-embedding-model", Env: "ATELIER_LLM_EMBEDDING_MODEL", Form: "NAME", Group: group,
			Help: "Name of an embedding model at the same address (/embeddings). With it, tools for a task are found by meaning, else by comparing words (default: none). Names, descriptions and schemas of published tools are sent there.",
			set:  func(c *Config, v string) error { c.LLM.EmbeddingModel = v; return nil }},
		{Name: "llm-embedding-likeness", Env: "ATELIER_LLM_EMBEDDING_LIKENESS", Default: "0.7", Form: "N", Group: group,
			Help: "Minimum cosine similarity of a task and a matching tool. Good values differ between models. Raise it if unsuitable tools are found.",
			set: func(c *Config, v string) error {
				likeness, err := strconv.ParseFloat(v, 64)
				if err != nil || !(likeness > 0 && likeness <= 1) {
					return errors.New("must be a number above 0, at most 1")
				}
				c.LLM.Likeness = likeness
				return nil
			}},
		{Name: "llm-tokens-per-run", Env: "ATELIER_LLM_TOKENS_PER_RUN", Default: "100000", Form: "N", Group: group,
			Help: "Maximum tokens that a run and the runs it calls may use with askLLM. After the call that reaches the limit, further calls are refused. 0 means no limit.",
			set:  number(0, 1<<50, func(c *Config) *int64 { return &c.LLM.TokensPerRun })},
		{Name: "llm-timeout", Env: "ATELIER_LLM_TIMEOUT", Default: "2m", Form: "DURATION", Group: group,
			Help: "Maximum time for one answer of the model.",
			set: func(c *Config, v string) (err error) {
				if c.LLM.Timeout, err = duration(v); err == nil && c.LLM.Timeout < time.Second {
					err = errors.New("must be at least 1s")
				}
				return err
			}},
		{Name: "llm-attempts", Env: "ATELIER_LLM_ATTEMPTS", Default: "3", Form: "N", Group: group,
			Help: "Maximum attempts for one proposal. A proposal that fails its checks is returned to the model with the error.",
			set: func(c *Config, v string) error {
				n, err := strconv.Atoi(v)
				if err != nil || n < 1 || n > 10 {
					return errors.New("must be a number from 1 to 10")
				}
				c.LLM.Attempts = n
				return nil
			}},
		{Name: "llm-first-delay", Env: "ATELIER_LLM_FIRST_DELAY", Default: "1s", Form: "DURATION", Group: group,
			Help: "Delay before the second attempt.",
			set:  func(c *Config, v string) (err error) { c.LLM.FirstDelay, err = duration(v); return err }},
		{Name: "llm-delay-factor", Env: "ATELIER_LLM_DELAY_FACTOR", Default: "2", Form: "N", Group: group,
			Help: "Factor by which the delay grows after each further attempt.",
			set: func(c *Config, v string) error {
				factor, err := strconv.ParseFloat(v, 64)
				if err != nil || factor < 1 || factor > 10 {
					return errors.New("must be a number from 1 to 10")
				}
				c.LLM.Factor = factor
				return nil
			}},
		{Name: "llm-longest-delay", Env: "ATELIER_LLM_LONGEST_DELAY", Default: "30s", Form: "DURATION", Group: group,
			Help: "Longest delay between two attempts.",
			set:  func(c *Config, v string) (err error) { c.LLM.LongDelay, err = duration(v); return err }},
	}
}
