package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// capability is an effect that a program can have beyond computing. words is a text that describes the effect and
// begins with a verb.
type capability struct {
	kind, name, words string
	file              string
	line              int
}

// powerful reports whether a module gives a program capabilities beyond computing.
func powerful(language runtimes.Language, module string) bool {
	var roots []string
	switch language {
	case runtimes.Python:
		roots = strings.Fields(`ctypes _ctypes cffi mmap socket socketserver ssl http.client http.server urllib.request urllib3 requests httpx aiohttp ftplib smtplib imaplib poplib telnetlib
			xmlrpc subprocess _posixsubprocess multiprocessing pty importlib imp runpy pickle _pickle marshal shelve dill code codeop gc signal resource fcntl sys.settrace`)
	case runtimes.JavaScript, runtimes.TypeScript:
		roots = strings.Fields(`child_process cluster worker_threads vm net tls http https http2 dgram dns fs fs/promises inspector module v8 wasi process`)
	case runtimes.WASM:
		return !strings.HasPrefix(module, "wasi_snapshot_preview1.")
	case runtimes.Bash:
		return true // In Bash, a module is another script.
	}
	return slices.ContainsFunc(roots, func(root string) bool { return module == root || strings.HasPrefix(module, root+".") })
}

// strongPrograms lists the programs whose start in a Bash script counts as a capability. Other programs only compute.
func strongPrograms() []string {
	return strings.Fields("curl wget nc ncat netcat socat ssh scp sftp ftp telnet rsync sudo su doas docker podman kubectl python python3 perl ruby node php mount umount chroot nsenter unshare systemctl crontab at iptables dd mkfs gdb strace")
}

// capabilities lists the capabilities of a program. It uses the program's settings and the facts about its code.
func capabilities(spec registry.Spec, facts []runtimes.Fact) []capability {
	var all []capability
	add := func(kind, name, words string, at *runtimes.Fact) {
		if slices.ContainsFunc(all, func(c capability) bool { return c.kind == kind && c.name == name }) {
			return
		}
		c := capability{kind: kind, name: name, words: words}
		if at != nil {
			c.file, c.line = at.File, at.Line
		}
		all = append(all, c)
	}
	place := func(kind runtimes.FactKind, name string) *runtimes.Fact {
		at := slices.IndexFunc(facts, func(f runtimes.Fact) bool { return f.Kind == kind && f.Name == name })
		if at < 0 {
			return nil
		}
		return &facts[at]
	}
	for _, host := range spec.Capabilities.Hosts {
		add("host", host, "reaches "+host, place(runtimes.HostFact, host))
	}
	for _, name := range spec.Capabilities.HostFunctions {
		add("hostFunction", name, "calls the host function "+name, place(runtimes.FunctionFact, name))
	}
	for _, name := range spec.Secrets {
		add("secret", name, "reads the secret "+name, place(runtimes.EnvironmentFact, name))
	}
	for _, tool := range spec.Capabilities.Tools {
		add("tool", tool, "calls the agent "+tool, callOf(tool, facts))
	}
	if files := spec.Capabilities.Files; files != nil {
		add("files", files.Project, "reads the files of the project "+files.Project, nil)
		if files.Write {
			add("write", files.Project, "proposes changes of the project "+files.Project, nil)
		}
	}
	if spec.Capabilities.Subprocess {
		add("subprocess", "subprocess", "may start processes", nil)
	}
	for n := range facts {
		f := &facts[n]
		switch f.Kind {
		case runtimes.SubprocessFact:
			if spec.Language != runtimes.Bash {
				add("processes", "processes", "starts processes", f)
			} else if slices.Contains(strongPrograms(), f.Name) {
				add("processes", f.Name, "starts "+f.Name, f)
			}
		case runtimes.ImportFact:
			for _, module := range modules(*f) {
				if powerful(spec.Language, module) {
					add("import", module, "imports "+module, f)
				}
			}
		case runtimes.DynamicFact:
			add("dynamic", "dynamic", "runs code that is chosen at run time", f)
		case runtimes.EnvironmentFact:
			if f.Name == "*" {
				add("environment", "*", "reads its whole environment", f)
			}
		default:
		}
	}
	return all
}

// callOf returns the first fact that is a call of another agent, or nil if there is none.
func callOf(tool string, facts []runtimes.Fact) *runtimes.Fact {
	names := func(text string) bool {
		_, ok := specs.ToolOf([]string{tool}, text)
		return ok
	}
	for n := range facts {
		f := &facts[n]
		if f.Kind != runtimes.CallFact {
			continue
		}
		stub, isStub := strings.CutPrefix(f.Name, "agents.")
		called := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
		switch {
		case isStub && names(stub),
			(called == "callTool" || called == "call_tool") && names(f.With["0"]),
			called == "atelier" && f.With["0"] == "call" && names(f.With["1"]):
			return f
		}
	}
	return nil
}

// modules returns the modules that an import may load. For example, "from urllib import request" may load
// urllib.request.
func modules(f runtimes.Fact) []string {
	all := []string{f.Name}
	for name := range f.With {
		all = append(all, f.Name+"."+name)
	}
	slices.Sort(all)
	return all
}

// newCapabilities lists the capabilities of a program that the earlier program did not have.
func newCapabilities(is, was []capability) []registry.CapabilityChange {
	changes := []registry.CapabilityChange{}
	for _, c := range is {
		if slices.ContainsFunc(was, func(o capability) bool { return o.kind == c.kind && o.name == c.name }) {
			continue
		}
		message := "newly " + c.words
		if c.file != "" {
			message += fmt.Sprintf(" (%s:%d)", c.file, c.line)
		}
		changes = append(changes, registry.CapabilityChange{Kind: c.kind, Name: c.name, File: c.file, Line: c.line, Message: message})
	}
	return changes
}
