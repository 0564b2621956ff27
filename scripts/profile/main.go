// Command profile records CPU and allocation profiles of a server under load. It prints the functions with the largest
// shares. The profiles cover the server process but not the programs in the sandbox.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

func main() {
	binary := flag.String("binary", "bin/atelier", "the server to profile")
	out := flag.String("out", "bin/profiles", "directory for the profiles")
	seconds := flag.Int("seconds", 8, "how long each language is profiled")
	clients := flag.Int("clients", 8, "how many ask at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *out, *seconds, *clients); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, seconds, clients int) (err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	debug, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	server, err := load.Start(ctx, load.Options{Binary: binary, Flags: []string{"--debug-listen", debug}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	pprof := load.NewClient("http://" + debug)
	for _, p := range load.Hello() {
		if err := server.Publish(ctx, p); err != nil {
			return err
		}
		ask := server.Checked(p)
		load.Closed(ctx, clients, time.Second, ask) // warms up the server, because this command does not measure cold starts
		if err := take(ctx, pprof, filepath.Join(out, p.Language+".before"), "/debug/pprof/allocs"); err != nil {
			return err
		}
		var sample *load.Sample
		var asking sync.WaitGroup
		asking.Go(func() { sample = load.Closed(ctx, clients, time.Duration(seconds)*time.Second, ask) })
		err := take(ctx, pprof, filepath.Join(out, p.Language+".cpu"), fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, seconds-1)))
		asking.Wait()
		err = errors.Join(err, sample.Fault, take(ctx, pprof, filepath.Join(out, p.Language+".allocs"), "/debug/pprof/allocs"))
		if err != nil {
			return err
		}
		fmt.Printf("\n%s, %d at once, %.0f runs a second\n\nProcessor time of the server process\n", p.Language, clients, sample.PerSecond())
		err = errors.Join(top(ctx, filepath.Join(out, p.Language+".cpu")), heading("Bytes that it allocated"),
			top(ctx, "-sample_index=alloc_space", "-base", filepath.Join(out, p.Language+".before"), filepath.Join(out, p.Language+".allocs")))
		if err != nil {
			return err
		}
	}
	fmt.Printf("\nThe profiles are in %s; look into one with: go tool pprof -http=: FILE\n", out)
	return nil
}

func heading(text string) error {
	_, err := fmt.Printf("\n%s\n", text)
	return err
}

// take downloads a profile from the server and saves it.
func take(ctx context.Context, pprof load.Client, file, path string) error {
	profile, err := pprof.Call(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	return os.WriteFile(file, profile, 0o644)
}

// top prints the fifteen functions with the largest share of a profile.
func top(ctx context.Context, args ...string) error {
	pprof := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-top", "-nodecount=15"}, args...)...)
	pprof.Stdout = os.Stdout
	return pprof.Run()
}

// freeAddress returns an address whose port was free a moment ago.
func freeAddress(ctx context.Context) (string, error) {
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
