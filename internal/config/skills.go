package config

// Values of --skills-anonymous.
const (
	AnonymousOff      = "off"
	AnonymousLoopback = "loopback"
)

func skillSettings() []Setting {
	return []Setting{
		{Name: "skills", Env: "ATELIER_SKILLS", Aliases: []string{"CODE_EXEC_SKILLS_DIRECTORY", "SKILLS_DIR"}, Form: "DIR", Group: "Skills",
			Help: "Directory of skill folders, loaded at start and watched (default: skills in the data directory).",
			set:  func(c *Config, v string) error { c.Skills = v; return nil }},
		{Name: "skills-anonymous", Env: "ATELIER_SKILLS_ANONYMOUS", Default: AnonymousOff, Form: "WHO", Group: "Skills",
			Help: "off, or loopback: programs on this machine can list and run skills without a token. Do not put a proxy in front of such a server.",
			set: func(c *Config, v string) (err error) {
				c.SkillsAnonymous, err = oneOf(v, AnonymousOff, AnonymousLoopback)
				return err
			}},
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
			Help: "Refuse to run skills with the flag side_effect, because approvals are not available yet.",
			set:  func(c *Config, v string) (err error) { c.ApproveSideEffects, err = boolean(v); return err }},
	}
}
