// Package guest is the part of package types that runs inside the sandbox. It starts the TypeScript compiler next to
// itself, asks it for the types of an agent's main over its API, and describes them as JSON Schema. The source of the
// program and the answers about it never leave the sandbox, except for the schemas.
package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// Argument is the first argument of the process that Main serves.
const Argument = "describe-types"

// Job is the line that the process reads before it begins.
type Job struct {
	Entry string `json:"entry"`
}

// Answer is the output of a job. With Failed it has no other member.
type Answer struct {
	InputSchema  any    `json:"inputSchema,omitempty"`
	OutputSchema any    `json:"outputSchema,omitempty"`
	Source       string `json:"source,omitempty"`
	Notes        []Note `json:"notes"`
	// Exported has the places of the exports input and output, which may be schemas of a library.
	Exported map[string]Note `json:"exported,omitempty"`
	Failed   *Note           `json:"failed,omitempty"`
}

// Note explains a part of the schemas, or why there are none.
type Note struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	// About is input or output if the note is about only one schema.
	About string `json:"about,omitempty"`
}

// Main must be called first in main. If args are those of a process that describes types, it does so and returns the
// exit code.
func Main(args []string) (code int, ours bool) {
	if len(args) != 3 || args[1] != Argument {
		return 0, false
	}
	if err := serve(args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// serve starts a compiler, reports that it is ready, and describes the program of one job.
func serve(compiler string) error {
	channel := os.NewFile(3, "channel")
	if channel == nil {
		return errors.New("this command is internal; the server starts it in a sandbox")
	}
	out, in, err := program.Pipe(compiler, "--api", "-async", "-cwd", root)
	if err != nil {
		return err
	}
	c := &client{in: in, out: bufio.NewReader(out)}
	if err := c.call("initialize", nil, nil); err != nil {
		return err
	}
	if _, err := channel.WriteString("{\"ready\":true}\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(channel).ReadBytes('\n')
	if err != nil {
		return err
	}
	var job Job
	if err := json.Unmarshal(line, &job); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if _, err := channel.WriteString("{\"start\":true}\n"); err != nil {
		return err
	}
	answer, err := describe(c, job.Entry)
	if err != nil {
		return err
	}
	// The server recognizes a long end by its first member.
	end, err := json.Marshal(struct {
		End  map[string]any `json:"end"`
		Code int            `json:"code"`
	}{End: map[string]any{"output": answer}})
	if err != nil {
		return err
	}
	_, err = channel.Write(append(end, '\n'))
	return err
}

// root is the directory of the program's files.
const root = "/work"

// The names of the files that are added to the program's own.
const (
	config  = ".atelier.tsconfig.json"
	probe   = ".atelier.probe.ts"
	ambient = ".atelier.globals.d.ts"
)

// globals declares the types of ctx that editors know.
const globals = `type LogLevel = "debug" | "info" | "warn" | "error";
type Environment = Readonly<Record<string, string>>;
interface Ctx { readonly env: Environment; log(level: LogLevel, message: string, fields?: Record<string, unknown>): void; progress(done: number, total: number, message?: string): void; [name: string]: any }
declare module "agents";
`

// open writes the files that the compiler needs, and opens them as a project.
func open(c *client, entry string) error {
	options := map[string]any{
		"strict": true, "target": "es2023", "lib": []string{"es2023"}, "module": "esnext", "moduleResolution": "bundler", "types": []string{}, "noEmit": true,
		"allowJs": true, "allowImportingTsExtensions": true, "resolveJsonModule": true, "esModuleInterop": true, "skipLibCheck": true, "jsx": "preserve",
	}
	settings, err := json.Marshal(map[string]any{"compilerOptions": options, "files": []string{entry, probe, ambient}})
	if err != nil {
		return err
	}
	name, err := json.Marshal("./" + entry)
	if err != nil {
		return err
	}
	for file, text := range map[string]string{config: string(settings), ambient: globals, probe: "import * as program from " + string(name) + ";\nexport const it = program;\n"} {
		if err := os.WriteFile(path.Join(root, file), []byte(text), 0o600); err != nil {
			return err
		}
	}
	var opened struct {
		Snapshot int `json:"snapshot"`
		Projects []struct {
			ID string `json:"id"`
		} `json:"projects"`
	}
	if err := c.call("updateSnapshot", map[string]any{"openProjects": []string{path.Join(root, config)}}, &opened); err != nil {
		return err
	}
	if len(opened.Projects) == 0 {
		return errors.New("the compiler opened no project")
	}
	c.snapshot, c.project = opened.Snapshot, opened.Projects[0].ID
	return nil
}

// relative returns the name of a file of the program, "" for any other file.
func relative(file string) string {
	name, ok := strings.CutPrefix(file, root+"/")
	if !ok || strings.HasPrefix(name, ".atelier.") {
		return ""
	}
	return name
}
