// Command words counts the words of a text: a WASI command, with its input as JSON on stdin and its output on stdout.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
)

type input struct {
	Text string `json:"text"`
	Top  int    `json:"top"`
}

type word struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

type output struct {
	Words int    `json:"words"`
	Top   []word `json:"top"`
}

func main() {
	in := input{Top: 5}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, "read the input:", err)
		os.Exit(1)
	}
	words := strings.FieldsFunc(strings.ToLower(in.Text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	counts := map[string]int{}
	for _, w := range words {
		counts[w]++
	}
	out := output{Words: len(words), Top: []word{}}
	for w, n := range counts {
		out.Top = append(out.Top, word{w, n})
	}
	slices.SortFunc(out.Top, func(a, b word) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Word, b.Word)
	})
	out.Top = out.Top[:min(max(in.Top, 0), len(out.Top))]
	fmt.Fprintln(os.Stderr, len(counts), "different words")
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		os.Exit(1)
	}
}
