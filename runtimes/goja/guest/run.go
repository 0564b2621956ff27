package guest

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// run is one job on one VM. Only the goroutine of carryOut uses its fields. Other goroutines use only its signals.
type run struct {
	*signals
	worker  *worker
	job     Job
	output  *frames.Output
	program *program
	loop    *loop
	began   time.Time
	calls   int64
	exact   map[goja.Value]string                // BigInts that came from the input, with their digits
	denied  map[*goja.Object]*runtimes.CallError // errors of denied host calls and of the rules
	modules map[string]*goja.Object              // exports of those scripts of this package that were executed
	ready   *goja.Runtime                        // VM of a prepared run, into which the program is already loaded
	loaded  *module                              // the loaded program
	impure  bool                                 // the program did something that another run could see or that differs between runs
	dated   bool                                 // the program's packages read the clock
	ahead   bool                                 // the program is being loaded in advance, and no job is in progress

	inspectKey *goja.Symbol // the symbol nodejs.util.inspect.custom; nil until it is needed
}

// interruption is the reason why a program is stopped from outside the VM.
type interruption struct {
	kind    runtimes.ErrorType
	message string
}

func (i *interruption) Error() string { return string(i.kind) }

// module is a program that was loaded into a VM.
type module struct {
	entry   goja.Callable
	exports goja.Value
}

// newRun returns a run of a program. The run has no VM yet; bind sets it.
func newRun(w *worker, program *program, job Job, signals *signals) *run {
	r := &run{worker: w, program: program, job: job, signals: signals, output: frames.NewOutput(w.out)}
	r.loop = newLoop(r)
	return r
}

// signals is the part of a run that other goroutines use to stop the run and to deliver replies.
type signals struct {
	vm      atomic.Pointer[goja.Runtime]
	stopped atomic.Pointer[interruption]
	wake    chan struct{}      // receives a value when the program must stop
	replies chan frames.Answer // reply to the one pending host call
}

func newSignals() *signals {
	return &signals{wake: make(chan struct{}, 1), replies: make(chan frames.Answer, 1)}
}

