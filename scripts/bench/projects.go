package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

const (
	treeName  = "tree"
	treeFiles = 10_000
	fileCalls = 100 // number of reads, writes and searches per run
)

// timedCalls is a program that measures its own calls. It returns the milliseconds of each call.
const timedCalls = `import time

def main(input, ctx):
    def timed(call, count):
        took = []
        for n in range(count):
            began = time.perf_counter()
            call(n)
            took.append(1000 * (time.perf_counter() - began))
        return took

    text = "x" * 4095 + "\n"
    def write(n):
        ctx.write_file(f"written/{n}.txt", text)
    def read(n):
        if len(ctx.read_file(f"written/{n}.txt")) != 4096:
            raise ValueError("another file was read")
    def search(n):
        if len(ctx.search_content(r"needle \d+")) != 1:
            raise ValueError("the search found something else")
    return {"write": timed(write, input["calls"]), "read": timed(read, input["calls"]), "search": timed(search, input["searches"])}
`

// projects measures the calls with which a Python program uses the files of a project. It also measures programs that a
// language model writes.
func (b *bench) projects(ctx context.Context) (section, error) {
	s := section{title: "Files of projects, and programs of a language model"}
	archive, err := manyFiles()
	if err != nil {
		return s, err
	}
	if _, err := b.server.Call(ctx, http.MethodPost, api+"/projects/"+treeName+"/import", archive, map[string]string{"Content-Type": "application/gzip"}); err != nil {
		return s, err
	}
	times, err := b.timedCalls(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range []struct {
		name, what string
		must       float64
	}{
		{"read", "read of a 4 KB file from Python", 0.3}, {"write", "write of a 4 KB file from Python", 0.3}, {"search", fmt.Sprintf("search_content over %d files", treeFiles), 300},
	} {
		all := times[one.name]
		slices.Sort(all)
		at := func(share float64) float64 { return all[int(share*float64(len(all)-1))] }
		r := row{what: one.what, measured: fmt.Sprintf("p50 %.2f  p99 %.2f ms", at(0.5), at(0.99))}
		s.rows = append(s.rows, bar{must: one.must, unit: "ms p50"}.judge(r, at(0.5), ""))
	}
	rows, err := b.written(ctx)
	s.rows = append(s.rows, rows...)
	return s, errors.Join(err, ctx.Err())
}

// timedCalls runs the program several times and returns all times, by the name of the call.
func (b *bench) timedCalls(ctx context.Context) (map[string][]float64, error) {
	body, err := json.Marshal(map[string]any{
		"language": "python", "code": timedCalls, "input": map[string]int{"calls": fileCalls, "searches": 3},
		"capabilities": map[string]any{"files": map[string]any{"project": treeName, "write": true}}, "limits": map[string]int{"timeoutMs": 120_000},
	})
	if err != nil {
		return nil, err
	}
	times := map[string][]float64{}
	for range b.rounds {
		answer, err := b.server.Call(ctx, http.MethodPost, api+"/execute", body, nil)
		if err != nil {
			return nil, err
		}
		var run load.Run
		var took map[string][]float64
		if err := json.Unmarshal(answer, &run); err != nil {
			return nil, err
		}
		if run.Status != "succeeded" {
			return nil, fmt.Errorf("the run on a project: %.500s", answer)
		}
		if err := json.Unmarshal(run.Output, &took); err != nil {
			return nil, err
		}
		for name, all := range took {
			times[name] = append(times[name], all...)
		}
	}
	return times, nil
}

// manyFiles returns an archive of small files. One file contains the text for which the program searches.
func manyFiles() ([]byte, error) {
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for n := range treeFiles {
		content := fmt.Sprintf("file %d\n%s", n, strings.Repeat("some hay of a usual line\n", 10))
		if n == treeFiles/2 {
			content += "needle 42\n"
		}
		if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("folder-%d/file-%d.txt", n%100, n), Mode: 0o644, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), zipped.Close())
	return text.Bytes(), err
}

