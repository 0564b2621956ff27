package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/runs"
)

// source is a function that reads a program from disk.
type source func() (registry.Spec, error)

// folderAt returns a source that reads the folder of an agent, with agent.yaml and the other files.
func folderAt(dir string) source {
	return func() (registry.Spec, error) {
		folder, err := agents.ReadFolder(os.DirFS(dir))
		return agents.SpecOf(folder.Agent), err
	}
}

// fileAt returns a source that reads a program with a single file. The file's extension determines the language.
func fileAt(path string) source {
	return func() (registry.Spec, error) {
		languages := map[string]runtimes.Language{
			".ts": runtimes.TypeScript, ".mts": runtimes.TypeScript, ".cts": runtimes.TypeScript, ".tsx": runtimes.TypeScript,
			".js": runtimes.JavaScript, ".mjs": runtimes.JavaScript, ".cjs": runtimes.JavaScript, ".jsx": runtimes.JavaScript,
			".py": runtimes.Python, ".sh": runtimes.Bash, ".bash": runtimes.Bash,
		}
		language, ok := languages[filepath.Ext(path)]
		if !ok {
			return registry.Spec{}, misusedf("%s must end in .ts, .js, .py or .sh", path)
		}
		text, err := os.ReadFile(path)
		name := filepath.Base(path)
		return registry.Spec{Language: language, Entrypoint: name, Files: map[string]registry.File{name: text}}, err
	}
}

// showChoice explains why a program whose runtime is auto does not run in goja. It prints no errors of the program,
// because the run reports them.
func (c *console) showChoice(ctx context.Context, local *app.Local, spec registry.Spec) error {
	spec, err := local.Complete(spec)
	if err != nil || c.quiet {
		return nil //nolint:nilerr // the run itself will report the error
	}
	_, choice, err := local.Chooser.Choose(ctx, "", "", spec)
	if err == nil && choice != nil && choice.Reason != registry.RuntimeFits {
		c.err.Print("[" + choice.Message + "]\n")
	}
	return err
}

// runFiles runs a program from files in the sandbox of this machine.
func (c *runCommand) runFiles(ctx context.Context, p Process, out *console, read source, input json.RawMessage) (err error) {
	spec, err := read()
	if err != nil {
		return err
	}
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	settings.Warm = 1
	spec.Capabilities.Hosts = append(spec.Capabilities.Hosts, c.Allow...)
	local, err := app.OpenLocal(ctx, settings, p.Exe, p.Version, p.quietLog())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	actor := access.Administrator()
	if err := out.showChoice(ctx, local, spec); err != nil {
		return err
	}
	run, err := local.Start(ctx, actor, runs.Request{Inline: &spec, Input: input, Trigger: registry.TriggerCLI})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _, _ = local.Cancel(context.WithoutCancel(ctx), actor, run.ID) }) // Ignore the result: the last event of the run reports the cancellation.
	defer stop()
	events, err := local.Follow(ctx, actor, run.ID, 0)
	if err != nil {
		return err
	}
	for {
		event, err := events.Next(context.WithoutCancel(ctx))
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the run ended without a result")
		}
		if err != nil {
			return err
		}
		if ended, err := out.show(event); ended || err != nil {
			return err
		}
	}
}
