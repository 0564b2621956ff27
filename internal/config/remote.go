package config

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// E2B configures the service E2B, which runs programs in remote sandboxes. Without Key the service is not used.
type E2B struct {
	Key       string
	API       string // URL of the API; "" means the API of the domain
	Domain    string // "" means e2b.app
	Template  string // "" means the template base
	Sandboxes string // URL of all sandboxes; "" means that each sandbox has a URL below the domain
}

// Bacalhau configures a Bacalhau network, which runs programs as jobs. Without Host the network is not used.
type Bacalhau struct {
	Host      string
	Port      string // "" means 1234
	Key       string
	Python    string // container image; "" means the engine's default image, also for Node and Bash
	Module    string // URL of a Python interpreter that is a WebAssembly module; "" for none
	Node      string
	Bash      string
	Publisher string // "" means local
}

// text returns a parser that stores a value in the given field. The parser rejects white space.
func text(into func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if strings.ContainsAny(v, " \t\r\n") {
			return errors.New("must not contain spaces")
		}
		*into(c) = v
		return nil
	}
}

func remoteSettings() []Setting {
	const group = "Programs that run elsewhere"
	return []Setting{
		{Name: "router", Env: "ATELIER_ROUTER", Form: "FILE", Group: group,
			Help: "YAML file with the routing table, which chooses the runtime of each run (default: the built-in table). The server describes its form at /schemas/router.json.",
			set:  text(func(c *Config) *string { return &c.Router })},
		{Name: "e2b-api-key", Env: "E2B_API_KEY", Form: "SECRET", Group: group, Secret: true,
			Help: "API key of an E2B team, for the runtime e2b (default: none). Programs with that runtime, their inputs and secrets are sent there.",
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
			Help: "Common address of all sandboxes of a self-hosted E2B (default: each sandbox has its own address below the domain).",
			set:  func(c *Config, v string) (err error) { c.E2B.Sandboxes, err = policyURL(v); return err }},
		{Name: "bacalhau-api-host", Env: "BACALHAU_API_HOST", Form: "HOST", Group: group,
			Help: "Host name of the orchestrator of a Bacalhau network, for the runtime bacalhau (default: none). Put https:// before it to use TLS. Programs with that runtime, their inputs and secrets are sent there.",
			set: func(c *Config, v string) error {
				name := strings.TrimPrefix(strings.TrimPrefix(v, "https://"), "http://")
				if strings.ContainsAny(name, "/@?# ") || v != "" && name == "" {
					return errors.New("must be a name or an address without a path, for example bacalhau.example.com")
				}
				c.Bacalhau.Host = v
				return nil
			}},
		{Name: "bacalhau-api-port", Env: "BACALHAU_API_PORT", Form: "PORT", Group: group,
			Help: "Port of the orchestrator (default: 1234).",
			set: func(c *Config, v string) error {
				if n, err := strconv.Atoi(v); v != "" && (err != nil || n < 1 || n > 65535) {
					return errors.New("must be a port from 1 to 65535")
				}
				c.Bacalhau.Port = v
				return nil
			}},
		{Name: "bacalhau-api-key", Env: "BACALHAU_API_KEY", Form: "SECRET", Group: group, Secret: true,
			Help: "API key of the orchestrator (default: none).",
			set:  text(func(c *Config) *string { return &c.Bacalhau.Key })},
		{Name: "bacalhau-python-image", Env: "ATELIER_BACALHAU_PYTHON_IMAGE", Form: "IMAGE", Group: group,
			Help: "Container image for Python programs at Bacalhau. It needs Python 3.10 or newer (default: python:3.12-slim).",
			set:  text(func(c *Config) *string { return &c.Bacalhau.Python })},
		{Name: "bacalhau-python-module", Env: "ATELIER_BACALHAU_PYTHON_MODULE", Form: "URL", Group: group,
			Help: "URL of a Python interpreter for WASI: one WebAssembly module that contains its standard library (default: none). Nodes download it, with HEAD and GET and without a redirect, and run Python programs in it, so they need no containers. It needs Python 3.10 or newer. Programs with hosts, subprocesses or a GPU still run in the image.",
			set: func(c *Config, v string) error {
				// A node stores the file under the last name in the path.
				name, err := policyURL(v)
				if u, _ := url.Parse(name); err != nil || name != "" && (strings.Trim(u.Path, "/") == "" || strings.Contains(name, "%")) {
					return errors.New("must be a URL without credentials, query and %, whose path ends with the name of a file, for example https://files.example.com/python.wasm")
				}
				c.Bacalhau.Module = name
				return nil
			}},
		{Name: "bacalhau-node-image", Env: "ATELIER_BACALHAU_NODE_IMAGE", Form: "IMAGE", Group: group,
			Help: "Container image for JavaScript and TypeScript programs at Bacalhau. It needs Node.js 20 or newer (default: node:22-slim).",
			set:  text(func(c *Config) *string { return &c.Bacalhau.Node })},
		{Name: "bacalhau-bash-image", Env: "ATELIER_BACALHAU_BASH_IMAGE", Form: "IMAGE", Group: group,
			Help: "Container image for Bash programs at Bacalhau. It needs Bash 5 or newer, tar and gzip (default: debian:12-slim).",
			set:  text(func(c *Config) *string { return &c.Bacalhau.Bash })},
		{Name: "bacalhau-publisher", Env: "ATELIER_BACALHAU_PUBLISHER", Form: "NAME", Group: group,
			Help: "Bacalhau publisher that stores the results of jobs: local or s3managed (default: local).",
			set: func(c *Config, v string) error {
				if v != "" && v != "local" && v != "s3managed" {
					return errors.New("must be local or s3managed")
				}
				c.Bacalhau.Publisher = v
				return nil
			}},
	}
}
