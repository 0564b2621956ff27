package config

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// packageSettings lists the settings of packages. The variables of pip and uv are read too, so that a host that is
// configured for them needs nothing more.
func packageSettings() []Setting {
	return []Setting{
		{Name: "python-index", Env: "ATELIER_PYTHON_INDEX", Aliases: []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"}, Form: "URL", Group: "Packages", Secret: true,
			Help: "Address of the index of Python packages, such as https://index.example.com/simple/. It may contain a user and a password. Without it agents have no Python packages.",
			set:  func(c *Config, v string) (err error) { c.PythonIndex, err = index(v); return err }},
		{Name: "npm-registry", Env: "ATELIER_NPM_REGISTRY", Aliases: []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"}, Form: "URL", Group: "Packages", Secret: true,
			Help: "Address of the registry of npm packages. It may contain a user and a password. Without it agents have no npm packages.",
			set:  func(c *Config, v string) (err error) { c.NPMRegistry, err = index(v); return err }},
		{Name: "package-hosts", Env: "ATELIER_PACKAGE_HOSTS", Form: "HOST:PORT,…", Group: "Packages",
			Help: "Further hosts from which the indexes send archives.",
			set: func(c *Config, v string) error {
				c.PackageHosts = list(v)
				for _, host := range c.PackageHosts {
					if _, err := hostpattern.ParseGrant(host); err != nil {
						return fmt.Errorf("%s: %w", host, err)
					}
				}
				return nil
			}},
		{Name: "uv", Env: "ATELIER_UV", Form: "FILE", Group: "Packages",
			Help: "Path of uv, the resolver of Python packages (default: uv in /usr/bin or /usr/local/bin). `pip install uv` brings it.",
			set:  func(c *Config, v string) (err error) { c.UV, err = absolute(v); return err }},
		{Name: "npm", Env: "ATELIER_NPM", Form: "FILE", Group: "Packages",
			Help: "Path of npm's program bin/npm-cli.js (default: the one in the node_modules of the system).",
			set:  func(c *Config, v string) (err error) { c.NPM, err = absolute(v); return err }},
		{Name: "packages-dir", Env: "ATELIER_PACKAGES_DIR", Form: "DIR", Group: "Packages",
			Help: "Directory for installed packages. The users of sandboxes must be able to reach it (default: packages in the data directory; for a server of root whose data directory is closed, one in /var/lib/atelier-packages).",
			set:  func(c *Config, v string) (err error) { c.PackagesDir, err = absolute(v); return err }},
	}
}

// index checks the address of a package index.
func index(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || address.RawQuery != "" || address.Fragment != "" {
		return "", errors.New("must be an address that begins with https:// or http://")
	}
	return text, nil
}
