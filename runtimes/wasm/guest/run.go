package guest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/wasm/module"
)

// run creates an instance of a module, runs it to its end and closes it.
func (w *worker) run(ctx context.Context, compiled wazero.CompiledModule, job Job) frames.Result {
	output := frames.NewOutput(w.out)
	printed := &stream{output: output, kind: frames.Stdout, keep: int(job.Limits.OutputBytes) + 1}
	input := job.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	config := wazero.NewModuleConfig().WithName("").WithArgs(job.Name).WithStartFunctions(module.Start).
		WithStdin(bytes.NewReader(input)).WithStdout(printed).WithStderr(&stream{output: output, kind: frames.Stderr}).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader)
	for _, name := range slices.Sorted(maps.Keys(job.Environment)) {
		config = config.WithEnv(name, job.Environment[name])
	}
	memory := &memories{most: uint64(max(job.Limits.MemoryBytes, 0))}
	err := w.start(experimental.WithMemoryAllocator(ctx, memory), compiled, config, memory)
	output.Close()
	result := ended(err)
	switch {
	case result.Error != nil && memory.refused:
		result.Error = &runtimes.ProgramError{
			Type: runtimes.MemoryLimit, Message: fmt.Sprintf("The module exceeded its memory limit of %s.", bytesize.Text(job.Limits.MemoryBytes)),
		}
	case result.Error == nil:
		result.Output, result.Error = answer(printed.kept, int(job.Limits.OutputBytes))
	}
	return result
}

// start runs the module to its end. wazero panics if it cannot allocate the first page of a memory; start returns an
// error instead.
func (w *worker) start(ctx context.Context, compiled wazero.CompiledModule, config wazero.ModuleConfig, memory *memories) (err error) {
	defer func() {
		if fault := recover(); fault != nil && memory.refused {
			err = errors.New("no memory")
		} else if fault != nil {
			panic(fault)
		}
	}()
	instance, err := w.engine.InstantiateModule(ctx, compiled, config)
	if err != nil {
		return err
	}
	return instance.Close(ctx)
}

// ended converts the error with which a module ended to a result.
func ended(err error) frames.Result {
	code := 0
	var exit *sys.ExitError
	switch {
	case err == nil:
		return frames.Result{ExitCode: &code}
	case errors.As(err, &exit):
		code = int(exit.ExitCode() & 0xff)
		result := frames.Result{ExitCode: &code}
		if exit.ExitCode() != 0 {
			result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The module exited with code %d.", exit.ExitCode())}
		}
		return result
	}
	// The error text is, for example, "module[] function[_start] failed: wasm error: unreachable", followed by a line
	// "wasm stack trace:" and one line per function.
	message, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n")
	message = strings.TrimPrefix(strings.TrimPrefix(message, "module[] function["+module.Start+"] failed: "), "wasm error: ")
	failure := &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The module was stopped: " + message + ".", Stack: strings.ReplaceAll(stack, "\t", "")}
	if strings.HasPrefix(message, "stack overflow") {
		failure.Type, failure.Message, failure.Remedy = runtimes.RecursionLimit, "The module's calls are nested too deeply.", "Reduce the nesting of calls."
	}
	return frames.Result{Error: failure}
}

// answer parses the module's stdout as its result: one JSON value, or nothing, which means null.
func answer(printed []byte, most int) (json.RawMessage, *runtimes.ProgramError) {
	text := bytes.TrimSpace(printed)
	switch {
	case len(printed) > most:
		return nil, &runtimes.ProgramError{Type: runtimes.OutputLimit}
	case len(text) == 0:
		return json.RawMessage("null"), nil
	case tooDeep(text): // the server could not decode a frame with an output that is too deeply nested
		return nil, &runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: fmt.Sprintf("output is nested deeper than %d levels", jcs.MaxDepth)}
	case !json.Valid(text):
		return nil, &runtimes.ProgramError{
			Type: runtimes.InvalidOutput, Message: "output: stdout must be exactly one JSON value.",
			Remedy: "Print the output as JSON on stdout, and everything else on stderr.",
		}
	}
	return text, nil
}

func tooDeep(text []byte) bool {
	var bad *jcs.Error
	return errors.As(jcs.Check(text, jcs.Limits{}), &bad) && bad.Reason == jcs.TooDeep
}

// stream is stdout or stderr of a module. It stores up to keep bytes, because the text on stdout is also the result.
type stream struct {
	output *frames.Output
	kind   frames.Kind
	keep   int
	kept   []byte
}

func (s *stream) Write(p []byte) (int, error) {
	s.output.Write(s.kind, string(p))
	s.kept = append(s.kept, p[:min(len(p), s.keep-len(s.kept))]...)
	return len(p), nil
}
