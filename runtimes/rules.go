package runtimes

// Restricted is the rule pack that allows only listed imports and forbids running code from strings, such as eval.
const Restricted = "restricted"

// Rules restrict how a program may use its language. The server checks the source against them before a run and
// enforces them during the run. They are not a security boundary; the jail is.
type Rules struct {
	Pack string `json:"pack"` // Restricted
	// Modules that a Python program may import; if empty, the list of the rule pack applies.
	Imports []string `json:"imports,omitempty"`
}

// Rules of the pack Restricted that are enforced during runs of programs in JavaScript and Bash. The rules for Python
// are in package runtimes/python/rules.
const (
	RuleModules  = Restricted + "/node-import"
	RuleCode     = Restricted + "/node-code"
	RuleDynamic  = Restricted + "/dynamic"
	RuleCommands = Restricted + "/shell-network"
)

// RestrictedModules lists the Node modules that a restricted program may import.
func RestrictedModules() []string {
	return []string{"agents", "assert", "buffer", "events", "path", "punycode", "querystring", "string_decoder", "timers", "url", "util"}
}

// RestrictedCommands lists the commands that a restricted script must not start.
func RestrictedCommands() []string {
	return []string{
		"curl", "wget", "nc", "ncat", "netcat", "socat", "ssh", "scp", "sftp", "ftp", "telnet", "rsync", "sudo", "su", "doas",
	}
}
