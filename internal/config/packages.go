package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// packageSettings lists the settings for packages. The server also reads the environment variables of pip, uv and npm.
// So a machine that is configured for these tools needs no additional settings.
func packageSettings() []Setting {
	return []Setting{
		{Name: "python-index", Env: "ATELIER_PYTHON_INDEX", Aliases: []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"}, Form: "URL", Group: "Packages", Secret: true,
			Help: "Address of the index of Python packages, such as https://index.example.com/simple/. It may contain a user and a password. Without it agents have no Python packages.",
			set:  func(c *Config, v string) (err error) { c.PythonIndex, err = index(v); return err }},
		{Name: "npm-registry", Env: "ATELIER_NPM_REGISTRY", Aliases: []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"}, Form: "URL", Group: "Packages", Secret: true,
			Help: "Address of the registry of npm packages. It may contain a user and a password. Without it agents have no npm packages.",
			set:  func(c *Config, v string) (err error) { c.NPMRegistry, err = index(v); return err }},
		{Name: "package-hosts", Env: "ATELIER_PACKAGE_HOSTS", Form: "HOST:PORT,…", Group: "Packages",
			Help: "Additional hosts from which package archives may be downloaded, for example files.example.com:443.",
			set: func(c *Config, v string) error {
				c.PackageHosts = list(v)
				for _, host := range c.PackageHosts {
					if _, err := hostpattern.ParseGrant(host); err != nil {
						return fmt.Errorf("%s: %w", host, err)
					}
				}
				return nil
			}},
		{Name: "allow-packages", Env: "ATELIER_ALLOW_PACKAGES", Form: "[WORKSPACE=][pypi:|npm:]NAME[@VERSION],…", Group: "Packages",
			Help: "Packages that agents may use, including the dependencies of packages, for example requests, npm:@acme/* or numpy@2.*. An entry that starts with WORKSPACE= applies only to that workspace. Default: all packages.",
			set:  func(c *Config, v string) (err error) { c.AllowPackages, err = packageRules(v); return err }},
		{Name: "block-packages", Env: "ATELIER_BLOCK_PACKAGES", Form: "[WORKSPACE=][pypi:|npm:]NAME[@VERSION],…", Group: "Packages",
			Help: "Packages that no agent may use, in the same form as --allow-packages. They are refused in drafts and in versions that are already published.",
			set:  func(c *Config, v string) (err error) { c.BlockPackages, err = packageRules(v); return err }},
		{Name: "package-builds", Env: "ATELIER_PACKAGE_BUILDS", Form: "WORKSPACE,…", Group: "Packages",
			Help: "Workspaces in which packages may run their own code during installation (default: none). Then Python packages without a wheel are built from source, and install scripts of npm packages run. Both run in a sandbox: builds can reach only the package index, and install scripts have no network. * means all workspaces.",
			set:  func(c *Config, v string) error { c.PackageBuilds = list(v); return nil }},
		{Name: "uv", Env: "ATELIER_UV", Form: "FILE", Group: "Packages",
			Help: "Path of uv, the resolver of Python packages (default: uv in /usr/bin or /usr/local/bin). Install it with `pip install uv`.",
			set:  func(c *Config, v string) (err error) { c.UV, err = absolute(v); return err }},
		{Name: "npm", Env: "ATELIER_NPM", Form: "FILE", Group: "Packages",
			Help: "Path of npm's program bin/npm-cli.js (default: npm/bin/npm-cli.js in the node_modules of the system).",
			set:  func(c *Config, v string) (err error) { c.NPM, err = absolute(v); return err }},
		{Name: "packages-quota", Env: "ATELIER_PACKAGES_QUOTA", Default: "21474836480", Form: "BYTES", Group: "Packages",
			Help: "Maximum size of the installed packages of a workspace.",
			set:  number(1<<20, 1<<50, func(c *Config) *int64 { return &c.PackagesQuota })},
		{Name: "packages-dir", Env: "ATELIER_PACKAGES_DIR", Form: "DIR", Group: "Packages",
			Help: "Directory for installed packages. The users of sandboxes must be able to read it. Default: packages in the data directory, or a directory in /var/lib/atelier-packages if the server runs as root and its data directory is private.",
			set:  func(c *Config, v string) (err error) { c.PackagesDir, err = absolute(v); return err }},
	}
}

// packageRules parses a list [WORKSPACE=][pypi:|npm:]NAME[@VERSION],….
func packageRules(text string) ([]PackageRule, error) {
	var all []PackageRule
	for _, entry := range list(text) {
		var rule PackageRule
		rest := entry
		if workspace, after, ok := strings.Cut(rest, "="); ok {
			rule.Workspace, rest = workspace, after
		}
		if ecosystem, after, ok := strings.Cut(rest, ":"); ok {
			rule.Ecosystem, rest = ecosystem, after
		}
		if at := strings.LastIndexByte(rest, '@'); at > 0 { // an @ at index 0 starts an npm scope, not a version
			rule.Version, rest = rest[at+1:], rest[:at]
		}
		rule.Name = rest
		_, nameErr := path.Match(rule.Name, "")
		_, versionErr := path.Match(rule.Version, "")
		if rule.Name == "" || nameErr != nil || versionErr != nil || rule.Ecosystem != "" && rule.Ecosystem != "pypi" && rule.Ecosystem != "npm" {
			return nil, fmt.Errorf("%s: must be the name of a package, for example requests, npm:@acme/*, numpy@2.* or team=requests", entry)
		}
		all = append(all, rule)
	}
	return all, nil
}

// index parses the URL of a package index.
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
