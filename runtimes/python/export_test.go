package python

import "github.com/atelier-run/atelier/runtimes"

// KeepCode keeps what another interpreter compiled a job's entry file to.
func (e *Engine) KeepCode(job runtimes.Job, code []byte) {
	key, _ := codeKey(job)
	e.codes.Put(key, code, len(code))
}
