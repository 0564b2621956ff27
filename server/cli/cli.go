// Package cli is the command line. It starts the server, runs programs from files in the local sandbox, and sends requests
// to a server. Results go to stdout; messages for people go to stderr.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry/manifest"
)

// Process contains the arguments, the streams and the environment of the process that a command uses.
type Process struct {
	Args    []string // arguments without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Environ []string // environment variables in the form NAME=VALUE
	Version string
	Studio  fs.FS // output of the web build
	Samples fs.FS
	Skills  fs.FS  // bundled skills; nil if there are none
	Exe     string // path of the binary that is started in jails; "" means the running binary

	grammar *kong.Application
}

// These are the exit codes.
const (
	fine     = 0
	failed   = 1 // the program failed, or another error occurred
	misuse   = 2
	refused  = 3 // the request, or a file that the request needs, was refused
	waits    = 3 // for run and publish: a person must approve first
	noAccess = 4 // the server cannot be reached, or does not accept the token
	stale    = 5 // for push: the draft was saved after the folder was pulled
)

// description is the text at the top of the output of --help.
const description = "A studio for code agents: write them in the browser, run them in a sandbox, publish them as tools.\n\n" +
	"Exit codes: 0 success; 1 the program failed, or another error; 2 wrong usage; 3 the request was refused, or waits for a person; " +
	"4 the server is unreachable or does not accept the token; 5 push: the draft was saved since the folder was pulled. " +
	"doctor has its own exit codes: see its help.\n\n" +
	"ATELIER_SERVER and ATELIER_TOKEN set the server and the token of all commands that call a server."

