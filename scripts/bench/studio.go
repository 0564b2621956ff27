package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// studio measures user journeys through the Studio in a browser. It runs the tests in web/e2e/timings. They start their
// own server and write the duration of each journey to a file.
func (b *bench) studio(ctx context.Context) (section, error) {
	rounds := 5
	if b.quick {
		rounds = 3
	}
	s := section{title: fmt.Sprintf("The Studio, in Chromium: medians of %d, with the best and the worst", rounds)}
	chromium, missing := studioNeeds(ctx)
	if missing != "" {
		s.rows = append(s.rows, row{what: "the Studio", measured: "left out", verdict: missing})
		return s, nil
	}
	took, others, err := b.drive(ctx, chromium, rounds)
	if len(took) == 0 {
		return s, err
	}
	b.faults = errors.Join(b.faults, err)
	for _, j := range journeys(took) {
		s.rows = append(s.rows, j.row(took, others))
	}
	return s, ctx.Err()
}

// studioNeeds returns the path of the browser, or the name of the missing dependency.
func studioNeeds(ctx context.Context) (chromium, missing string) {
	if _, err := exec.LookPath("npx"); err != nil {
		return "", "Node is not on this machine"
	}
	for _, built := range []string{"node_modules/playwright-core", "web/dist/app/index.html"} {
		if _, err := os.Stat(built); err != nil {
			return "", "the Studio is not built: " + built + " is missing"
		}
	}
	found, err := exec.CommandContext(ctx, "scripts/chromium.sh").Output()
	if chromium = strings.TrimSpace(string(found)); err != nil || chromium == "" {
		return "", "Chromium is not on this machine"
	}
	return chromium, ""
}

// drive runs the journeys. It returns their durations, and the number of CPU cores that other processes used.
func (b *bench) drive(ctx context.Context, chromium string, rounds int) (took timings, others float64, err error) {
	dir, err := os.MkdirTemp("", "atelier-bench")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	binary, err := filepath.Abs(b.binary)
	if err != nil {
		return nil, 0, err
	}
	lines := filepath.Join(dir, "timings")
	drive := exec.CommandContext(ctx, "npx", "--no-install", "vitest", "run", "--config", "web/e2e/timings.config.ts", "--reporter=dot")
	drive.Env = append(os.Environ(), "ATELIER_TEST_CHROMIUM="+chromium, "ATELIER_TEST_BINARY="+binary,
		"ATELIER_TIMINGS="+lines, "ATELIER_TIMINGS_ROUNDS="+strconv.Itoa(rounds))
	drive.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a separate process group, so that Cancel also ends the browsers
	drive.Cancel = func() error { return syscall.Kill(-drive.Process.Pid, syscall.SIGTERM) }
	drive.WaitDelay = 30 * time.Second
	began, all, spent := time.Now(), load.Busy(), load.Watch()
	said, err := drive.CombinedOutput()
	others = max(0, (load.Busy()-all-spent()).Seconds()/time.Since(began).Seconds())
	if err != nil {
		err = fmt.Errorf("the journeys: %w\n%s", err, said)
	}
	took, readErr := readTimings(lines)
	return took, others, errors.Join(err, readErr)
}

// timings holds the measured values of each journey in ascending order.
type timings map[string][]float64

func readTimings(path string) (timings, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the process of the journeys failed, and its output contains the reason
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	took := timings{}
	text := bufio.NewScanner(file)
	for text.Scan() {
		var line struct {
			Journey string
			Values  []float64
		}
		if err := json.Unmarshal(text.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%q: %w", text.Text(), err)
		}
		slices.Sort(line.Values)
		took[line.Journey] = line.Values
	}
	return took, text.Err()
}

func (t timings) median(journey string) float64 {
	values := t[journey]
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}