// interrupt stops the program. If it is called again, the first reason remains.
func (s *signals) interrupt(kind runtimes.ErrorType, message string) {
	if !s.stopped.CompareAndSwap(nil, &interruption{kind: kind, message: message}) {
		return
	}
	if vm := s.vm.Load(); vm != nil {
		vm.Interrupt(s.stopped.Load())
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// hangUp stops the program because the connection is closed and the result cannot be sent.
func (s *signals) hangUp() { s.interrupt(runtimes.Interrupted, "") }

func (s *signals) reply(answer frames.Answer) {
	select {
	case s.replies <- answer:
	default: // discards a reply if no call waits for one
	}
}

// newVM creates a VM with the settings that are the same for every program. bind adds the limits of a job.
func newVM() *goja.Runtime {
	vm := goja.New()
	// Goja would otherwise search for source map files when the program calls eval.
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	return vm
}

// carryOut executes the job and returns its result.
func (r *run) carryOut() frames.Result {
	if r.program.code == nil {
		return frames.Result{Error: bundle.Failure(r.program.problems)}
	}
	vm := r.ready
	if vm == nil {
		vm = r.worker.vm()
		r.bind(vm)
	}
	r.enter(vm)
	defer r.watch()()

	value, err := r.execute(vm)
	if err != nil {
		return frames.Result{Error: r.failure(err)}
	}
	output, err := r.encode(vm, value)
	if err != nil {
		return frames.Result{Error: r.failure(err)}
	}
	return frames.Result{Output: output}
}

// bind connects a VM to the run.
func (r *run) bind(vm *goja.Runtime) {
	vm.SetMaxCallStackSize(int(min(r.job.Limits.RecursionDepth, 1<<20)))
	vm.SetPromiseRejectionTracker(r.loop.track)
}

// enter sets the VM that an interrupt of the run stops.
func (r *run) enter(vm *goja.Runtime) {
	r.vm.Store(vm)
	if why := r.stopped.Load(); why != nil { // the run was interrupted before it had a VM
		vm.Interrupt(why)
	}
}

// execute loads the program if it is not loaded yet, calls its entry and returns the result.
func (r *run) execute(vm *goja.Runtime) (goja.Value, error) {
	if r.loaded == nil {
		if err := r.loadObserved(vm); err != nil {
			return nil, err
		}
	}
	entry, exports := r.loaded.entry, r.loaded.exports
	input, err := r.input(vm)
	if err != nil {
		return nil, err
	}
	if input, err = r.parse(vm, exports, "input", input); err != nil {
		return nil, err
	}
	result, err := entry(goja.Undefined(), input, r.context(vm))
	if err != nil {
		return nil, err
	}
	if result, err = r.loop.settle(vm, result); err != nil {
		return nil, err
	}
	return r.parse(vm, exports, "output", result)
}

func (r *run) input(vm *goja.Runtime) (goja.Value, error) {
	if len(r.job.Input) == 0 {
		return goja.Null(), nil
	}
	decoder := decoder{vm: vm, text: r.job.Input, exact: r.keep}
	input, err := decoder.decode()
	if err != nil {
		return nil, fmt.Errorf("input: %w", err) // cannot fail, because the server has already checked the input
	}
	if len(r.exact) > 0 {
		r.installExact(vm)
	}
	return input, nil
}

// evaluate runs the modules and returns the entry and the exports. The entry is the default export, else an exported
// main, else a top-level main.
func (r *run) evaluate(vm *goja.Runtime) (*module, error) {
	wrapper, err := vm.RunProgram(r.program.code)
	if err != nil {
		return nil, err
	}
	start, ok := goja.AssertFunction(wrapper)
	if !ok {
		return nil, fmt.Errorf("the program is %s, not a function", wrapper)
	}
	var main goja.Value
	hook := func(call goja.FunctionCall) goja.Value {
		main = call.Argument(0)
		return goja.Undefined()
	}
	exports, err := start(goja.Undefined(), vm.ToValue(r.require), vm.ToValue(hook))
	if err != nil {
		return nil, err
	}
	var entry goja.Callable
	var kind string
	if err := guarded(vm, func() { entry, kind = find(exports, main) }); err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, noEntry(r.job.Entrypoint, kind)
	}
	return &module{entry, exports}, nil
}

// find returns the entry among the exports. If the default export is not a function, find returns its kind.
func find(exports, main goja.Value) (entry goja.Callable, kind string) {
	var candidates []goja.Value
	if object, ok := exports.(*goja.Object); ok {
		fallback := object.Get("default")
		if fallback != nil && !goja.IsUndefined(fallback) {
			kind = typeOf(fallback)
		}
		candidates = append(candidates, fallback, object.Get("main"))
		// the forms export default { main } and CommonJS, where module.exports is the default
		if inner, ok := fallback.(*goja.Object); ok && kindOf(inner) != functionObject {
			candidates = append(candidates, inner.Get("default"), inner.Get("main"))
			if len(inner.Keys()) == 0 {
				kind = ""
			}
		}
	}
	for _, candidate := range append(candidates, main) {
		if entry, ok := goja.AssertFunction(candidate); ok {
			return entry, ""
		}
	}
	return nil, kind
}

func typeOf(v goja.Value) string {
	switch {
	case goja.IsNull(v):
		return "null"
	case goja.IsNumber(v):
		return "a number"
	case goja.IsString(v):
		return "a string"
	case goja.IsBigInt(v):
		return "a bigint"
	}
	if _, ok := v.(*goja.Object); ok {
		return "an object"
	}
	return "a " + v.ExportType().String()
}

// entryError is the error for a program without an entry function.
type entryError struct{ file, message string }

func (e *entryError) Error() string { return e.message }

func noEntry(file, kind string) error {
	message := "The program has no entry point: " + EntryAdvice
	if kind != "" {
		message = "The default export is " + kind + ", not a function: " + EntryAdvice
	}
	return &entryError{file: file, message: message}
}

// EntryAdvice describes the valid forms of an entry.
const EntryAdvice = "export a default function, export a function main, or declare function main(input, ctx)."

// require throws an error for a computed name in require or import. The bundler has already replaced imports with a
// literal name.
func (r *run) require(call goja.FunctionCall) goja.Value {
	vm, name := r.vm.Load(), call.Argument(0).String()
	if r.job.Restricted {
		r.refuse(vm, runtimes.RuleModules, fmt.Sprintf("This program is not allowed to import the module %.100q.", name), "Use the standard objects of the language, or a file of the agent.")
	}
	panic(throw(vm, "Error", bundle.Refusal(r.program.files, name)))
}

// throw creates an error of a JavaScript class. A Go function that the program calls panics with it.
func throw(vm *goja.Runtime, class, message string) goja.Value {
	constructor, ok := vm.GlobalObject().Get(class).(*goja.Object)
	if !ok {
		return vm.ToValue(class + ": " + message)
	}
	object, err := vm.New(constructor, vm.ToValue(message))
	if err != nil {
		return vm.ToValue(class + ": " + message)
	}
	return object
}

func (r *run) context(vm *goja.Runtime) goja.Value {
	ctx := vm.NewObject()
	env := vm.NewObject()
	for name, value := range r.job.Environment {
		_ = env.DefineDataProperty(name, vm.ToValue(value), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	_ = ctx.Set("env", env)
	_ = ctx.Set("log", r.log)
	_ = ctx.Set("progress", r.progress)
	_ = ctx.Set("call", func(call goja.FunctionCall) goja.Value {
		return r.call(vm, call.Argument(0).String(), call.Argument(1))
	})
	_ = ctx.Set("callTool", func(call goja.FunctionCall) goja.Value { return r.callTool(vm, call.Argument(0), call.Argument(1)) })
	r.askLLM(vm, ctx)
	r.fileFunctions(vm, ctx)
	return ctx
}

// log implements ctx.log(level, message, fields). ctx.log(message) has the level info.
func (r *run) log(call goja.FunctionCall) goja.Value {
	vm := r.vm.Load()
	level, message, fields := call.Argument(0).String(), call.Argument(1), call.Argument(2)
	if len(call.Arguments) == 1 {
		level, message = "info", call.Argument(0)
	}
	switch level {
	case "debug", "info", "warn", "error":
	case "warning":
		level = "warn"
	default:
		panic(vm.NewTypeError("log level %q must be debug, info, warn or error", level))
	}
	args := vm.NewObject()
	_ = args.Set("level", level)
	if goja.IsString(message) {
		_ = args.Set("message", message)
	} else {
		_ = args.Set("message", r.inspect(vm, message))
	}
	if !goja.IsUndefined(fields) && !goja.IsNull(fields) {
		_ = args.Set("fields", fields)
	}
	return r.call(vm, "log", args)
}

// progress implements ctx.progress(done, total, message).
func (r *run) progress(call goja.FunctionCall) goja.Value {
	vm := r.vm.Load()
	args := vm.NewObject()
	_ = args.Set("done", call.Argument(0).ToFloat())
	total := call.Argument(1)
	if goja.IsUndefined(total) || goja.IsNull(total) {
		total = vm.ToValue(0)
	}
	_ = args.Set("total", total.ToFloat())
	if message := call.Argument(2); !goja.IsUndefined(message) {
		_ = args.Set("message", message.String())
	}
	return r.call(vm, "progress", args)
}

// maxCall is the maximum size of a host call's arguments in bytes. The server has the same limit.
const maxCall = 1 << 20

// call sends a host call and waits for its reply. Before that, it sends all pending output of the program.
func (r *run) call(vm *goja.Runtime, name string, arguments goja.Value) goja.Value {
	if name == "" || len(name) > maxCallName {
		panic(vm.NewTypeError("the name of a host function must have 1 to %d bytes", maxCallName))
	}
	encoder := encoder{vm: vm, exact: r.exact, limit: maxCall, root: name}
	args, err := encoder.encode(arguments)
	if err != nil {
		panic(throw(vm, "TypeError", err.Error()))
	}
	r.taint()
	r.output.Flush()
	r.calls++
	if err := r.worker.out.WriteJSON(frames.CallReq, frames.Call{ID: r.calls, Name: name, Args: args}); err != nil {
		panic(throw(vm, "Error", "The host call could not be sent."))
	}
	for {
		select {
		case answer := <-r.replies:
			if answer.ID != r.calls {
				continue
			}
			return r.answer(vm, answer)
		case <-r.wake:
			panic(throw(vm, "Error", "The run was stopped.")) // the VM stops at the next instruction; the program cannot catch that
		}
	}
}

func (r *run) answer(vm *goja.Runtime, answer frames.Answer) goja.Value {
	if answer.Error != nil {
		e := throw(vm, "Error", answer.Error.Message)
		if object, ok := e.(*goja.Object); ok {
			_ = object.Set("code", answer.Error.Code)
			if answer.Error.Tool != nil {
				_ = object.Set("tool", toolFailure(vm, *answer.Error.Tool))
			}
			if answer.Error.Code == string(runtimes.Denied) {
				r.noteDenied(object, answer.Error)
			}
		}
		panic(e)
	}
	if len(answer.Result) == 0 || string(answer.Result) == "null" {
		return goja.Undefined()
	}
	decoder := decoder{vm: vm, text: answer.Result, exact: r.keep}
	value, err := decoder.decode()
	if err != nil {
		panic(throw(vm, "Error", "The host's answer is malformed."))
	}
	if len(r.exact) > 0 {
		r.installExact(vm)
	}
	return value
}

// encode writes the result of the entry as JSON. This may run code of the program: getters, proxies and toJSON.
func (r *run) encode(vm *goja.Runtime, value goja.Value) (json.RawMessage, error) {
	encoder := encoder{vm: vm, exact: r.exact, limit: int(r.job.Limits.OutputBytes), root: "output"}
	var output []byte
	var problem error
	if err := guarded(vm, func() { output, problem = encoder.encode(value) }); err != nil {
		return nil, err
	}
	return output, problem
}
