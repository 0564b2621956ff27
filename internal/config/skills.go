package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// anonymous parses the networks from which clients may call skills without a token: off, loopback, or a list of networks.
func anonymous(v string) ([]netip.Prefix, error) {
	if v == "off" {
		return nil, nil
	}
	var all []netip.Prefix
	for _, text := range list(v) {
		if text == "loopback" {
			all = append(all, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
			continue
		}
		networks, err := prefixes(text)
		if err != nil {
			return nil, fmt.Errorf("must be off, loopback, or networks such as 10.0.0.0/8; %q is not a network", text)
		}
		all = append(all, networks...)
	}
	if slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		return nil, errors.New("must not be a range of all addresses, because then everybody could run skills; set smaller networks")
	}
	if len(all) == 0 {
		return nil, errors.New("must be off, loopback, or networks such as 10.0.0.0/8")
	}
	return all, nil
}

// AnonymousText formats networks like a value of --skills-anonymous.
func AnonymousText(networks []netip.Prefix) string {
	var all []string
	for _, p := range networks {
		if p.Addr().IsLoopback() {
			all = append(all, "loopback")
			continue
		}
		all = append(all, p.String())
	}
	return strings.Join(slices.Compact(all), ",")
}

func skillSettings() []Setting {
	return []Setting{
		{Name: "skills", Env: "ATELIER_SKILLS", Aliases: []string{"CODE_EXEC_SKILLS_DIRECTORY", "SKILLS_DIR"}, Form: "DIR", Group: "Skills",
			Help: "Directory of skill folders, loaded at start and watched (default: skills in the data directory).",
			set:  func(c *Config, v string) error { c.Skills = v; return nil }},
		{Name: "skills-anonymous", Env: "ATELIER_SKILLS_ANONYMOUS", Default: "off", Form: "NETWORK,…", Group: "Skills",
			Help: "Networks whose programs may list and run skills without a token: off, loopback, or networks such as 10.0.0.0/8. Requests through a proxy always need a token.",
			set:  func(c *Config, v string) (err error) { c.SkillsAnonymous, err = anonymous(v); return err }},
		{Name: "skills-builtin", Env: "ATELIER_SKILLS_BUILTIN", Default: "true", Form: "BOOL", Group: "Skills", Switch: true,
			Help: "Install the skills that come with Atelier.",
			set:  func(c *Config, v string) (err error) { c.SkillsBuiltin, err = boolean(v); return err }},
		{Name: "embedding-model", Env: "ATELIER_EMBEDDING_MODEL", Aliases: []string{"CODE_EXEC_EMBEDDING_MODEL"}, Form: "DIR", Group: "Skills",
			Help: "Directory of a sentence-transformers model for the built-in skill embed_text, or a directory with several such models. No other skill can read it. All users must be allowed to read the directory. A value without a slash is ignored, because it is the name of a model.",
			set:  func(c *Config, v string) (err error) { c.EmbeddingModel, err = modelDirectory(v); return err }},
		{Name: "skills-hosts", Env: "ATELIER_SKILLS_HOSTS", Form: "HOST:PORT,…", Group: "Skills",
			Help: "Hosts from which skill archives may be downloaded, for example skills.example.com:443 (default: none).",
			set:  func(c *Config, v string) (err error) { c.SkillsHosts, err = grants(v); return err }},
		{Name: "skills-approve-side-effects", Env: "ATELIER_SKILLS_APPROVE_SIDE_EFFECTS", Aliases: []string{"CODE_EXEC_REQUIRE_POLICY_APPROVAL_FOR_SIDE_EFFECTS"},
			Default: "false", Form: "BOOL", Group: "Skills", Switch: true,
			Help: "Require an approval for every run of a version with the flag side_effect, even in workspaces whose gate is off.",
			set:  func(c *Config, v string) (err error) { c.ApproveSideEffects, err = boolean(v); return err }},
	}
}
