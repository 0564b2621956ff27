package config

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// Policy configures an external policy service. Each run needs the permission of this service. Without URL there is no
// such service.
type Policy struct {
	URL  string
	Path string
	TTL  time.Duration
	Keep time.Duration // how long blocked requests are stored
}

func policySettings() []Setting {
	return []Setting{
		{Name: "policy-url", Env: "ATELIER_POLICY_URL", Aliases: []string{"SA01_POLICY_URL", "SA01_OPA_URL"}, Form: "URL", Group: "Policy service",
			Help: "URL of a policy service that must allow each run, with the API of the Open Policy Agent (default: none). If it does not answer, the run is denied.",
			set:  func(c *Config, v string) (err error) { c.Policy.URL, err = policyURL(v); return err }},
		{Name: "policy-path", Env: "ATELIER_POLICY_PATH", Aliases: []string{"SA01_POLICY_DATA_PATH"}, Default: "/v1/data/soma/allow", Form: "PATH", Group: "Policy service",
			Help: "Path of the rule at the policy service. A run is allowed only if the rule returns true.",
			set: func(c *Config, v string) error {
				if !strings.HasPrefix(v, "/") {
					return errors.New("must begin with /, for example /v1/data/soma/allow")
				}
				c.Policy.Path = v
				return nil
			}},
		{Name: "policy-cache", Env: "ATELIER_POLICY_CACHE", Aliases: []string{"SA01_POLICY_CACHE_TTL"}, Default: "2s", Form: "DURATION", Group: "Policy service",
			Help: "Time to reuse a decision for the same request. A number without a unit means seconds.",
			set:  func(c *Config, v string) (err error) { c.Policy.TTL, err = seconds(v); return err }},
		{Name: "policy-keep", Env: "ATELIER_POLICY_KEEP", Default: "168h", Form: "DURATION", Group: "Policy service",
			Help: "Time during which a blocked request can be submitted again.",
			set:  func(c *Config, v string) (err error) { c.Policy.Keep, err = span(v); return err }},
	}
}

func policyURL(v string) (string, error) {
	if v == "" {
		return "", nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("must be a URL without credentials and query, for example http://127.0.0.1:8181")
	}
	return strings.TrimSuffix(v, "/"), nil
}

// seconds parses a duration such as 30s. A number without a unit is in seconds, as in existing deployments.
func seconds(v string) (time.Duration, error) {
	if v != "" && strings.Trim(v, "0123456789.") == "" {
		v += "s"
	}
	return duration(v)
}
