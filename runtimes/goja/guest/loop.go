package guest

import (
	"container/heap"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// loop is the event loop of a run. It handles timers and unhandled promise rejections. The VM itself runs microtasks
// whenever the outermost call returns.
//
// A run ends when the promise of main has settled. Pending timers and promises are dropped then. (The node command
// would wait for them, but then a run whose result is complete would appear to hang.) If a promise is rejected and has
// no handler by the next turn, the run fails, as in Node.
type loop struct {
	run       *run
	timers    timers
	byID      map[int64]*timer
	ids       int64
	unhandled []*goja.Promise
	main      *goja.Promise
}

type timer struct {
	id    int64
	at    time.Time
	every time.Duration // interval; 0 if the timer fires once
	call  goja.Callable
	args  []goja.Value
	index int // index in the heap, -1 if not in it
}

// errDeadlock reports that main waits for an event that can no longer happen.
var errDeadlock = errors.New("main returned a promise that can never settle: no timer or host call is pending")

func newLoop(r *run) *loop { return &loop{run: r, byID: map[int64]*timer{}} }

// settle waits until the result of main is available.
func (l *loop) settle(vm *goja.Runtime, value goja.Value) (goja.Value, error) {
	promise, err := l.promise(vm, value)
	if err != nil {
		return nil, err
	}
	l.main = promise
	for {
		if err := l.rejection(); err != nil {
			return nil, err
		}
		if promise == nil {
			return value, nil
		}
		switch promise.State() {
		case goja.PromiseStateFulfilled:
			return promise.Result(), nil
		case goja.PromiseStateRejected:
			return nil, &rejected{value: promise.Result()}
		case goja.PromiseStatePending:
		}
		if len(l.timers) == 0 {
			return nil, errDeadlock
		}
		if err := l.turn(); err != nil {
			return nil, err
		}
	}
}

// promise returns the promise of a value: the value itself if it is a promise, or a new promise that follows a
// thenable. For other values it returns nil.
func (l *loop) promise(vm *goja.Runtime, value goja.Value) (*goja.Promise, error) {
	object, ok := value.(*goja.Object)
	if !ok {
		return nil, nil
	}
	if kindOf(object) == promiseObject {
		promise, _ := object.Export().(*goja.Promise)
		return promise, nil
	}
	var then goja.Callable
	if err := guarded(vm, func() { then, _ = goja.AssertFunction(object.Get("then")) }); err != nil {
		return nil, err
	}
	if then == nil {
		return nil, nil
	}
	promise, resolve, reject := vm.NewPromise()
	settle := func(with func(any) error) goja.Value {
		return vm.ToValue(func(call goja.FunctionCall) goja.Value {
			_ = with(call.Argument(0))
			return goja.Undefined()
		})
	}
	if _, err := then(object, settle(resolve), settle(reject)); err != nil {
		return nil, err
	}
	return promise, nil
}

// turn waits for the next timer and calls its callback.
func (l *loop) turn() error {
	next := l.timers[0]
	if wait := time.Until(next.at); wait > 0 {
		l.run.output.Flush()
		alarm := time.NewTimer(wait)
		defer alarm.Stop()
		select {
		case <-alarm.C:
		case <-l.run.wake:
			return l.run.stopped.Load()
		}
	}
	if next.every > 0 {
		next.at = time.Now().Add(next.every)
		heap.Fix(&l.timers, 0)
	} else {
		heap.Pop(&l.timers)
		delete(l.byID, next.id)
	}
	_, err := next.call(goja.Undefined(), next.args...)
	return err
}

// rejected is a rejected promise: the promise of main, or a promise without a handler.
type rejected struct {
	value  goja.Value
	orphan bool
}

func (r *rejected) Error() string { return "a promise was rejected" }

func (l *loop) rejection() error {
	for _, promise := range l.unhandled {
		if promise != l.main {
			return &rejected{value: promise.Result(), orphan: true}
		}
	}
	l.unhandled = l.unhandled[:0]
	return nil
}

// track is called by the VM when a promise is rejected without a handler, and when such a promise gets a handler later.
func (l *loop) track(promise *goja.Promise, operation goja.PromiseRejectionOperation) {
	switch operation {
	case goja.PromiseRejectionReject:
		l.unhandled = append(l.unhandled, promise)
	case goja.PromiseRejectionHandle:
		l.unhandled = slices.DeleteFunc(l.unhandled, func(p *goja.Promise) bool { return p == promise })
	}
}

// set implements setTimeout, setInterval and setImmediate.
func (l *loop) set(vm *goja.Runtime, call goja.FunctionCall, repeat, immediate bool) goja.Value {
	callback, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		panic(vm.NewTypeError("The callback of a timer is not a function"))
	}
	l.run.taint()
	l.ids++
	t := &timer{id: l.ids, call: callback}
	rest := 1
	if !immediate {
		rest = 2
		delay := delay(call.Argument(1))
		t.at = time.Now().Add(delay)
		if repeat {
			t.every = delay
		}
	}
	if len(call.Arguments) > rest {
		t.args = slices.Clone(call.Arguments[rest:])
	}
	heap.Push(&l.timers, t)
	l.byID[t.id] = t
	return vm.ToValue(t.id)
}

// delay reads milliseconds as Node does: at least 1, and 1 for invalid values.
func delay(v goja.Value) time.Duration {
	ms := v.ToFloat()
	if math.IsNaN(ms) || ms < 1 || ms > math.MaxInt32 {
		ms = 1
	}
	return time.Duration(math.Trunc(ms)) * time.Millisecond
}

// clear implements clearTimeout, clearInterval and clearImmediate. It accepts unknown IDs.
func (l *loop) clear(call goja.FunctionCall) goja.Value {
	if id := call.Argument(0); goja.IsNumber(id) {
		if t, ok := l.byID[id.ToInteger()]; ok {
			heap.Remove(&l.timers, t.index)
			delete(l.byID, t.id)
		}
	}
	return goja.Undefined()
}

// timers is a heap ordered by due time. Timers that are due at the same time keep the order in which they were set.
type timers []*timer

func (t timers) Len() int { return len(t) }

func (t timers) Less(i, j int) bool {
	if t[i].at.Equal(t[j].at) {
		return t[i].id < t[j].id
	}
	return t[i].at.Before(t[j].at)
}

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

func (t *timers) Push(x any) {
	added := x.(*timer)
	added.index = len(*t)
	*t = append(*t, added)
}

func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	(*t)[len(*t)-1] = nil
	*t = (*t)[:len(*t)-1]
	last.index = -1
	return last
}
