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
			return nil, fmt.Errorf("must be off, loopback, or networks such as 10.0.0.0/8; %q is none", text)
		}
		all = append(all, networks...)
	}
	if slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		return nil, errors.New("must name networks; a range of all addresses lets everybody run skills")
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
		{Name: "skills-anonymous", Env: "ATELIER_SKILLS_ANONYMOUS", Default: "off", Form: "WHO", Group: "Skills",
			Help: "off, loopback, or networks such as 10.0.0.0/8: programs there can list and run skills without a token. Requests through a proxy always need one.",
			set:  func(c *Config, v string) (err error) { c.SkillsAnonymous, err = anonymous(v); return err }},
		{Name: "skills-builtin", Env: "ATELIER_SKILLS_BUILTIN", Default: "true", Form: "BOOL", Group: "Skills", Switch: true,
			Help: "Install the skills that are shipped with Atelier.",
			set:  func(c *Config, v string) (err error) { c.SkillsBuiltin, err = boolean(v); return err }},
		{Name: "embedding-model", Env: "ATELIER_EMBEDDING_MODEL", Aliases: []string{"CODE_EXEC_EMBEDDING_MODEL"}, Form: "DIR", Group: "Skills",
			Help: "Directory of a sentence-transformers model, or of several such directories, for the shipped skill embed_text. No other skill can read it. The directory must be readable by all users. A model name without a directory is ignored.",
			set:  func(c *Config, v string) (err error) { c.EmbeddingModel, err = modelDirectory(v); return err }},
		{Name: "skills-hosts", Env: "ATELIER_SKILLS_HOSTS", Form: "HOST:PORT,…", Group: "Skills",
			Help: "Hosts from which skill archives may be fetched (default: none).",
			set:  func(c *Config, v string) (err error) { c.SkillsHosts, err = grants(v); return err }},
		{Name: "skills-approve-side-effects", Env: "ATELIER_SKILLS_APPROVE_SIDE_EFFECTS", Aliases: []string{"CODE_EXEC_REQUIRE_POLICY_APPROVAL_FOR_SIDE_EFFECTS"},
			Default: "false", Form: "BOOL", Group: "Skills", Switch: true,
			Help: "Let every run of a version with the flag side_effect wait for an approval, also in workspaces whose gate is off.",
			set:  func(c *Config, v string) (err error) { c.ApproveSideEffects, err = boolean(v); return err }},
	}
}
