package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/scripts/load"
)

// packaged is a program with packages. must is the maximum ratio of its time to the time of the same program without
// packages.
type packaged struct {
	load.Program
	must float64
}

// packages compares programs with packages to programs without packages, after their first run. It also measures a
// first installation. The package index runs on this machine and contains real wheels and tarballs.
func (b *bench) packages(ctx context.Context) (s section, err error) {
	s.title = "Packages from an index on loopback"
	folder, err := exec.CommandContext(ctx, "scripts/packages.sh").Output()
	if err != nil {
		return s, fmt.Errorf("scripts/packages.sh: %w", err)
	}
	uv, err := exec.CommandContext(ctx, "scripts/uv.sh").Output()
	if err != nil {
		return s, fmt.Errorf("scripts/uv.sh: %w", err)
	}
	index := packagestest.Open()
	defer index.Close()
	if err := index.AddFolder(strings.TrimSpace(string(folder))); err != nil {
		return s, err
	}
	flags := []string{"--python-index", index.Simple(), "--npm-registry", index.NPM(), "--uv", strings.TrimSpace(string(uv))}
	if s.rows, err = b.secondRuns(ctx, flags); err != nil {
		return s, err
	}
	cold, err := b.coldInstall(ctx, flags, nil)
	if err != nil {
		return s, err
	}
	slow, err := newSlowIndex(index.URL)
	if err != nil {
		return s, err
	}
	defer slow.Close()
	remote, err := b.coldInstall(ctx, append(flags, "--python-index", slow.URL+"/simple/"), slow)
	s.rows = append(append(s.rows, cold...), remote...)
	return s, errors.Join(err, ctx.Err())
}

// withStore starts a server with a new directory for packages, which sandboxes can read. It passes the server to use.
func (b *bench) withStore(ctx context.Context, flags []string, use func(*load.Server) error) error {
	store, err := os.MkdirTemp("", "atelier-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(store)
	if err := os.Chmod(store, 0o755); err != nil {
		return err
	}
	server, err := load.Start(ctx, load.Options{Binary: b.binary, Flags: append(slices.Clone(flags), "--packages-dir", store)})
	if err != nil {
		return err
	}
	return errors.Join(use(server), server.Stop())
}

func (b *bench) secondRuns(ctx context.Context, flags []string) (rows []row, err error) {
	err = b.withStore(ctx, flags, func(server *load.Server) error {
		for _, language := range []string{"python", "javascript"} {
			plain := helloIn(language)
			base, err := b.second(ctx, server, plain)
			if err != nil {
				return err
			}
			rows = append(rows, row{what: language + " without packages, 5 a second", measured: base.String()})
			for _, p := range packagedIn(plain) {
				c, err := b.second(ctx, server, p.Program)
				if err != nil {
					return err
				}
				limit := bar{must: p.must * base.At(0.5), unit: "ms p50", of: fmt.Sprintf("%s × without", short(p.must))}
				rows = append(rows, limit.judge(row{what: language + " with " + strings.Join(p.Packages, " and "), measured: c.String()}, c.At(0.5), c.cost()))
			}
		}
		return nil
	})
	return rows, err
}

// second measures a program at five runs per second, after its first run. Between two runs, the server starts an
// interpreter that imports the packages for the next run.
func (b *bench) second(ctx context.Context, server *load.Server, p load.Program) (cell, error) {
	if err := server.Publish(ctx, p); err != nil {
		return cell{}, err
	}
	ask := server.Checked(p)
	load.Closed(ctx, 1, time.Second, ask) // the first run is not counted, because it installs packages and prepares an interpreter
	return b.observeOf(server, func() *load.Sample { return load.Paced(ctx, 5, b.span, ask) }), nil
}

// packagedIn returns programs with packages. Their answers are the same as those of the given program.
func packagedIn(plain load.Program) []packaged {
	with := func(must float64, code string, names ...string) packaged {
		p := plain
		p.Packages, p.Code = names, code
		p.Name += "-" + strings.Join(names, "-")
		if p.Language == "javascript" {
			p.Runtime = "goja" // auto chooses Node for programs with packages
		}
		return packaged{p, must}
	}
	if plain.Language == "python" {
		return []packaged{
			with(1.3, "import requests\n\ndef main(input, ctx):\n    return {\"sum\": input[\"a\"] + input[\"b\"] + len(requests.structures.CaseInsensitiveDict())}\n", "requests"),
			with(2, "import numpy\n\ndef main(input, ctx):\n    return {\"sum\": int(numpy.array([input[\"a\"], input[\"b\"]]).sum())}\n", "numpy"),
		}
	}
	return []packaged{
		with(1.2, "import sum from \"lodash/sum.js\";\nimport { z } from \"zod\";\n\nconst given = z.object({ a: z.number(), b: z.number() });\nexport default function main(input) {\n  const { a, b } = given.parse(input);\n  return { sum: sum([a, b]) };\n}\n", "lodash", "zod"),
	}
}

// coldInstall measures how long new servers need to resolve and install the package requests. With a slow index it also
// measures how much of this time is the download.
func (b *bench) coldInstall(ctx context.Context, flags []string, slow *slowIndex) ([]row, error) {
	taken := &load.Sample{}
	var parts []float64
	body, err := json.Marshal(map[string]any{"name": "cold", "language": "python", "code": "import requests\n\ndef main():\n    return 1\n", "packages": []string{"requests"}})
	if err != nil {
		return nil, err
	}
	for range b.rounds/3 + 1 {
		err := b.withStore(ctx, flags, func(server *load.Server) error {
			if _, err := server.Call(ctx, http.MethodPost, api+"/code-agents", body, nil); err != nil {
				return err
			}
			began := time.Now()
			_, err := server.Call(ctx, http.MethodPost, api+"/code-agents/cold/packages/resolve", []byte(`{"install":true}`), nil)
			taken.Times = append(taken.Times, time.Since(began))
			if slow != nil {
				download, all := slow.taken()
				parts = append(parts, 100*download.Seconds()/all.Seconds())
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(taken.Times)
	what := "resolve and install requests, cold"
	if slow != nil {
		what += ", 10 Mbit/s, 30 ms"
	}
	rows := []row{bar{must: 3000, unit: "ms p50"}.judge(row{what: what, measured: fmt.Sprintf("p50 %.0f ms, %d times", taken.At(0.5), len(taken.Times))}, taken.At(0.5), "")}
	if slow != nil {
		slices.Sort(parts)
		part := parts[len(parts)/2]
		rows = append(rows, bar{must: 50, least: true, unit: "%"}.judge(row{what: "the download's part of that installation", measured: fmt.Sprintf("%.0f %%", part)}, part, ""))
	}
	return rows, nil
}
