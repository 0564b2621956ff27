package script_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/script"
)

func programs() runtimetest.Programs {
	return runtimetest.Programs{
		Language: runtimes.JavaScript, Runtime: runtimes.Script, Entrypoint: "main.txt",
		Hello:       "print hello Ada\noutput {\"greeting\":\"Hello, Ada\"}\n",
		Echo:        "echo\n",
		Order:       "print one\nlog info two {\"n\":2}\nprint three\nprogress 1 2 half\nprint four\n",
		Stderr:      "print fine\nstderr oops\n",
		Env:         "environment\n",
		Unicode:     "print grüß 世界 🎉\noutput {\"text\":\"grüß 世界 🎉\"}\n",
		Invalid:     "output {\"items\":[1,NaN]}\n",
		InvalidPath: "output",
		Fail:        "# a comment\n\nfail runtime_error boom\n",
		FailLine:    3,
		Syntax:      "print fine\nprnt x\n",
		SyntaxLine:  2,
		Forever:     "print started\nwait\n",
		Flood:       "flood 0123456789\n",
		BigResult:   "output-size 2000000\n",
		State:       "output false\n",
		Lib:         map[string]string{"lib/answer.txt": "output {\"answer\":42}\n"},
		Multi:       "include lib/answer.txt\n",
		Denied:      "call nope {\"path\":\"x\"}\n",
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, script.New(), programs())
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source string
		want   runtimes.ErrorType
	}{
		"includes itself":    {"include main.txt", runtimes.RecursionLimit},
		"includes nothing":   {"include nope.txt", runtimes.RuntimeError},
		"asleep too long":    {"sleep 1h", runtimes.Timeout},
		"sleeps in no unit":  {"sleep 5", runtimes.SyntaxError},
		"progress in words":  {"progress some", runtimes.SyntaxError},
		"call with nonsense": {"call log {", runtimes.SyntaxError},
		"any type of error":  {"fail disk_limit", runtimes.DiskLimit},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, _ := runtimetest.Run(t, script.New(), programs().Job(tt.source, func(j *runtimes.Job) { j.Limits.TimeoutMs = 50 }))
			if outcome.Error == nil || outcome.Error.Type != tt.want {
				t.Errorf("%+v, want %s", outcome.Error, tt.want)
			}
		})
	}
}

func TestServerFails(t *testing.T) {
	t.Parallel()
	_, err := script.New().Run(t.Context(), programs().Job("print x\nserver-fail\n"), runtimetest.NewHost())
	if !fault.Is(err, fault.Internal) {
		t.Errorf("error %v", err)
	}
}
