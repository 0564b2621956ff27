package guest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/wasm/module"
)

// maxStack bounds the stacks of the compiler, which follows the nesting of a module's blocks.
const maxStack = 256 << 20

// Serve runs jobs from conn, one at a time, until conn ends.
func Serve(conn net.Conn) error {
	debug.SetMaxStack(maxStack)
	return serve(conn)
}

func serve(conn net.Conn) (err error) {
	ctx := context.Background()
	// The compiler, which makes machine code: an interpreter takes ten times as long and more. The processor stops a module
	// at the walls of its memory; time is the server's to watch.
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	offered, err := module.WASI(ctx, engine)
	if err != nil {
		return err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, engine); err != nil {
		return fmt.Errorf("offer WASI: %w", err)
	}
	w := &worker{engine: engine, offered: offered, out: frames.NewWriter(conn), modules: map[string]wazero.CompiledModule{}}
	in := frames.NewReader(bufio.NewReader(conn), map[frames.Kind]int{frames.Job: frames.MaxFrame})
	for {
		kind, payload, err := in.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
			return nil
		}
		if err != nil {
			return err
		}
		var job Job
		if err := json.Unmarshal(payload, &job); err != nil {
			return fmt.Errorf("job %q: %w", byte(kind), err)
		}
		if err := w.carryOut(ctx, job); err != nil {
			return err
		}
	}
}

// worker is the state that outlives a run: what was compiled. Instances never do.
type worker struct {
	engine  wazero.Runtime
	offered map[string]api.FunctionDefinition
	out     *frames.Writer
	modules map[string]wazero.CompiledModule
	order   []string // of modules, the oldest first
}

// maxModules bounds what a worker keeps compiled. A workspace that runs more in turn pays for compiling them again.
const maxModules = 8

// carryOut runs one job and tells how it ended. Compiling is the program's time: how long it takes is its doing.
func (w *worker) carryOut(ctx context.Context, job Job) error {
	compiled := w.modules[job.Program()]
	if compiled == nil && job.Brief {
		return w.out.Write(frames.Need, nil) // the whole job is the next one
	}
	if err := w.out.Write(frames.Started, nil); err != nil {
		return err
	}
	if compiled == nil {
		var refused *runtimes.ProgramError
		if compiled, refused = w.compile(ctx, job); refused != nil {
			return w.out.WriteJSON(frames.Done, frames.Result{Error: refused})
		}
	}
	result := w.run(ctx, compiled, job)
	if job.Program() == "" {
		result.Error = orElse(result.Error, compiled.Close(ctx))
	}
	return w.out.WriteJSON(frames.Done, result)
}

// compile makes a module ready to run, and keeps it for the next run if it has a name.
func (w *worker) compile(ctx context.Context, job Job) (wazero.CompiledModule, *runtimes.ProgramError) {
	compiled, err := w.engine.CompileModule(ctx, job.Module)
	if err != nil {
		return nil, invalid(err.Error())
	}
	if faults := module.Faults(job.Module, compiled, w.offered); len(faults) > 0 {
		return nil, orElse(invalid(faults[0]), compiled.Close(ctx))
	}
	name := job.Program()
	if name == "" {
		return compiled, nil
	}
	if len(w.order) == maxModules {
		oldest := w.order[0]
		if err := w.modules[oldest].Close(ctx); err != nil {
			return nil, orElse(nil, err)
		}
		delete(w.modules, oldest)
		w.order = w.order[1:]
	}
	w.modules[name], w.order = compiled, append(w.order, name)
	return compiled, nil
}

func invalid(message string) *runtimes.ProgramError {
	return &runtimes.ProgramError{
		Type: runtimes.SyntaxError, Message: "The module is not valid: " + message,
		Remedy: "Build it as a WASI preview 1 command, for example with GOOS=wasip1 GOARCH=wasm go build.",
	}
}

// orElse is the failure of a program, or of what came after it.
func orElse(first *runtimes.ProgramError, then error) *runtimes.ProgramError {
	if first != nil || then == nil {
		return first
	}
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: then.Error()}
}
