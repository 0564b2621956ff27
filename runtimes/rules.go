package runtimes

// Restricted is the rule pack that allows only listed imports and no code made from text.
const Restricted = "restricted"

// Rules restrict a program's use of its language. They are checked before it runs and applied while it runs. They are
// only a convention; the jail confines the program.
type Rules struct {
	Pack    string   `json:"pack"`              // Restricted
	Imports []string `json:"imports,omitempty"` // modules that a Python program may import; empty means those of the pack
}

// Rules of the pack restricted that apply while programs in JavaScript and Bash run. Those of Python are in the package
// rules of its engine.
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
