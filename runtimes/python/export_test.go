package python

import "github.com/atelier-run/atelier/runtimes"

// KeepCode caches code that another interpreter compiled from a job's entry file.
func (e *Engine) KeepCode(job runtimes.Job, code []byte) {
	key, _ := codeKey(job)
	e.codes.Put(key, code, len(code))
}
