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

// maxStack is the maximum size of the compiler's stack in bytes. The compiler recurses into the nested blocks of a module.
const maxStack = 256 << 20

// Serve runs jobs from conn, one at a time, until conn ends.
func Serve(conn net.Conn) error {
	debug.SetMaxStack(maxStack)
	return serve(conn)
}

func serve(conn net.Conn) (err error) {
	ctx := context.Background()
	// Modules are compiled, because wazero's interpreter is at least ten times slower. The server enforces the time limit.
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

// worker caches compiled modules between runs. Each run has a new instance.
type worker struct {
	engine  wazero.Runtime
	offered map[string]api.FunctionDefinition
	out     *frames.Writer
	modules map[string]wazero.CompiledModule
	order   []string // digests of the cached modules, oldest first
}

// maxModules is the maximum number of compiled modules in a worker's cache. If a workspace uses more modules in turn,
// they are compiled again.
const maxModules = 8

// carryOut runs one job and reports its end. Compilation counts towards the program's time limit, because it depends on
// the program.
func (w *worker) carryOut(ctx context.Context, job Job) error {
	compiled := w.modules[job.Program()]
	if compiled == nil && job.Brief {
		return w.out.Write(frames.Need, nil) // the server then sends the complete job
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

// compile compiles and checks the module of a job, and caches it if the job has a digest.
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

// orElse returns first if it is not nil, otherwise then as a program error.
func orElse(first *runtimes.ProgramError, then error) *runtimes.ProgramError {
	if first != nil || then == nil {
		return first
	}
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: then.Error()}
}
