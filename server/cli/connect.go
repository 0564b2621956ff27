package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/server/app"
)

// remote holds the flags by which commands find a server.
type remote struct {
	Server    string `help:"Address of the server (ATELIER_SERVER; default: the server of the current profile, else the running server of the data directory)." placeholder:"URL"`
	Token     string `help:"Bearer token for the server (ATELIER_TOKEN)." placeholder:"SECRET"`
	Profile   string `help:"Profile that sets the server, the token and the workspace (ATELIER_PROFILE; default: the one chosen with atelier profile use)." placeholder:"NAME"`
	Workspace string `help:"Workspace to act in (ATELIER_WORKSPACE; default: the token's workspace)." placeholder:"NAME"`
	database
}

// answersWithin is the maximum time for a server to respond to the availability check.
const answersWithin = 2 * time.Second

// connect returns a client of a server: the chosen server, else the running server of the data directory. If there is
// neither, it locks the data directory and opens the server within this process. close closes everything that was opened.
// folder is the server's address in agent.yaml of the folder that the command works on, "" if there is none.
func (r remote) connect(ctx context.Context, p Process, folder string) (c *client, close func() error, err error) {
	chosen, err := r.destination(p, folder)
	if err != nil {
		return nil, nil, err
	}
	if chosen.server != "" {
		return &client{base: chosen.server, token: chosen.token, workspace: chosen.workspace, version: p.Version, http: newHTTP(nil)}, func() error { return nil }, nil
	}
	settings, err := p.load(r.flags(), r.Config)
	if err != nil {
		return nil, nil, err
	}
	if c := answering(ctx, p, settings); c != nil {
		c.workspace = or(r.Workspace, p.Getenv("ATELIER_WORKSPACE"))
		return c, func() error { return nil }, nil
	}
	c, close, err = within(ctx, p, settings)
	if err == nil {
		c.workspace = or(r.Workspace, p.Getenv("ATELIER_WORKSPACE"))
	}
	return c, close, err
}

func (r remote) dataOf(p Process) string {
	settings, err := p.load(r.flags(), r.Config)
	if err != nil {
		return ""
	}
	return settings.Data
}

// answering returns the running server of the data directory, or nil if there is none.
func answering(ctx context.Context, p Process, settings config.Config) *client {
	left, err := app.ReadCredentials(settings.Data)
	if err != nil || !onThisMachine(left.URL) {
		return nil
	}
	c := &client{base: left.URL, token: left.Token, version: p.Version, http: newHTTP(nil)}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	if c.call(ctx, http.MethodGet, "/api/v1/session", nil, nil) != nil {
		return nil
	}
	return c
}

// within opens the server in this process and calls it without a network.
func within(ctx context.Context, p Process, settings config.Config) (*client, func() error, error) {
	if _, err := os.Stat(settings.Data); errors.Is(err, os.ErrNotExist) {
		return nil, nil, unreachable{fmt.Errorf("no server found and no data directory %s; start a server with `atelier serve`, or set its address with --server", settings.Data)}
	}
	a, err := app.Open(ctx, app.Options{Config: settings, Version: p.Version, Log: p.quietLog(), Samples: p.Samples, Exe: p.Exe})
	if errors.Is(err, app.ErrInUse) {
		return nil, nil, unreachable{fmt.Errorf("the server that uses the data directory %s does not answer: %w", settings.Data, err)}
	}
	if err != nil {
		return nil, nil, err
	}
	token, forget, err := a.PassingToken(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	line := newLine()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, line) }()
	c := &client{base: "http://localhost", token: token, version: p.Version, http: newHTTP(&http.Transport{DialContext: line.dial})}
	return c, func() error {
		c.http.CloseIdleConnections()
		stop()
		return errors.Join(<-ended, forget(), a.Close())
	}, nil
}