// grammar defines all commands. The parser sets its fields from the command line.
type grammar struct {
	Serve      serveCommand      `cmd:"" help:"Serve the Studio and the API."`
	Run        runCommand        `cmd:"" help:"Run a file, a folder or a published version, and print its output."`
	Test       testCommand       `cmd:"" help:"Run the tests of a folder, a draft or a version."`
	Init       initCommand       `cmd:"" help:"Create a folder with agent.yaml, an example program and its input."`
	Infer      inferCommand      `cmd:"" help:"Print the input and output schemas of a program, derived from its types."`
	Export     exportCommand     `cmd:"" help:"Print a version as a tool manifest for a client."`
	Import     importCommand     `cmd:"" help:"Create an agent from a tool definition of OpenAI, LangChain, MCP or Anthropic."`
	Archive    archiveCommand    `cmd:"" help:"Export agents with all their versions to a file, or import them."`
	Pull       pullCommand       `cmd:"" help:"Write an agent's draft to a folder."`
	Push       pushCommand       `cmd:"" help:"Save a folder as an agent's draft."`
	History    historyCommand    `cmd:"" help:"List, show, label and restore the saves of an agent's draft."`
	Replay     replayCommand     `cmd:"" help:"Run the draft with recorded inputs of a version, and show how the outputs differ."`
	Agents     agentsCommand     `cmd:"" help:"List agents."`
	Versions   versionsCommand   `cmd:"" help:"List the versions of an agent."`
	Diff       diffCommand       `cmd:"" help:"Show the differences between two versions, or a version and the draft."`
	Publish    publishCommand    `cmd:"" help:"Publish an agent's draft as a version."`
	Deprecate  deprecateCommand  `cmd:"" help:"Deprecate a version and list who still uses it."`
	Redraft    redraftCommand    `cmd:"" help:"Replace the draft with a version."`
	Copy       copyCommand       `cmd:"" help:"Copy an agent's draft to a new agent."`
	Rename     renameCommand     `cmd:"" help:"Rename an agent."`
	Delete     deleteCommand     `cmd:"" help:"Delete an agent. Its names cannot be used again."`
	Restore    restoreCommand    `cmd:"" help:"Restore a deleted agent."`
	Packages   packagesCommand   `cmd:"" help:"List and remove installed packages, and resolve those of a draft."`
	GC         gcCommand         `cmd:"" name:"gc" help:"Remove data that is no longer needed, such as ended tasks and rejected overlays."`
	SBOM       sbomCommand       `cmd:"" name:"sbom" help:"Print the bill of materials of a version, in CycloneDX JSON."`
	Pins       pinsCommand       `cmd:"" help:"List and set pins: records of who depends on which version."`
	Profile    profileCommand    `cmd:"" help:"List, create and choose profiles: servers with a token and a workspace."`
	Registry   registryCommand   `cmd:"" help:"Search, copy from and add to the server's public registry."`
	Router     routerCommand     `cmd:"" help:"Show how the server chooses the runtime of each run."`
	Runs       runsCommand       `cmd:"" help:"List runs, newest first."`
	Skills     skillsCommand     `cmd:"" help:"Install, promote and list skills: agents that clients call by name."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"Serve published versions as MCP tools on stdin and stdout."`
	Project    projectCommand    `cmd:"" help:"Import projects, and decide about the changes that programs propose."`
	Task       taskCommand       `cmd:"" help:"Submit tasks, in which agents change projects, and decide about the changes."`
	Assist     assistCommand     `cmd:"" help:"Find a tool for a task, or let the language model write one."`
	Toolset    toolsetCommand    `cmd:"" help:"List, create and delete tool sets: pinned versions for MCP clients."`
	Approvals  approvalsCommand  `cmd:"" help:"List requests for approval, and approve or deny them."`
	Blocked    blockedCommand    `cmd:"" help:"List requests that the policy service denied, and submit them again or drop them."`
	Gate       gateCommand       `cmd:"" help:"Show and change the gate of the workspace, and its rule packs."`
	Quotas     quotasCommand     `cmd:"" help:"Show and set the quotas of a workspace."`
	Usage      usageCommand      `cmd:"" help:"Show the usage and the costs of the workspace in a month."`
	Budget     budgetCommand     `cmd:"" help:"List, set and remove the budgets of the workspace."`
	Secrets    secretsCommand    `cmd:"" help:"Set, list and remove secrets, and rotate the encryption key."`
	Token      tokenCommand      `cmd:"" help:"Create, list and revoke bearer tokens."`
	Doctor     doctorCommand     `cmd:"" help:"Test the sandbox of this machine."`
	Backup     backupCommand     `cmd:"" help:"Create, verify and restore backups of a server."`
	Blobs      blobsCommand      `cmd:"" help:"Move the files of large versions to a bucket."`
	Migrate    migrateCommand    `cmd:"" help:"Manage the database schema. Stop the server first."`
	OpenAPI    openAPICommand    `cmd:"" name:"openapi" hidden:"" help:"Print the OpenAPI document."`
	Version    versionCommand    `cmd:"" help:"Print the version, as --version does."`
	Help       helpCommand       `cmd:"" help:"Show the help of a command, as COMMAND --help does."`
	Completion completionCommand `cmd:"" help:"Print a completion script for bash, zsh or fish."`
	Man        manCommand        `cmd:"" help:"Write man pages."`
	Workspace  workspaceCommand  `cmd:"" help:"Create, list and close workspaces."`
	Member     memberCommand     `cmd:"" help:"List and remove members of a workspace, and change their roles."`
	Invite     inviteCommand     `cmd:"" help:"Create, list and revoke one-time invitation links."`
	BreakGlass breakGlassCommand `cmd:"" name:"break-glass" help:"Create an emergency administrator token directly in the database. Run it on the server's machine."`
}

// runner is implemented by every command.
type runner interface {
	run(ctx context.Context, p Process) error
}

// misused is an error in the command line that the user typed, such as an unknown flag.
type misused struct{ error }

func misusedf(format string, args ...any) error { return misused{fmt.Errorf(format, args...)} }

// unreachable is the error for a server that cannot be found or does not answer.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// errTold is returned by a command that has already printed its error message.
var errTold = errors.New("the error is already printed")

// left is the value with which the parser panics after it has printed the help. Main recovers it; it contains the exit
// code.
type left struct{ code int }

