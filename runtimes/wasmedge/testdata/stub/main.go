// The stub simulates WasmEdge in tests of the command line and of the output. It refuses the same options and values as
// WasmEdge, and prints its log on stdout like WasmEdge. Its module is a line of text with a behaviour and an argument.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

type list []string

func (l *list) String() string     { return "" }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func logged(level, text string) { fmt.Printf("[2026-11-26 10:00:00.000] [%s] %s\n", level, text) }

func main() {
	var env list
	flag.Int64("time-limit", 0, "")
	pages := flag.Int64("memory-page-limit", 0, "")
	gas := flag.Int64("gas-limit", 0, "")
	measured := flag.Bool("enable-gas-measuring", false, "")
	flag.Var(&env, "env", "")
	flag.Parse()
	for _, value := range []int64{*pages, *gas} {
		if value > math.MaxInt32 {
			fmt.Printf("integer value out of range: %d\n", value)
			os.Exit(1)
		}
	}
	text, err := os.ReadFile(flag.Arg(0))
	if err != nil || flag.NArg() != 1 || *pages == 0 {
		fmt.Fprintln(os.Stderr, err, os.Args)
		os.Exit(2)
	}
	if *measured || *gas != 0 {
		defer logged("info", "====================  Statistics  ====================")
	}
	const grow = "Memory Instance: Memory grow page failed, exceeded limited 1024 page size in configuration."
	does, argument, _ := strings.Cut(string(text), " ")
	switch does {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "print":
		fmt.Print(argument)
	case "command":
		_ = json.NewEncoder(os.Stdout).Encode(os.Args[1:])
	case "error":
		logged("error", argument+", Code: 0x89")
		logged("error", "calling stack:"+strings.Repeat("20, ", 10_000))
		logged("error", "    When executing function name: \"_start\"")
		os.Exit(134)
	case "grow": // a module that tries to grow its memory above its limit, prints, and exits
		fmt.Print("{")
		logged("error", grow)
		logged("error", grow)
		fmt.Println("}")
		code, _ := strconv.Atoi(argument)
		os.Exit(code)
	case "small": // a module that declares more memory than its limit
		logged("error", "Memory Instance: Limited 1024 page in configuration.")
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
