package python

import "github.com/atelier-run/atelier/runtimes"

// KeepCode stores code for a job's entry file in the cache, as if an interpreter had compiled it.
func (e *Engine) KeepCode(job runtimes.Job, code []byte) {
	key, _ := codeKey(job)
	e.codes.Put(key, code, len(code))
}
