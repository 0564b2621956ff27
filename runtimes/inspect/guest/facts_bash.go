package guest

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// bash lists the facts about every script of an agent.
func (c *collector) bash(job Job) []fault.Detail {
	for _, name := range slices.Sorted(maps.Keys(job.Files)) {
		if name != job.Entrypoint && path.Ext(name) != ".sh" && path.Ext(name) != ".bash" {
			continue
		}
		tree, problem := read(name, job.Files[name])
		if problem != nil {
			return []fault.Detail{*problem}
		}
		s := &shellScript{collector: c, file: name, text: job.Files[name], own: map[string]bool{}, values: map[string]string{}}
		s.list(tree)
	}
	return nil
}

// shellScript is one script during its analysis.
type shellScript struct {
	*collector
	file   string
	text   []byte
	own    map[string]bool   // functions and variables that the script defines
	values map[string]string // literal values of the script's variables
}

func (s *shellScript) note(at syntax.Pos, kind runtimes.FactKind, name string, with map[string]string) {
	line, column := position(s.text, at)
	s.add(runtimes.Fact{Kind: kind, Name: name, With: with, File: s.file, Line: max(line, 1), Column: max(column, 1)})
}

// shellBuiltins are the commands of the shell itself, which start no program.
func shellBuiltins() []string {
	return strings.Fields(`. : [ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash
		help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`)
}

// isShell reports whether a program can run a text as code.
func isShell(name string) bool {
	return slices.Contains(strings.Fields("sh bash dash zsh ksh ash fish python python3 perl ruby node php"), path.Base(name))
}

func (s *shellScript) list(tree *syntax.File) {
	syntax.Walk(tree, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			s.own[n.Name.Value] = true
		case *syntax.Assign:
			if n.Name != nil {
				s.own[n.Name.Value] = true
				if n.Value != nil {
					if value, ok := s.word(n.Value); ok {
						s.values[n.Name.Value] = value
					}
				}
			}
		case *syntax.ForClause:
			if loop, ok := n.Loop.(*syntax.WordIter); ok {
				s.own[loop.Name.Value] = true
			}
		case *syntax.CallExpr:
			s.reads(n)
		case *syntax.DeclClause:
			for _, a := range n.Args {
				if a.Name != nil {
					s.own[a.Name.Value] = true
				}
			}
		}
		return true
	})
	syntax.Walk(tree, func(node syntax.Node) bool {
		s.look(node)
		return true
	})
}

// reads records the variables that read, mapfile and similar commands set.
func (s *shellScript) reads(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	name, _ := s.word(n.Args[0])
	if !slices.Contains([]string{"read", "mapfile", "readarray", "getopts", "printf", "local", "export"}, name) {
		return
	}
	for _, arg := range n.Args[1:] {
		if text, ok := s.word(arg); ok {
			s.own[text] = true
		}
	}
}

// word returns the value of a word if it is known without running the script. It replaces variables that have a literal
// value.
func (s *shellScript) word(w *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range w.Parts {
		value, ok := s.part(part)
		if !ok {
			return text.String(), false
		}
		text.WriteString(value)
	}
	return text.String(), true
}