// written measures how often the first answer of a language model passes the checks, and the time until a program is
// written. If no model is configured, it measures nothing.
func (b *bench) written(ctx context.Context) ([]row, error) {
	tasks := modelTasks()
	valid := row{what: fmt.Sprintf("programs of a language model that are valid at once, of %d", len(tasks)), must: "≥ 80 %", measured: "not measured"}
	took := row{what: "a program of a language model", measured: "not measured"}
	base, name := os.Getenv("ATELIER_LLM_BASE_URL"), os.Getenv("ATELIER_LLM_MODEL")
	if base == "" || name == "" {
		return []row{valid, took}, nil
	}
	flags := []string{"--llm-base-url", base, "--llm-model", name}
	if key := os.Getenv("ATELIER_LLM_API_KEY"); key != "" {
		flags = append(flags, "--llm-api-key", key)
	}
	server, err := load.Start(ctx, load.Options{Binary: b.binary, Flags: flags})
	if err != nil {
		return nil, err
	}
	first, sample := 0, &load.Sample{}
	for n, task := range tasks {
		body, err := json.Marshal(map[string]string{"description": task, "language": []string{"python", "javascript"}[n%2]})
		if err != nil {
			return nil, errors.Join(err, server.Stop())
		}
		began := time.Now()
		answer, err := server.Call(ctx, http.MethodPost, api+"/assist/generate", body, nil)
		sample.Times = append(sample.Times, time.Since(began))
		var got struct{ Attempts []any }
		var refused *load.Refusal
		switch {
		case errors.As(err, &refused): // no attempt gave a usable answer
		case err != nil:
			return nil, errors.Join(err, server.Stop())
		case json.Unmarshal(answer, &got) == nil && len(got.Attempts) == 0:
			first++
		}
	}
	slices.Sort(sample.Times)
	share := 100 * float64(first) / float64(len(tasks))
	valid.measured, took.measured = fmt.Sprintf("%.0f %% of %s", share, name), fmt.Sprintf("p50 %.1f  p99 %.1f s", sample.At(0.5)/1000, sample.At(0.99)/1000)
	return []row{bar{must: 80, least: true, unit: "%"}.judge(valid, share, name), took}, server.Stop()
}

// modelTasks is the fixed set of tasks for a language model.
func modelTasks() []string {
	return []string{
		"Count the words of a text.",
		"Return the n largest numbers of a list, in descending order.",
		"Convert degrees Celsius to Fahrenheit and Kelvin.",
		"Group orders by customer and add up their amounts.",
		"Say whether a text is a palindrome, without regard to case, spaces and punctuation.",
		"Turn a list of objects into CSV with a header.",
		"Parse CSV with a header into a list of objects.",
		"Return the words that occur most often in a text, with their counts.",
		"Merge overlapping intervals of numbers.",
		"Flatten nested lists of numbers.",
		"Return the median, the mean and the standard deviation of numbers.",
		"Check the digits of an IBAN.",
		"Check a credit card number with the Luhn algorithm.",
		"Convert a whole number up to 3999 to Roman numerals.",
		"Remove duplicates from a list of e-mail addresses, without regard to case, and keep the first of each.",
		"Return the differences of two flat objects: added, removed and changed keys.",
		"Wrap a text at a number of characters without splitting words.",
		"Turn a title into a slug of lower-case letters, digits and hyphens.",
		"Count the working days between two dates, without Saturdays and Sundays.",
		"Return the shortest path between two nodes of a graph that is given as lists of neighbours.",
		"Replace the placeholders {{name}} of a template by values, and list those without a value.",
		"Sort version numbers such as 1.10.2 in their order.",
		"Rotate a matrix of numbers by 90 degrees.",
		"Mask all but the last four characters of each account number in a text; an account number has at least eight digits.",
		"Balance a list of debts between people with as few payments as possible.",
	}
}
