package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/studio/secrets"
)

type secretsCommand struct {
	Set       secretsSet       `cmd:"" help:"Set or replace a secret. The value is read from stdin or a hidden prompt."`
	List      secretsList      `cmd:"" help:"List secrets, without values."`
	Remove    secretsRemove    `cmd:"" help:"Remove a secret."`
	Uses      secretsUses      `cmd:"" help:"List the runs that received a secret, newest first."`
	RotateKey secretsRotateKey `cmd:"" help:"Encrypt all secrets with a new key. Stop the server first."`
}

// ofAgent is the flag that selects the agent to which a secret belongs.
type ofAgent struct {
	Agent string `help:"Agent that owns the secret (default: the workspace)." placeholder:"NAME"`
}

func (o ofAgent) path(name string) string {
	path := "/api/v1/secrets/" + url.PathEscape(name)
	if o.Agent != "" {
		path += "?" + url.Values{"agent": {o.Agent}}.Encode()
	}
	return path
}

type secretsSet struct {
	Name   string `arg:"" help:"Name of the secret, as versions declare it."`
	From   string `arg:"" optional:"" name:"-" help:"Write - to read the value from stdin, even on a terminal. Values on the command line are refused, because other users can see them."`
	Host   string `help:"Host that receives the secret in a header, for example api.example.com:443. Programs cannot read the secret." placeholder:"HOST:PORT"`
	Header string `help:"Name of the header." placeholder:"NAME"`
	Format string `help:"Value of the header, for example: Bearer {value}." placeholder:"TEXT"`
	ofAgent
	asked
}

func (c *secretsSet) run(ctx context.Context, p Process) error {
	switch {
	case c.From != "" && c.From != "-":
		return misusedf("do not write the value on the command line, because other users and the shell history can see it; pipe it to stdin, or omit it to enter it at a prompt")
	case (c.Host == "") != (c.Header == "") || c.Host == "" && c.Format != "":
		return misusedf("--host and --header must be set together; --format requires both")
	}
	value, err := c.value(p)
	if err != nil {
		return err
	}
	body := map[string]any{"value": value}
	if c.Host != "" {
		body["bind"] = registry.Binding{Host: c.Host, Header: c.Header, Format: c.Format}
	}
	return c.ask(ctx, p, http.MethodPut, c.path(c.Name), body, func(json.RawMessage) error {
		return p.say("set %s", c.Name)
	})
}

// value reads the value of a secret and removes a trailing line break, which echo adds. If the value is too long, it
// reads only so much that the server will reject the value.
func (c *secretsSet) value(p Process) (string, error) {
	if file, ok := p.Stdin.(*os.File); ok && c.From == "" && term.IsTerminal(int(file.Fd())) {
		_, _ = fmt.Fprintf(p.Stderr, "Value of %s (hidden): ", lines(c.Name))
		text, err := term.ReadPassword(int(file.Fd()))
		_, _ = fmt.Fprintln(p.Stderr)
		return string(text), err
	}
	text, err := io.ReadAll(io.LimitReader(bufio.NewReader(p.Stdin), secrets.MaxBytes+3))
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if err == nil && value == "" {
		err = misusedf("no value on stdin; pipe it in, for example: atelier secrets set %s < FILE", c.Name)
	}
	return value, err
}

type secretsList struct{ asked }

func (c *secretsList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/secrets", nil, func(answer json.RawMessage) error {
		var all page[struct {
			Name, Agent, SetBy string
			Bind               *registry.Binding
			SetAt              time.Time
			LastUsedAt         *time.Time
			UsedBy             []registry.SecretDeclaration
		}]
		if err := read(answer, &all); err != nil {
			return err
		}
		t := newTable(p.Stdout, "NAME", "AGENT", "SENT TO", "SET", "BY", "LAST USED", "USED BY")
		for _, s := range all.Items {
			host, used := "(programs)", "never"
			if s.Bind != nil {
				host = s.Bind.Host + " " + s.Bind.Header
			}
			if s.LastUsedAt != nil {
				used = s.LastUsedAt.UTC().Format(time.RFC3339)
			}
			var by []string
			for _, d := range s.UsedBy {
				by = append(by, d.Agent+"@"+d.Version)
			}
			t.row(s.Name, or(s.Agent, "(all)"), host, s.SetAt.UTC().Format(time.RFC3339), s.SetBy, used, strings.Join(by, ","))
		}
		return t.flush()
	})
}

type secretsRemove struct {
	Name string `arg:"" help:"Name of the secret, as versions declare it."`
	ofAgent
	asked
}

func (c *secretsRemove) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodDelete, c.path(c.Name), nil, func(json.RawMessage) error {
		return p.say("removed %s", c.Name)
	})
}

type secretsUses struct {
	Name string `arg:"" help:"Name of the secret, as versions declare it."`
	ofAgent
	asked
}

func (c *secretsUses) run(ctx context.Context, p Process) error {
	path, query := "/api/v1/secrets/"+url.PathEscape(c.Name)+"/uses", said(map[string]string{"agent": c.Agent})
	return list(ctx, p, c.asked, path, query, 10_000, func(uses []registry.SecretUse) error {
		t := newTable(p.Stdout, "RUN", "AGENT", "VERSION", "WHEN")
		for _, use := range uses {
			t.row(use.RunID, use.RunAgent, use.Version, use.At.UTC().Format(time.RFC3339))
		}
		return t.flush()
	})
}

type secretsRotateKey struct {
	printed
	database
	KeyFile string `name:"secrets-key-file" help:"Key file (ATELIER_SECRETS_KEY_FILE; default: secrets.key in the data directory)." placeholder:"FILE"`
}

// Help returns the text above the flags.
func (*secretsRotateKey) Help() string {
	return "The command adds a new key to the key file, encrypts all secrets with it in one transaction, and removes the old keys. " +
		"If you use ATELIER_SECRETS_KEY: put the new key before the old one, run this command, then remove the old key."
}

func (c *secretsRotateKey) run(ctx context.Context, p Process) error {
	flags := c.flags()
	if c.KeyFile != "" {
		flags["secrets-key-file"] = c.KeyFile
	}
	settings, err := p.load(flags, c.Config)
	if err != nil {
		return err
	}
	done, err := app.RotateSecrets(ctx, settings, p.quietLog())
	if errors.Is(err, app.ErrInUse) {
		return fmt.Errorf("%w (a running server would keep using the old key)", err)
	}
	if err != nil {
		return err
	}
	what := "the first key of ATELIER_SECRETS_KEY; you can remove the others"
	if done.File != "" {
		what = done.File
	}
	result := struct {
		Secrets int    `json:"secrets"`
		Key     string `json:"key"`
		File    string `json:"file"`
	}{done.Secrets, done.Key, done.File}
	return c.result(p, result, func() error {
		return p.say("encrypted %d secrets with the key %s from %s", done.Secrets, done.Key, what)
	})
}
