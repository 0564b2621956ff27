package doctor

import "github.com/atelier-run/atelier/runtimes"

// These helpers apply the checks to simulated results, so that tests can show that each check can fail.
var (
	Judge         = judge
	JudgeView     = judgeView
	ParseView     = parseView
	JudgeGlobals  = judgeGlobals
	JudgeSearch   = judgeSearch
	JudgeIdentity = judgeIdentity
	JudgeRemains  = judgeRemains
	JudgeSpeed    = judgeSpeed
	JudgeTenants  = judgeTenants
	Sightings     = sightings
)

type (
	Found    = found
	Sighting = sighting
)

// NewFound returns the result of canaries: the planted secrets and a number of connections.
func NewFound(secrets map[string]string, visits int64) Found { return found{secrets, visits} }

// NewSighting returns a process as seen from the host.
func NewSighting(pid int, status string, groups ...string) Sighting {
	return sighting{pid: pid, status: status, groups: groups}
}

// PID returns the process ID.
func (s sighting) PID() int { return s.pid }

// JudgeLimitNamed returns the check for a run that should reach the limit with a name.
func JudgeLimitNamed(name string, t Trial) Check {
	for _, l := range theLimits() {
		if l.name == name {
			limits := defaultLimits()
			if l.edit != nil {
				l.edit(&limits)
			}
			return judgeLimit(l, limits, t.trial())
		}
	}
	panic("no limit " + name)
}

// JudgeCrash returns the check for a run that should crash.
func JudgeCrash(t Trial, next string) Check { return judgeCrash("a crash", t.trial(), next) }

// JudgeErrnos returns the check for results of the dangerous calls and the control calls.
func JudgeErrnos(answer func(name string, control bool) int) Check {
	dangerous := dangerousCalls()
	all := append(dangerous, controlCalls("program")...)
	errnos := make([]int, len(all))
	for i, c := range all {
		errnos[i] = answer(c.name, i >= len(dangerous))
		if errnos[i] < 0 {
			errnos[i] = int(c.want[0])
		}
	}
	return judgeCalls("calls", "", all, errnos)
}

// Trial is a simulated run.
type Trial struct {
	Outcome runtimes.Outcome
	Err     error
	Stderr  string
}

func (t Trial) trial() trial { return trial{outcome: t.Outcome, err: t.Err, stderr: t.Stderr} }

func defaultLimits() runtimes.Limits {
	l := runtimes.DefaultLimits()
	l.TimeoutMs = programTimeout.Milliseconds()
	return l
}

// Trialled returns a successful run, or a run with an error of the server.
func Trialled(err error) trial { return trial{err: err} }
