package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/gctuning"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/server/app"
)

type serveCommand struct {
	printed
	Config   string       `help:"Settings file (default: atelier.yaml in the working directory, if it exists)." placeholder:"FILE"`
	Settings kong.Plugins `embed:""`
}

// ownMemory is the memory in bytes that the server may use in addition to request bodies. If the server uses more, the
// garbage collector runs more often.
const ownMemory = 256 << 20

// Help returns the text above the flags.
func (*serveCommand) Help() string {
	return "Each setting is a flag, an environment variable and a key of atelier.yaml (logLevel for --log-level). A flag overrides a " +
		"variable, and a variable overrides the file. The variables OTEL_EXPORTER_OTLP_* set a collector for traces."
}

func (c *serveCommand) run(ctx context.Context, p Process) (err error) {
	settings, err := p.load(givenIn(c.Settings[0]), c.Config)
	if err != nil {
		return err
	}
	log := telemetry.NewLog(p.Stderr, settings.LogFormat, telemetry.Level(settings.LogLevel))
	end, err := gctuning.Slow()
	defer end()
	if err != nil { // The server continues: without this setting it is only a little slower.
		log.LogAttrs(ctx, slog.LevelDebug, "cannot reduce the wake-ups of Go's runtime", slog.Any("error", err))
	}
	memory := int64(math.MaxInt64)
	if limit := gctuning.Limit(); limit > 0 {
		settings.RequestMemory = min(settings.RequestMemory, limit/3)
		memory = limit * 5 / 8 // The rest is for memory outside of Go's heap: SQLite, sockets and workers.
	}
	gctuning.Collect(min(settings.RequestMemory+ownMemory, memory))
	defer ignoreHangUps(ctx, log)()
	a, err := app.Open(ctx, app.Options{Config: settings, Version: p.Version, Log: log, Studio: p.Studio, Samples: p.Samples, Skills: p.Skills, Exe: p.Exe})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	listener, err := a.Listen(ctx)
	if err != nil {
		return err
	}
	started, err := greet(ctx, a, p.Version, listener.Addr())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := c.result(p, started, func() error { _, _ = io.WriteString(p.Stdout, started.text()); return nil }); err != nil {
		return errors.Join(err, listener.Close())
	}
	_, _ = io.WriteString(p.Stderr, warnings(a.Level())+openTo(settings)+noted(settings))
	return a.Serve(ctx, listener)
}

// ignoreHangUps keeps the server running after SIGHUP. A process gets this signal when its terminal closes or when a
// tool requests a reload, which the server does not support. The signal is caught instead of ignored, because child
// processes would inherit that it is ignored.
func ignoreHangUps(ctx context.Context, log *slog.Logger) (stop func()) {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, unix.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range hangUps {
			log.LogAttrs(ctx, slog.LevelWarn, "SIGHUP is ignored; restart the server to change settings")
		}
	}()
	return func() {
		signal.Stop(hangUps)
		close(hangUps)
		<-ended
	}
}

// greeting is the message that a server prints when it has started.
type greeting struct {
	Version  string `json:"version"`
	URL      string `json:"url"`
	Link     string `json:"link"`     // signs in one browser once; "" if the database is read-only
	ReadOnly string `json:"readOnly"` // reason why nothing can be stored; "" if the database can be written
}

func (g greeting) text() string {
	text := fmt.Sprintf("Atelier %s serves %s\n\n", g.Version, g.URL)
	if g.ReadOnly != "" {
		return text + "  READ-ONLY  " + g.ReadOnly + " Restart the server for a link that signs in a browser.\n"
	}
	return text + "  Open  " + g.Link + "\n\nThe link signs in one browser, once, within 15 minutes. Create tokens for programs with: atelier token create NAME\n"
}

// greet creates the greeting. It contains a link that signs in a browser. If the database is read-only, it contains the
// reason instead of a link.
func greet(ctx context.Context, a *app.App, version string, address net.Addr) (greeting, error) {
	base := a.URL(address)
	link, err := "", a.WriteCredentials(ctx, address)
	if err == nil {
		link, err = a.SignInLink(ctx, base)
	}
	if why := a.ReadOnly(err); why != "" {
		return greeting{version, base, "", why}, nil
	}
	if err != nil {
		return greeting{}, err
	}
	return greeting{version, base, link, ""}, nil
}

// warnings returns the warning that is printed at every start. It names the risk that the operator has accepted, or the
// reason why no program can run.
func warnings(level sandbox.Level) string {
	named := level.Weak()
	if level.Level == sandbox.LevelNone {
		named = level.Lacks[:min(1, len(level.Lacks))]
	}
	text := ""
	for _, lack := range named {
		text += "\nWARNING: " + lines(lack.Effect+" "+lack.Remedy) + "\n"
	}
	return text
}

// openTo returns a warning that callers from some networks need no token to call skills. The warning is printed at
// every start.
func openTo(c config.Config) string {
	if len(c.SkillsAnonymous) == 0 {
		return ""
	}
	return "\nWARNING: Anybody there can list and run skills without a token (--skills-anonymous=" + config.AnonymousText(c.SkillsAnonymous) + "). Do not put a proxy in front of this server.\n"
}

// noted returns the notes about unknown environment variables, which are printed at every start.
func noted(c config.Config) string {
	text := ""
	for _, note := range c.Notes {
		text += "\nnote: " + lines(note) + "\n"
	}
	return text
}
