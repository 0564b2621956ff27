package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// block is one block of statements in a coverage profile. Several test binaries may report the same block. The block is
// covered if at least one of them executed it.
type block struct {
	statements int
	covered    bool
}

// leastOfRequired is the minimum statement coverage, in percent, of a package that is a security boundary.
const leastOfRequired = 90.0

// coverageRequired lists the packages that are a security boundary: they separate untrusted data from the rest of the
// server.
func coverageRequired() []string {
	return []string{
		"internal/jcs", "internal/hostpattern", "internal/terminal", "registry/schema", "runtimes/egress", "runtimes/frames", "runtimes/sandbox", "runtimes/sandbox/cgroups",
		"runtimes/sandbox/child", "runtimes/sandbox/launcher", "runtimes/sandbox/program", "runtimes/sandbox/seccomp", "runtimes/sandbox/wire", "runtimes/worker", "server/gate",
	}
}

// printCoverage prints the statement coverage of each package and of all packages. It returns an error if a security
// boundary is below the minimum or missing in the profile.
func printCoverage(profile string, coverageRequired []string, out io.Writer) error {
	in, err := os.Open(profile)
	if err != nil {
		return err
	}
	defer in.Close()
	blocks := map[string]block{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		place, rest, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(place, "mode:") {
			continue
		}
		statements, count, _ := strings.Cut(rest, " ")
		size, err := strconv.Atoi(statements)
		if err != nil {
			return fmt.Errorf("read %s: %w", profile, err)
		}
		blocks[place] = block{statements: size, covered: blocks[place].covered || count != "0"}
	}
	if err := lines.Err(); err != nil {
		return err
	}

	total, covered := map[string]int{}, map[string]int{}
	for place, b := range blocks {
		file, _, _ := strings.Cut(place, ":")
		pkg := strings.TrimPrefix(path.Dir(file), "github.com/atelier-run/atelier/")
		for _, name := range []string{pkg, "all packages"} {
			total[name] += b.statements
			if b.covered {
				covered[name] += b.statements
			}
		}
	}
	all := "all packages"
	pkgs := slices.DeleteFunc(slices.Sorted(maps.Keys(total)), func(pkg string) bool { return pkg == all })
	var thin []string
	for _, pkg := range append(pkgs, all) {
		if total[pkg] == 0 {
			continue
		}
		share, mark := 100*float64(covered[pkg])/float64(total[pkg]), ""
		if slices.Contains(coverageRequired, pkg) {
			if mark = "  security boundary"; share < leastOfRequired {
				thin = append(thin, fmt.Sprintf("%s %.1f %%", pkg, share))
			}
		}
		fmt.Fprintf(out, "%-36s %6d statements  %5.1f %%%s\n", pkg, total[pkg], share, mark)
	}
	for _, pkg := range coverageRequired {
		if total[pkg] == 0 {
			thin = append(thin, pkg+" not at all")
		}
	}
	if len(thin) > 0 {
		return fmt.Errorf("tests must run at least %.0f %% of the statements of a security boundary: %s", leastOfRequired, strings.Join(thin, ", "))
	}
	return nil
}