// Main runs one command and returns its exit code, which is one of the constants above.
func Main(ctx context.Context, p Process) (code int) {
	defer func() {
		if cause := recover(); cause != nil {
			exit, ok := cause.(left)
			if !ok {
				panic(cause)
			}
			code = exit.code
		}
	}()
	var g grammar
	g.Serve.Settings = kong.Plugins{flagsOf(func(config.Setting) bool { return true })}
	g.Doctor.Settings = kong.Plugins{flagsOf(doctorSettings)}
	g.Infer.Settings = kong.Plugins{flagsOf(inferSettings)}
	parser, err := kong.New(&g, kong.Name("atelier"), kong.Writers(p.Stdout, p.Stderr), kong.Exit(func(code int) { panic(left{code}) }),
		kong.Description(description), kong.Vars{"formats": strings.Join(manifest.Formats(), ",")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 120}))
	if err != nil {
		return p.report(err)
	}
	p.grammar = parser.Model
	if len(p.Args) > 0 && p.Args[0] == completeWord {
		return p.complete(ctx, p.Args[1:])
	}
	parsed, err := parser.Parse(usual(p.Args))
	if err != nil {
		return p.report(misused{fmt.Errorf("%w; see `atelier --help`", err)})
	}
	command, ok := parsed.Selected().Target.Addr().Interface().(runner)
	if !ok {
		return p.report(fmt.Errorf("unknown command %s", parsed.Command()))
	}
	return p.reportOf(command.run(ctx, p), fieldsOfCommand(parsed.Selected()))
}

// report prints an error to stderr and returns the exit code.
func (p Process) report(err error) int { return p.reportOf(err, nil) }

// reportOf does the same as report. It also replaces JSON fields in an error message by the flags of the command.
func (p Process) reportOf(err error, names fields) int {
	var wrong misused
	var faults config.Faults
	var coded exit
	switch {
	case err == nil:
		return fine
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, errTold):
		return failed
	case errors.As(err, &faults):
		_, _ = fmt.Fprintln(p.Stderr, "atelier: "+lines(faults.Error()))
		return misuse
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintln(p.Stderr, "atelier: "+lines(wrong.Error()))
		return misuse
	}
	_, _ = fmt.Fprintln(p.Stderr, "atelier: "+lines(sentence(names.typed(err))))
	return codeOf(err)
}

// codeOf returns the exit code for an error that does not set an exit code.
func codeOf(err error) int {
	var away unreachable
	if errors.As(err, &away) {
		return noAccess
	}
	switch fault.CodeOf(err) { //nolint:exhaustive // all other codes mean that the request was refused
	case fault.Internal, fault.Cancelled:
		return failed
	case fault.Unauthenticated, fault.Forbidden, fault.NoWorkspace, fault.ShuttingDown:
		return noAccess
	default:
		return refused
	}
}

// sentence formats an error for a person. For a fault it returns the message and the details.
func sentence(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	text := f.Message
	for _, d := range f.Details {
		text += "\n  " + place(d) + d.Message
	}
	if f.Err != nil {
		text += " (" + f.Err.Error() + ")"
	}
	return text
}

func place(d fault.Detail) string {
	switch {
	case d.Pointer != "":
		return d.Pointer + " "
	case d.File != "" && d.Line > 0 && d.Column == 0:
		return fmt.Sprintf("%s:%d: ", d.File, d.Line)
	case d.File != "" && d.Line > 0:
		return fmt.Sprintf("%s:%d:%d: ", d.File, d.Line, d.Column)
	case d.File != "":
		return d.File + ": "
	}
	return ""
}

// lines escapes the terminal control characters of a text and preserves its line breaks.
func lines(text string) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = telemetry.Escape(line)
	}
	return strings.Join(all, "\n")
}

// load reads the configuration from the configuration file, the environment and the flags of a command.
func (p Process) load(flags map[string]string, file string) (config.Config, error) {
	return config.Load(config.Sources{File: file, Getenv: p.Getenv, Environ: p.Environ, Flags: flags})
}

// quietLog logs only warnings and errors, so that the command's output stays readable.
func (p Process) quietLog() *slog.Logger { return telemetry.NewLog(p.Stderr, "text", slog.LevelWarn) }

// errorLog logs only errors.
func (p Process) errorLog() *slog.Logger { return telemetry.NewLog(p.Stderr, "text", slog.LevelError) }