func (s *shellScript) part(part syntax.WordPart) (string, bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return strings.ReplaceAll(p.Value, `\`, ""), true
	case *syntax.SglQuoted:
		return p.Value, true
	case *syntax.DblQuoted:
		var text strings.Builder
		for _, inner := range p.Parts {
			value, ok := s.part(inner)
			if !ok {
				return text.String(), false
			}
			text.WriteString(value)
		}
		return text.String(), true
	case *syntax.ParamExp:
		if value, known := s.values[p.Param.Value]; known && p.Exp == nil && p.Index == nil && p.Repl == nil && p.Slice == nil {
			return value, true
		}
	}
	return "", false
}

func (s *shellScript) look(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.CallExpr:
		s.call(n)
	case *syntax.BinaryCmd:
		s.pipe(n)
	case *syntax.ParamExp:
		s.variable(n)
	case *syntax.WhileClause:
		s.loop(n)
	case *syntax.Assign:
		s.assign(n)
	case *syntax.Redirect:
		s.redirect(n)
	case *syntax.Lit:
		s.string(n.Pos(), n.Value)
	case *syntax.SglQuoted:
		s.string(n.Pos(), n.Value)
	}
}

func (s *shellScript) string(at syntax.Pos, value string) {
	for _, host := range hosts(value) {
		s.note(at, runtimes.HostFact, host, nil)
	}
	if value == "0.0.0.0" {
		s.note(at, runtimes.AddressFact, value, nil)
	}
}

func (s *shellScript) assign(n *syntax.Assign) {
	if n.Name == nil || n.Value == nil {
		return
	}
	if value, ok := s.word(n.Value); ok && isSecret(n.Name.Value, value) {
		s.note(n.Pos(), runtimes.LiteralFact, n.Name.Value, nil)
	}
}

var (
	device   = regexp.MustCompile(`^/dev/(tcp|udp)/([^/]+)/(\d+)`)
	variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

func (s *shellScript) redirect(n *syntax.Redirect) {
	if n.Word == nil {
		return
	}
	target, _ := s.word(n.Word)
	if m := device.FindStringSubmatch(target); m != nil {
		s.note(n.Word.Pos(), runtimes.HostFact, m[2]+":"+m[3], nil)
		s.note(n.Word.Pos(), runtimes.CallFact, "/dev/"+m[1], map[string]string{"0": target})
	} else if strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
		s.note(n.Word.Pos(), runtimes.CallFact, target[:8], map[string]string{"0": "?"})
	}
}

// variable adds a fact if the script reads the environment. It assumes this for a variable in capital letters that the
// script does not set.
func (s *shellScript) variable(n *syntax.ParamExp) {
	name := n.Param.Value
	if !variable.MatchString(name) || s.own[name] || slices.Contains(strings.Fields("INPUT INPUT_FILE OUTPUT PATH HOME PWD OLDPWD IFS RANDOM SECONDS LINENO BASH BASHPID BASH_SOURCE BASH_REMATCH BASH_VERSION BASH_VERSINFO FUNCNAME PIPESTATUS OPTARG OPTIND PPID UID EUID HOSTNAME SHELL TMPDIR LANG REPLY EPOCHSECONDS EPOCHREALTIME COLUMNS LINES DIRSTACK GROUPS _"), name) {
		return
	}
	s.note(n.Pos(), runtimes.EnvironmentFact, name, nil)
}

func (s *shellScript) arguments(args []*syntax.Word) map[string]string {
	with := map[string]string{}
	for at, arg := range args[:min(len(args), 16)] {
		text, ok := s.word(arg)
		if !ok {
			text += "?"
		}
		with[strconv.Itoa(at)] = short(text)
		if name, value, is := strings.Cut(text, "="); is && strings.HasPrefix(name, "--") {
			with[name] = short(value)
		} else if strings.HasPrefix(text, "-") {
			with[text] = ""
			for _, letter := range strings.TrimLeft(text, "-") {
				if !strings.HasPrefix(text, "--") {
					with["-"+string(letter)] = ""
				}
			}
		}
	}
	return with
}

// wrappers are the commands whose arguments are a command that they execute.
func wrappers() []string {
	return strings.Fields("sudo doas env nohup nice time timeout xargs command builtin exec setsid stdbuf chroot")
}

func (s *shellScript) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	s.command(n.Pos(), n.Args)
}

func (s *shellScript) command(at syntax.Pos, args []*syntax.Word) {
	name, known := s.word(args[0])
	if !known || name == "" {
		s.note(at, runtimes.DynamicFact, "a command in a variable", nil)
		return
	}
	if s.own[name] {
		return
	}
	with := s.arguments(args[1:])
	s.note(at, runtimes.CallFact, path.Base(name), with)
	switch base := path.Base(name); {
	case base == "eval":
		s.note(at, runtimes.DynamicFact, "eval", nil)
	case base == "source" || base == ".":
		if len(args) > 1 {
			if file, literal := s.word(args[1]); !literal {
				s.note(at, runtimes.DynamicFact, "source", nil)
			} else {
				s.note(at, runtimes.ImportFact, short(file), nil)
			}
		}
	case isShell(base) && hasCode(with):
		s.note(at, runtimes.DynamicFact, base+" -c", nil)
		s.note(at, runtimes.SubprocessFact, base, nil)
	case slices.Contains(wrappers(), base):
		s.note(at, runtimes.SubprocessFact, base, nil)
		s.wrapped(base, args[1:])
	case !slices.Contains(shellBuiltins(), base):
		s.note(at, runtimes.SubprocessFact, base, nil)
	}
	if slices.Contains(strings.Fields("curl wget nc ncat ssh scp ftp telnet"), path.Base(name)) {
		s.plainHost(args[1:])
	}
}

// hasCode reports whether the arguments of a shell or interpreter contain its program.
func hasCode(with map[string]string) bool {
	for _, flag := range []string{"-c", "-e", "--eval"} {
		if _, is := with[flag]; is {
			return true
		}
	}
	return false
}

// wrapped analyses the command in the arguments of another command, such as sudo.
func (s *shellScript) wrapped(name string, args []*syntax.Word) {
	for at, arg := range args {
		text, _ := s.word(arg)
		if strings.HasPrefix(text, "-") || strings.Contains(text, "=") || name == "timeout" && at == 0 {
			continue
		}
		s.command(arg.Pos(), args[at:])
		return
	}
}

var plain = regexp.MustCompile(`^(?:[\w.-]+@)?((?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::(\d+))?(?:/|$)`)

// plainHost adds facts about hosts that arguments name without a scheme.
func (s *shellScript) plainHost(args []*syntax.Word) {
	for _, arg := range args {
		text, _ := s.word(arg)
		if m := plain.FindStringSubmatch(text); m != nil {
			port := m[2]
			if port == "" {
				port = "80"
			}
			s.note(arg.Pos(), runtimes.HostFact, strings.ToLower(m[1])+":"+port, nil)
		}
	}
}

// pipe adds a fact if a shell executes the output of another command.
func (s *shellScript) pipe(n *syntax.BinaryCmd) {
	if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
		return
	}
	call, ok := n.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	words := call.Args
	name, _ := s.word(words[0])
	for len(words) > 1 && slices.Contains(wrappers(), path.Base(name)) && path.Base(name) != "xargs" {
		words = words[1:]
		name, _ = s.word(words[0])
	}
	if !isShell(name) || hasCode(s.arguments(words[1:])) {
		return
	}
	for _, arg := range words[1:] {
		if text, _ := s.word(arg); text != "" && !strings.HasPrefix(text, "-") {
			return // the argument is a script file, so the shell does not execute its stdin
		}
	}
	s.note(call.Pos(), runtimes.CallFact, "pipe to "+path.Base(name), nil)
	s.note(call.Pos(), runtimes.DynamicFact, "pipe to "+path.Base(name), nil)
}

// loop adds a fact about a loop that neither ends nor pauses.
func (s *shellScript) loop(n *syntax.WhileClause) {
	if len(n.Cond) != 1 {
		return
	}
	condition, ok := n.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(condition.Args) != 1 && len(condition.Args) != 3 {
		return
	}
	name, _ := s.word(condition.Args[0])
	if last := ""; len(condition.Args) == 3 {
		last, _ = s.word(condition.Args[1])
		if name != "[" || last != "1" {
			return
		}
	} else if wanted := map[bool][]string{false: {"true", ":"}, true: {"false"}}[n.Until]; !slices.Contains(wanted, name) {
		return
	}
	leaves := false
	for _, statement := range n.Do {
		syntax.Walk(statement, func(node syntax.Node) bool {
			if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				name, _ := s.word(call.Args[0])
				leaves = leaves || slices.Contains([]string{"break", "return", "exit", "sleep", "read", "wait", "exec"}, name)
			}
			return true
		})
	}
	if !leaves {
		s.note(n.Pos(), runtimes.LoopFact, "endless", nil)
	}
}
