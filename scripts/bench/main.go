// Command bench measures a real server beside the floors of the machine it runs on: a bare HTTP answer, a durable
// write, a bare interpreter. Only the ratios within one run mean anything; every answer is checked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/atelier", "the server to measure")
	span := flag.Duration("span", 3*time.Second, "how long each row is measured")
	flag.Parse()
	signal.Ignore(syscall.SIGPIPE) // `make bench | head` must not leave the server behind
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *binary, *span); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, binary string, span time.Duration) error {
	server, err := startServer(ctx, binary)
	if err != nil {
		return err
	}
	defer server.stop()
	fmt.Printf("Server\n  %-34s %8.1f ms   must ≤ 300\n", "start to ready", ms(server.ready))
	fmt.Printf("  %-34s %8.1f MB   with its warm workers\n", "memory of the server process", server.megabytes())

	floors, err := measureFloors(ctx, span, server)
	if err != nil {
		return err
	}
	fmt.Println("\nFloors of this machine")
	for _, row := range floors.rows() {
		fmt.Println(row)
	}

	fmt.Println("\nHello, all included: HTTP, schemas, jail, durable record")
	var faults error
	for _, agent := range agents {
		if err := server.publish(ctx, agent); err != nil {
			return fmt.Errorf("%s: %w", agent.name, err)
		}
		for _, clients := range []int{1, 8} {
			// A second of warming up is not counted: a fresh pool is a different question.
			measure(ctx, clients, time.Second, server.call(agent))
			got := measure(ctx, clients, span, server.call(agent))
			fmt.Println(got.row(fmt.Sprintf("%s, %d at once", agent.language, clients)), verdict(agent, clients, got, floors))
			faults = errors.Join(faults, got.fault)
		}
	}

	fmt.Println("\nFifty runs at once, languages mixed")
	got := burst(ctx, 50, server)
	fmt.Println(got.row("burst of 50"), bar(ms(got.at(0.99)), 150, "ms p99"))
	return errors.Join(faults, got.fault)
}

// verdict puts a row beside its bar in the design.
func verdict(a agent, clients int, got sample, f floors) string {
	p50 := ms(got.at(0.5))
	switch {
	case a.language == "javascript" && clients == 1:
		return bar(p50, 3*ms(f.http+f.fsync), "ms = 3 × (HTTP + durable write)")
	case a.language == "javascript":
		return atLeast(got.perSecond(), 5000)
	case a.language == "python" && clients == 1:
		return bar(p50, 0.35*ms(f.python), "ms = 0.35 × bare python")
	case a.language == "python":
		return atLeast(got.perSecond(), 600)
	case clients == 1:
		return bar(p50, 3*ms(f.bash), "ms = 3 × bare bash")
	}
	return ""
}

func bar(got, limit float64, what string) string {
	if got <= limit {
		return fmt.Sprintf("  met: ≤ %.2f %s", limit, what)
	}
	return fmt.Sprintf("  %.1f × the bar of %.2f %s", got/limit, limit, what)
}

func atLeast(got, limit float64) string {
	if got >= limit {
		return fmt.Sprintf("  met: ≥ %.0f/s", limit)
	}
	return fmt.Sprintf("  %.0f %% of the bar of %.0f/s", 100*got/limit, limit)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
