// Command kill kills a server with SIGKILL at random moments under load. It repeats this with the same data directory.
// After each restart it checks everything that the server had acknowledged: answered runs with their outputs, accepted
// runs with a final status, published versions with their digests and files, drafts, and one run for each
// Idempotency-Key, also after a retry. Readers whose connection was cut must get the result of their run. A missing,
// different or duplicate record is a failure. With -postgres the server uses PostgreSQL. The command then also restarts
// PostgreSQL, cuts its connections, freezes it and promotes a standby. With -upgrade it runs a server of an earlier
// commit together with a server that has one more migration.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

func main() {
	binary := flag.String("binary", "bin/atelier", "the server to kill")
	rounds := flag.Int("rounds", 200, "how often")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments; the same seed tries the same ones again")
	onPostgres := flag.Bool("postgres", false, "use PostgreSQL, and disturb it too")
	upgrades := flag.Bool("upgrade", false, "instead replace a server of an earlier commit by a new one that migrates")
	flag.Parse()
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := func() error { return run(ctx, *binary, *rounds, *seed, *onPostgres) }
	if *upgrades {
		do = func() error { return upgrade(ctx) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary string, rounds int, seed uint64, onPostgres bool) (err error) {
	dir, err := os.MkdirTemp("", "atelier-kill")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var database *postgres
	if onPostgres {
		database = newPostgres(filepath.Join("/tmp", filepath.Base(dir)+"-pg"))
		defer func() { err = errors.Join(err, database.stop(), os.RemoveAll(database.dir)) }() // also runs if the start is interrupted
		if err := database.start(); err != nil {
			return err
		}
	}
	fmt.Printf("%d times kill -9 under load, seed %d%s\n", rounds, seed, database)
	random := rand.New(rand.NewPCG(seed, 0))
	options := load.Options{Binary: binary, Data: filepath.Join(dir, "data"), Flags: database.flags()}
	all := &ledger{runs: map[string]string{}, versions: map[string]string{}, keys: map[string]string{}, large: map[string]string{}, disturbed: onPostgres}
	var before generation
	for round := range rounds {
		server, err := load.Start(ctx, options)
		if err != nil {
			return fmt.Errorf("start %d: %w", round+1, err)
		}
		survivors := before.alive()
		err = errors.Join(leftovers(options.Data), prepare(ctx, server.Client, round), look(ctx, server.Client, all.some(random, 200)))
		all.resumed += len(all.readers)
		all.readers = nil
		if len(survivors) > 0 {
			err = errors.Join(err, fmt.Errorf("processes %v of the server before are still there", survivors))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("after kill %d: %w", round, err), server.Stop())
		}
		pause := time.Duration(random.Int64N(int64(1200 * time.Millisecond)))
		if before, err = killAfter(ctx, server, database, pause, all, round); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if (round+1)%10 == 0 {
			fmt.Printf("  %4d kills  %6d runs answered, %5d accepted, %4d versions published; all there so far\n", round+1, len(all.runs), len(all.accepted), len(all.versions))
		}
	}
	return lastLook(ctx, options, database, all, rounds)
}

// lastLook checks everything that the servers have acknowledged since the first round.
func lastLook(ctx context.Context, options load.Options, database *postgres, all *ledger, rounds int) (err error) {
	server, err := load.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := errors.Join(leftovers(options.Data), look(ctx, server.Client, all)); err != nil {
		return err
	}
	fmt.Printf("%d kills%s: %d answered runs, %d accepted runs, %d versions (%d with blobs), %d keys with one run each and draft revision %d are all there; %d readers got their end; no run runs for ever, no process and no file was left\n",
		rounds, database, len(all.runs), len(all.accepted), len(all.versions), len(all.large), len(all.keys), all.revision, all.resumed+len(all.readers))
	return nil
}

// killAfter starts clients, disturbs the database if it is PostgreSQL, and kills the server after a pause. It records
// all answers in the ledger. It returns the processes of the killed server.
func killAfter(ctx context.Context, server *load.Server, database *postgres, pause time.Duration, all *ledger, round int) (generation, error) {
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() { execute(ctx, server.Client, all, round, client) })
	}
	clients.Go(func() { accept(ctx, server.Client, all, round) })
	clients.Go(func() { publish(ctx, server.Client, all, round) })
	clients.Go(func() { executeOnce(ctx, server.Client, all, round) })
	clients.Go(func() { read(ctx, server.Client, all, round) })
	var err error
	for range 2 { // the disturbance happens in the middle of the pause
		select {
		case <-time.After(pause / 2):
		case <-ctx.Done():
		}
		if database != nil && err == nil {
			err = database.disturb(ctx, rand.New(rand.NewPCG(uint64(round), uint64(pause))))
			database = nil
		}
	}
	there := generationOf(server.Pid())
	_ = server.Kill()
	clients.Wait()
	return there, err
}
