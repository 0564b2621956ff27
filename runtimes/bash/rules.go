package bash

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// deniedBy is the start of the error message that the rule pack "restricted" prints in place of a forbidden command.
// The name of the rule follows.
const deniedBy = "atelier: denied: " + runtimes.Restricted + "/"

// removals returns shell functions for the prelude. Each function replaces a command that the rule pack "restricted"
// forbids, and ends the script with a message that names the rule. A script can bypass these functions; only the
// sandbox is a security boundary.
func removals(job runtimes.Job) []byte {
	if job.Rules == nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("[[ -v __atelier_tag ]] || {\n")
	deny := func(rule, name string) string {
		return fmt.Sprintf("builtin echo 'atelier: denied: %s: %s is not available to this program.' >&2; builtin exit 1", rule, name)
	}
	fmt.Fprintf(&b, "eval() { %s; }\n", deny(runtimes.RuleDynamic, "eval"))
	for _, shell := range []string{"bash", "sh", "dash"} {
		fmt.Fprintf(&b, "%s() { [[ ! ${1-} =~ ^-[a-z]*c ]] || { %s; }; builtin command %s \"$@\"; }\n", shell, deny(runtimes.RuleDynamic, shell+" -c"), shell)
	}
	for _, name := range runtimes.RestrictedCommands() {
		fmt.Fprintf(&b, "%s() { %s; }\n", name, deny(runtimes.RuleCommands, name))
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// applyRule stores the violated rule in the error of a script that called a forbidden command. last is the last line of
// stderr.
func applyRule(e *runtimes.ProgramError, last string) {
	rule, _, found := strings.Cut(strings.TrimPrefix(last, "atelier: denied: "), ": ")
	if !found {
		return
	}
	e.Rule, e.Remedy = rule, "Take data from the input and return it as output."
	if rule == runtimes.RuleDynamic {
		e.Remedy = "Write the code as functions, and choose among them."
	}
}
