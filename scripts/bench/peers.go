package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

//go:embed peers/isolated.js
var isolatedJS []byte

//go:embed peers/contexts.js
var contextsJS []byte

//go:embed peers/subprocess.py
var subprocessPy []byte

// isolatedVersion is the last version of isolated-vm that runs on Node 20.
const isolatedVersion = "5.0.4"

// installTime is the maximum time of an installation, which may include compiling.
const installTime = 10 * time.Minute

// peer is a small server that runs the same programs with other software. The benchmark compares Atelier with it.
type peer struct {
	name     string
	start    func(context.Context) (*exec.Cmd, error)
	programs []load.Program // programs whose code defines main(input)
}

func (b *bench) peers(ctx context.Context) (section, error) {
	s := section{title: "Peers, on this machine in the same run: no sandbox of the system, no schemas, no record"}
	simple := load.Hello()
	js, py, loop := simple[0], simple[1], load.Loop()
	js.Code = "function main({ a, b }) { return { sum: a + b }; }"
	py.Code = "def main(input):\n    return {\"sum\": input[\"a\"] + input[\"b\"]}\n"
	loop.Code = strings.TrimPrefix(loop.Code, "export default ")
	for _, p := range []peer{
		{"isolated-vm " + isolatedVersion, b.startIsolated, []load.Program{js, loop}},
		{"python3 -c per request", startSubprocess, []load.Program{py}},
	} {
		rows, err := b.measurePeer(ctx, p)
		if err != nil {
			s.rows = append(s.rows, row{what: p.name, measured: "left out", verdict: err.Error()})
			continue
		}
		s.rows = append(s.rows, rows...)
	}
	return s, ctx.Err()
}

func (b *bench) measurePeer(ctx context.Context, p peer) (rows []row, err error) {
	err = within(ctx, p, func(client load.Client) error {
		for _, program := range p.programs {
			for _, clients := range []int{1, 8} {
				sample := load.Closed(ctx, clients, b.span, asked(client, program))
				if sample.Fault != nil {
					return sample.Fault
				}
				rows = append(rows, row{what: fmt.Sprintf("%s, %s, %d at once", p.name, program.Name, clients), measured: cell{Sample: sample}.String()})
			}
		}
		return nil
	})
	return rows, err
}

// within starts a peer, calls do and stops the peer.
func within(ctx context.Context, p peer, do func(load.Client) error) error {
	process, err := p.start(ctx)
	if err != nil {
		return err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}()
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return fmt.Errorf("it did not start: %w", err)
	}
	return do(load.NewClient(strings.TrimSpace(address)))
}

// asked calls a peer and checks its answer.
func asked(client load.Client, p load.Program) load.Call {
	return func(ctx context.Context, n int) error {
		body, err := json.Marshal(map[string]any{"code": p.Code, "input": json.RawMessage(p.Input(n))})
		if err != nil {
			return err
		}
		answer, err := client.Post(ctx, "/", body)
		if err != nil {
			return err
		}
		run := load.Run{Status: "succeeded"}
		if err := json.Unmarshal(answer, &run); err != nil {
			return err
		}
		return p.Check(run, n)
	}
}

// startIsolated starts a server that uses isolated-vm. It installs the package into the user's cache once.
func (b *bench) startIsolated(ctx context.Context) (*exec.Cmd, error) {
	dir, err := cache("isolated-vm-" + isolatedVersion)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "isolated-vm")); err != nil {
		if b.quick {
			return nil, errors.New("it is not installed, and -quick does not install")
		}
		ctx, cancel := context.WithTimeout(ctx, installTime)
		defer cancel()
		install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", dir, "isolated-vm@"+isolatedVersion)
		install.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a separate process group, so that Cancel also ends the processes that npm started
		install.Cancel = func() error { return syscall.Kill(-install.Process.Pid, syscall.SIGKILL) }
		if text, err := install.CombinedOutput(); err != nil {
			_ = os.RemoveAll(filepath.Join(dir, "node_modules"))
			return nil, fmt.Errorf("isolated-vm does not install: %s", lastLine(string(text), err))
		}
	}
	script := filepath.Join(dir, "server.js")
	if err := os.WriteFile(script, isolatedJS, 0o600); err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, "node", script), nil
}

func startSubprocess(ctx context.Context) (*exec.Cmd, error) {
	dir, err := cache("subprocess")
	if err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "server.py")
	if err := os.WriteFile(script, subprocessPy, 0o600); err != nil {
		return nil, err
	}
	for _, python := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(python); err == nil {
			return exec.CommandContext(ctx, python, script), nil
		}
	}
	return nil, errors.New("there is no python3 in /usr/bin or /usr/local/bin")
}

func cache(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "atelier-bench", name)
	return dir, os.MkdirAll(dir, 0o700)
}

// lastLine returns the last line of a tool's output, without paths of this machine.
func lastLine(text string, err error) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "npm error") {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}
