package config

// The values of --skills-anonymous.
const (
	AnonymousOff      = "off"
	AnonymousLoopback = "loopback"
)

func skillSettings() []Setting {
	return []Setting{
		{Name: "skills", Env: "ATELIER_SKILLS", Aliases: []string{"CODE_EXEC_SKILLS_DIRECTORY", "SKILLS_DIR"}, Form: "DIR", Group: "Skills",
			Help: "Directory of skill folders; it is loaded at the start and watched. Without it, skills in the data directory.",
			set:  func(c *Config, v string) error { c.Skills = v; return nil }},
		{Name: "skills-anonymous", Env: "ATELIER_SKILLS_ANONYMOUS", Default: AnonymousOff, Form: "WHO", Group: "Skills",
			Help: "off, or loopback: programs on this machine may list and run skills without a token, as clients of other skill services do. Do not put a proxy before such a server.",
			set: func(c *Config, v string) (err error) {
				c.SkillsAnonymous, err = oneOf(v, AnonymousOff, AnonymousLoopback)
				return err
			}},
		{Name: "skills-builtin", Env: "ATELIER_SKILLS_BUILTIN", Default: "true", Form: "BOOL", Group: "Skills", Switch: true,
			Help: "Install the skills that come with this program.",
			set:  func(c *Config, v string) (err error) { c.SkillsBuiltin, err = boolean(v); return err }},
		{Name: "embedding-model", Env: "ATELIER_EMBEDDING_MODEL", Aliases: []string{"CODE_EXEC_EMBEDDING_MODEL"}, Form: "DIR", Group: "Skills",
			Help: "Directory of a sentence-transformers model, or one that holds such directories by name, for the built-in skill embed_text, which alone sees it. Everybody on this machine must be able to read it. The mere name of a model, as existing deployments have it, configures nothing.",
			set:  func(c *Config, v string) (err error) { c.EmbeddingModel, err = modelDirectory(v); return err }},
		{Name: "skills-hosts", Env: "ATELIER_SKILLS_HOSTS", Form: "HOST:PORT,…", Group: "Skills",
			Help: "Hosts that archives of skills may be fetched from; without it none.",
			set:  func(c *Config, v string) (err error) { c.SkillsHosts, err = grants(v); return err }},
		{Name: "skills-approve-side-effects", Env: "ATELIER_SKILLS_APPROVE_SIDE_EFFECTS", Aliases: []string{"CODE_EXEC_REQUIRE_POLICY_APPROVAL_FOR_SIDE_EFFECTS"},
			Default: "false", Form: "BOOL", Group: "Skills", Switch: true,
			Help: "Skills with the flag side_effect need an approval to run. There are no approvals yet, so they do not run.",
			set:  func(c *Config, v string) (err error) { c.ApproveSideEffects, err = boolean(v); return err }},
	}
}
