// The stub takes the place of WasmEdge in tests of the command and of the output. It refuses options that WasmEdge does not
// have. Its module is a line of text: a behaviour and an argument.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

type list []string

func (l *list) String() string     { return "" }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func main() {
	var env list
	flag.Int64("time-limit", 0, "")
	pages := flag.Int64("memory-page-limit", 0, "")
	gas := flag.Int64("gas-limit", 0, "")
	measured := flag.Bool("enable-gas-measuring", false, "")
	flag.Var(&env, "env", "")
	flag.Parse()
	text, err := os.ReadFile(flag.Arg(0))
	if err != nil || flag.NArg() != 1 || *pages == 0 || *gas == 0 || !*measured {
		fmt.Fprintln(os.Stderr, err, os.Args)
		os.Exit(2)
	}
	does, argument, _ := strings.Cut(string(text), " ")
	switch does {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "print":
		fmt.Print(argument)
	case "command":
		_ = json.NewEncoder(os.Stdout).Encode(os.Args[1:])
	case "error":
		fmt.Fprintf(os.Stderr, "[2026-11-26 10:00:00.000] [error] %s, Code: 0x89\n[2026-11-26 10:00:00.000] [error]     When executing function name: \"_start\"\n", argument)
		os.Exit(134)
	case "exit":
		code, _ := strconv.Atoi(argument)
		os.Exit(code)
	case "flood":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "loop":
		for {
		}
	}
}
