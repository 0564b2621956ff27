package runtimes

// Restricted is the rule pack that allows only listed imports and forbids running code from strings, such as eval.
const Restricted = "restricted"

// Rules restrict a program's use of its language. The server checks the source against them before a run and enforces
// them during the run. They are no security boundary: the jail is.
type Rules struct {
	Pack    string   `json:"pack"`              // Restricted
	Imports []string `json:"imports,omitempty"` // modules that a Python program may import; empty means the list of the pack
}

// Rules of the pack Restricted that are enforced while programs in JavaScript and Bash run. Package runtimes/python/rules
// has the rules for Python.
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
