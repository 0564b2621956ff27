// Command report reads the output of the test runners and prints it in one format: failures in full and every other
// result in one line. It sums passed, failed and skipped tests. It also prints the statement coverage of each package,
// and which acceptance statements of the Studio have passing tests.
package main

import (
	"errors"
	"fmt"
	"os"
)

const usage = `usage: report go COUNTS COMMAND... < go test -json
       report vitest NAME RESULT.json CODE COUNTS COMMAND...
       report rerun COUNTS
       report statements RESULT.json TALLY
       report skip COUNTS NAME REASON
       report fail COUNTS NAME [PROGRAM ARGUMENT...]
       report coverage PROFILE
       report total COUNTS`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) >= 2 && args[0] == "go":
		counts, err := readGo(os.Stdin, os.Stdout)
		counts.Command = args[2:]
		return errors.Join(err, counts.save(args[1]))
	case len(args) >= 5 && args[0] == "vitest":
		counts, err := readVitest(args[1], args[2], args[3])
		counts.Command = args[5:]
		return errors.Join(err, counts.save(args[4]))
	case len(args) == 2 && args[0] == "rerun":
		return rerun(args[1], os.Stdout)
	case len(args) == 3 && args[0] == "statements":
		return printStatements(args[1], args[2], os.Stdout)
	case len(args) == 4 && args[0] == "skip":
		return Counts{Name: args[2], Skips: []string{args[2] + ": " + args[3]}, Skipped: 1}.save(args[1])
	case (len(args) == 3 || len(args) >= 5) && args[0] == "fail":
		program, arguments := args[3:min(4, len(args))], args[min(4, len(args)):]
		return Counts{Name: args[2], Command: program, Failures: []Failure{{Title: args[2], Rerun: arguments}}, Failed: 1}.save(args[1])
	case len(args) == 2 && args[0] == "coverage":
		return printCoverage(args[1], coverageRequired(), os.Stdout)
	case len(args) == 2 && args[0] == "total":
		return printTotal(args[1], os.Stdout, os.Getenv("CI") == "true")
	}
	return errors.New(usage)
}
