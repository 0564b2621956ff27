package config

import (
	"errors"
	"strings"
)

// E2B is a service with sandboxes for programs; without a key there is none.
type E2B struct {
	Key       string
	API       string // "" for that of the domain
	Domain    string // "" for e2b.app
	Template  string // "" for base
	Sandboxes string // address of all sandboxes, "" for addresses below the domain
}

func remoteSettings() []Setting {
	const group = "Programs that run elsewhere"
	return []Setting{
		{Name: "e2b-api-key", Env: "E2B_API_KEY", Form: "SECRET", Group: group, Secret: true,
			Help: "Key of an E2B team, for the runtime e2b (default: none). Programs with that runtime, their inputs and secrets are sent there.",
			set:  func(c *Config, v string) error { c.E2B.Key = v; return nil }},
		{Name: "e2b-api-url", Env: "E2B_API_URL", Form: "URL", Group: group,
			Help: "Address of E2B's API (default: https://api.DOMAIN).",
			set:  func(c *Config, v string) (err error) { c.E2B.API, err = policyURL(v); return err }},
		{Name: "e2b-domain", Env: "E2B_DOMAIN", Form: "NAME", Group: group,
			Help: "Domain of E2B (default: e2b.app).",
			set: func(c *Config, v string) error {
				if strings.ContainsAny(v, "/:@?# ") {
					return errors.New("must be a domain, for example e2b.app")
				}
				c.E2B.Domain = v
				return nil
			}},
		{Name: "e2b-template", Env: "E2B_TEMPLATE", Form: "NAME", Group: group,
			Help: "Template of the sandboxes, with Python 3.10 or newer (default: base).",
			set:  func(c *Config, v string) error { c.E2B.Template = v; return nil }},
		{Name: "e2b-sandbox-url", Env: "E2B_SANDBOX_URL", Form: "URL", Group: group,
			Help: "One address for all sandboxes of a self-hosted E2B (default: addresses below the domain).",
			set:  func(c *Config, v string) (err error) { c.E2B.Sandboxes, err = policyURL(v); return err }},
	}
}
