package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

type manCommand struct {
	Dir string `arg:"" optional:"" help:"Folder to write all pages to. Without it the page of atelier is printed." type:"path"`
	printed
}

// Help returns the text above the flags.
func (*manCommand) Help() string {
	return "The pages contain the same texts as --help. Install them with `atelier man /usr/local/share/man/man1`."
}

func (c *manCommand) run(_ context.Context, p Process) error {
	all := commandsOf(p.grammar)
	if c.Dir == "" || c.Dir == "-" {
		text := mainPage(all)
		if c.JSON {
			return p.encode(map[string]string{"name": "atelier.1", "page": text})
		}
		_, err := fmt.Fprint(p.Stdout, text)
		return err
	}
	pages := map[string]string{"atelier.1": mainPage(all)}
	names := []string{"atelier.1"}
	for _, one := range all {
		name := pageOfCommand(one.Command) + ".1"
		pages[name], names = commandPage(one), append(names, name)
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return c.result(p, names, func() error { return p.say("wrote %d pages to %s", len(names), c.Dir) })
}

func pageOfCommand(command string) string { return "atelier-" + strings.ReplaceAll(command, " ", "-") }

// roff escapes a text for use in a man page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", "", "\n\n", "\n.PP\n").Replace(text)
	all := strings.Split(text, "\n")
	for i, line := range all {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && line != ".PP" {
			all[i] = `\&` + line
		}
	}
	var ascii strings.Builder
	for _, r := range strings.Join(all, "\n") {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&ascii, `\[u%04X]`, r)
		} else {
			ascii.WriteRune(r)
		}
	}
	return ascii.String()
}

func mainPage(all []commandInfo) string {
	var page strings.Builder
	page.WriteString(".TH ATELIER 1\n.SH NAME\natelier \\- a studio for code agents\n.SH SYNOPSIS\n.B atelier\n.I command\n[\\fIflags\\fR]\n.SH DESCRIPTION\n" + roff(description) + "\n.SH COMMANDS\n")
	for _, one := range all {
		fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", roff(one.Command), roff(one.Help))
	}
	page.WriteString(".SH SEE ALSO\nEach command has a page, for example\n.BR atelier\\-run (1).\n")
	return page.String()
}

func commandPage(one commandInfo) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B atelier %s\n[\\fIflags\\fR]\n", roff(strings.ToUpper(pageOfCommand(one.Command))), roff(pageOfCommand(one.Command)), roff(one.Help), roff(one.Command))
	for _, arg := range one.Arguments {
		form := `\fI` + roff(arg.Name) + `\fR`
		if !arg.Required {
			form = "[" + form + "]"
		}
		page.WriteString(form + "\n")
	}
	page.WriteString(".SH DESCRIPTION\n" + roff(or(one.Description, one.Help)) + "\n")
	section := func(title string, all []typeable, dashes string) {
		if len(all) == 0 {
			return
		}
		page.WriteString(".SH " + title + "\n")
		for _, v := range all {
			name := dashes + v.Name
			if v.Short != "" {
				name = "-" + v.Short + ", " + name
			}
			fmt.Fprintf(&page, ".TP\n\\fB%s\\fR", roff(name))
			if v.Placeholder != "" && dashes != "" {
				fmt.Fprintf(&page, " \\fI%s\\fR", roff(v.Placeholder))
			}
			fmt.Fprintf(&page, "\n%s\n", roff(or(v.Help, v.Name)))
		}
	}
	section("ARGUMENTS", one.Arguments, "")
	section("FLAGS", one.Flags, "--")
	page.WriteString(".SH SEE ALSO\n.BR atelier (1)\n")
	return page.String()
}
