package cli

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type profileCommand struct {
	List   profileList   `cmd:"" default:"withargs" help:"List profiles, without tokens."`
	Set    profileSet    `cmd:"" help:"Create or change a profile: a server, its token and a workspace under one name."`
	Use    profileUse    `cmd:"" help:"Make a profile the default. Flags, variables and agent.yaml override it."`
	Remove profileRemove `cmd:"" help:"Remove a profile with its token."`
}

// shownProfile is a profile without its token.
type shownProfile struct {
	Name      string `json:"name"`
	Server    string `json:"server"`
	Workspace string `json:"workspace"`
	Token     string `json:"token"` // text that describes where the token comes from
	Current   bool   `json:"current"`
}

func (all profiles) shown(name string) shownProfile {
	one := all.Named[name]
	return shownProfile{name, one.Server, one.Workspace, one.source(), name == all.Current}
}

type profileList struct{ printed }

func (c *profileList) run(_ context.Context, p Process) error {
	all, err := p.profiles()
	if err != nil {
		return err
	}
	found := []shownProfile{}
	for _, name := range slices.Sorted(maps.Keys(all.Named)) {
		found = append(found, all.shown(name))
	}
	return c.result(p, found, func() error {
		t := newTable(p.Stdout, "NAME", "SERVER", "WORKSPACE", "TOKEN", "CURRENT")
		for _, one := range found {
			mark := ""
			if one.Current {
				mark = "*"
			}
			t.row(one.Name, one.Server, one.Workspace, one.Token, mark)
		}
		return t.flush()
	})
}

type profileSet struct {
	Name      string  `arg:"" help:"Name of the profile."`
	Server    string  `help:"Address of the server." placeholder:"URL"`
	TokenFrom string  `help:"Source of the token. - reads it from stdin once and stores it. file:PATH and env:NAME are read each time a command needs the token." placeholder:"SOURCE"`
	Workspace *string `help:"Workspace that commands act in (default: the token's workspace)." placeholder:"NAME"`
	Use       bool    `help:"Make the profile the default."`
	printed
}

// Help returns the text above the flags.
func (*profileSet) Help() string {
	return "Profiles are stored in ~/.config/atelier/profiles.yaml, which only you can read. Values that are not given stay the same. But a new server removes the token, because a token is sent only to the server that it was set for."
}

var (
	profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	envName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// maxToken is the maximum length of a token in bytes.
const maxToken = 4096

func (c *profileSet) run(_ context.Context, p Process) error {
	if !profileName.MatchString(c.Name) {
		return misusedf("%q cannot be the name of a profile; use letters, digits, dots, dashes and underscores", c.Name)
	}
	all, err := p.profiles()
	if err != nil {
		return err
	}
	one, exists := all.Named[c.Name]
	if c.Server == "" && !exists {
		return misusedf("a new profile requires --server")
	}
	if c.Server != "" {
		address, err := addressOf(c.Server)
		if err != nil {
			return misusedf("--server: %w", err)
		}
		if known, err := addressOf(one.Server); err != nil || known != address {
			one.Token, one.TokenFile, one.TokenEnv = "", "", ""
		}
		one.Server = address
	}
	if c.Workspace != nil {
		one.Workspace = *c.Workspace
	}
	if err := c.source(p, &one); err != nil {
		return err
	}
	if all.Named == nil {
		all.Named = map[string]profile{}
	}
	all.Named[c.Name] = one
	if c.Use {
		all.Current = c.Name
	}
	if err := all.write(p); err != nil {
		return err
	}
	return c.result(p, all.shown(c.Name), func() error {
		return p.say("saved the profile %s of %s", c.Name, one.Server)
	})
}

// source sets where the token of a profile comes from.
func (c *profileSet) source(p Process, one *profile) error {
	if c.TokenFrom == "" {
		return nil
	}
	one.Token, one.TokenFile, one.TokenEnv = "", "", ""
	if path, ok := strings.CutPrefix(c.TokenFrom, "file:"); ok && path != "" {
		absolute, err := filepath.Abs(path)
		one.TokenFile = absolute
		return err
	}
	if name, ok := strings.CutPrefix(c.TokenFrom, "env:"); ok && envName.MatchString(name) {
		one.TokenEnv = name
		return nil
	}
	if c.TokenFrom != "-" {
		return misusedf("--token-from must be -, file:PATH or env:NAME; a token on the command line could be seen by other users")
	}
	text, err := io.ReadAll(io.LimitReader(p.Stdin, maxToken+1))
	if err != nil {
		return misusedf("read the token: %w", err)
	}
	one.Token = strings.TrimSpace(string(text))
	if one.Token == "" || len(one.Token) > maxToken || strings.ContainsAny(one.Token, " \t\r\n") {
		return misusedf("stdin must contain exactly one token")
	}
	return nil
}

type profileUse struct {
	Name string `arg:"" help:"Name of the profile, or - to use no profile."`
	printed
}

func (c *profileUse) run(_ context.Context, p Process) error {
	all, err := p.profiles()
	if err != nil {
		return err
	}
	if c.Name == "-" {
		all.Current = ""
		if err := all.write(p); err != nil {
			return err
		}
		return c.result(p, nil, func() error { return p.say("no profile is the default any more") })
	}
	one, err := all.named(c.Name)
	if err != nil {
		return err
	}
	all.Current = c.Name
	if err := all.write(p); err != nil {
		return err
	}
	return c.result(p, all.shown(c.Name), func() error { return p.say("%s is now the default profile", one.Server) })
}

type profileRemove struct {
	Name string `arg:"" help:"Name of the profile."`
	printed
}

func (c *profileRemove) run(_ context.Context, p Process) error {
	all, err := p.profiles()
	if err != nil {
		return err
	}
	if _, err := all.named(c.Name); err != nil {
		return err
	}
	delete(all.Named, c.Name)
	if all.Current == c.Name {
		all.Current = ""
	}
	if err := all.write(p); err != nil {
		return err
	}
	return c.result(p, nil, func() error { return p.say("removed the profile %s", c.Name) })
}
