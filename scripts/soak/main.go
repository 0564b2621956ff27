// Command soak stresses a server with runs in every language and with every outcome, and kills random processes of the
// server's sandboxes. The answer to a run in a killed process must say that the process was killed. Other runs must not
// be affected. At intervals the command waits until the server is idle and counts its resources, such as files and
// memory. A resource that grows is a leak.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

func main() {
	binary := flag.String("binary", "bin/atelier", "the server to wear out")
	span := flag.Duration("for", 10*time.Minute, "how long at most")
	most := flag.Int64("runs", 100_000, "how many runs at most")
	flag.Parse()
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *span, *most); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// samples is the number of times that one soak test counts the resources.
const samples = 24

// counting is the approximate time to wait until the server is idle and to count its resources.
const counting = time.Second

func run(ctx context.Context, binary string, span time.Duration, most int64) (err error) {
	dir, err := os.MkdirTemp("", "atelier-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	server, err := load.Start(ctx, load.Options{Binary: binary, Data: filepath.Join(dir, "data"), Temporary: temporary})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	batch, err := newBatch(ctx, server)
	if err != nil {
		return err
	}
	fmt.Printf("At most %d runs or %s, 12 clients, a worker killed now and then\n", most, span)
	var curves curves
	began := time.Now()
	for slice := 1; slice <= samples && batch.runs.Load() < most; slice++ {
		batch.work(ctx, most*int64(slice)/samples, max(span/samples-counting, time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sample, err := look(ctx, server, temporary, filepath.Join(dir, "data"), batch.runs.Load())
		if err != nil {
			return err
		}
		curves = append(curves, sample)
		batch.killOne(true)
		fmt.Printf("  %5.0f s  %7d runs  %s\n", time.Since(began).Seconds(), batch.runs.Load(), sample)
	}
	grows := curves.print()
	fmt.Print(batch)
	return errors.Join(batch.fault(), batch.records(ctx), grows)
}
