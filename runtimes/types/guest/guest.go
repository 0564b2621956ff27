// Package guest is the part of package types that runs inside the sandbox. It starts the TypeScript compiler as a
// second process, reads the types of an agent's main through the compiler's API, and describes them as JSON Schema.
// Only the schemas and notes leave the sandbox.
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

// Argument is the first argument of a process for which Main describes types.
const Argument = "describe-types"

// Job is the line with the job, which the process reads before it describes types.
type Job struct {
	Entry string `json:"entry"`
}

// Answer is the output of a job. If Failed is set, there are no schemas.
type Answer struct {
	InputSchema  any    `json:"inputSchema,omitempty"`
	OutputSchema any    `json:"outputSchema,omitempty"`
	Source       string `json:"source,omitempty"`
	Notes        []Note `json:"notes"`
	// Exported holds the locations of the exports input and output, which may be schemas of a library.
	Exported map[string]Note `json:"exported,omitempty"`
	Main     *Place          `json:"main,omitempty"`
	Failed   *Failure        `json:"failed,omitempty"`
}

// Place is a line in a file of the program.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Failure is the reason why the types cannot be described.
type Failure struct {
	Note
	Code string `json:"code"` // syntax_error, no_main or too_large
}

// Note is a message about a type that the schemas do not describe exactly.
type Note struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	// About is input or output if the note is about only one schema.
	About string `json:"about,omitempty"`
}

// Main must be the first call in main. If args are those of a process that describes types, it runs that process and
// returns its exit code. ours is false for all other processes.
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
	// End must be the first member: the server recognizes a long last message by its beginning.
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

// These constants are the names of the files that open adds to the program's files.
const (
	config  = ".atelier.tsconfig.json"
	probe   = ".atelier.probe.ts"
	ambient = ".atelier.globals.d.ts"
)

// globals declares the same globals as the Studio's editor: ctx, and the globals of both engines. Other globals are
// unknown, and the modules of Node have no types.
const globals = `type LogLevel = "debug" | "info" | "warn" | "error";
type Environment = Readonly<Record<string, string>>;
interface Ctx { readonly env: Environment; log(level: LogLevel, message: string, fields?: Record<string, unknown>): void; progress(done: number, total: number, message?: string): void; [name: string]: any }
declare module "agents";
declare module "node:*";
declare const crypto: { randomUUID(): string; [name: string]: any }, performance: { now(): number; readonly timeOrigin: number; [name: string]: any };
declare const console: any, process: any, global: any, require: any, WebAssembly: any;
declare function setTimeout(run: (...given: any[]) => void, ms?: number, ...given: any[]): any;
declare function setInterval(run: (...given: any[]) => void, ms?: number, ...given: any[]): any;
declare function setImmediate(run: (...given: any[]) => void, ...given: any[]): any;
declare function clearTimeout(id?: any): void;
declare function clearInterval(id?: any): void;
declare function clearImmediate(id?: any): void;
declare function queueMicrotask(run: () => void): void;
declare function atob(base64: string): string;
declare function btoa(binary: string): string;
declare function structuredClone<T>(value: T): T;
declare function fetch(url: string | URL, init?: any): Promise<Response>;
declare class Response { constructor(body?: any, init?: any); readonly status: number; readonly statusText: string; readonly ok: boolean; readonly url: string; readonly headers: Headers; text(): Promise<string>; json(): Promise<any>; arrayBuffer(): Promise<ArrayBuffer>; bytes(): Promise<Uint8Array>; [name: string]: any }
declare class Headers { constructor(init?: any); get(name: string): string | null; has(name: string): boolean; [name: string]: any }
declare class URL { constructor(url: string | URL, base?: string | URL); hash: string; host: string; hostname: string; href: string; readonly origin: string; pathname: string; port: string; protocol: string; search: string; readonly searchParams: URLSearchParams; toString(): string }
declare class URLSearchParams { constructor(init?: any); get(name: string): string | null; getAll(name: string): string[]; has(name: string): boolean; set(name: string, value: string): void; append(name: string, value: string): void; toString(): string; [name: string]: any; [Symbol.iterator](): IterableIterator<[string, string]> }
declare class TextEncoder { encode(text?: string): Uint8Array; [name: string]: any }
declare class TextDecoder { constructor(label?: string, options?: any); decode(bytes?: any, options?: any): string; [name: string]: any }
declare class Buffer extends Uint8Array { toString(encoding?: string, start?: number, end?: number): string; static from(...given: any[]): Buffer; static concat(list: any, length?: number): Buffer; static [name: string]: any }
declare class AbortController { readonly signal: AbortSignal; abort(reason?: any): void }
declare class AbortSignal { readonly aborted: boolean; readonly reason: any; static [name: string]: any; [name: string]: any }
declare class Event { constructor(type: string, init?: any); readonly type: string; [name: string]: any }
declare class EventTarget { [name: string]: any }
declare class DOMException extends Error { constructor(message?: string, name?: string); readonly code: number }
`

// modules are the modules of Node that programs may import without the prefix "node:".
const modules = "assert buffer child_process crypto events fs fs/promises http https net os path perf_hooks process querystring readline stream string_decoder timers timers/promises tls url util worker_threads zlib"

// declarations returns the text of the file that declares the globals and modules.
func declarations() string {
	var text strings.Builder
	text.WriteString(globals)
	for _, name := range strings.Fields(modules) {
		fmt.Fprintf(&text, "declare module %q;\n", name)
	}
	return text.String()
}

// open writes the files that the compiler needs, and opens them as a project.
func open(c *client, entry string) error {
	options := map[string]any{
		"strict": true, "target": "es2023", "lib": []string{"es2023"}, "module": "esnext", "moduleResolution": "bundler", "types": []string{}, "noEmit": true,
		"allowJs": true, "allowImportingTsExtensions": true, "resolveJsonModule": true, "esModuleInterop": true, "skipLibCheck": true, "jsx": "preserve",
		// Each file is a module, so that its types never merge with global types of the same name.
		"moduleDetection": "force",
	}
	settings, err := json.Marshal(map[string]any{"compilerOptions": options, "files": []string{entry, probe, ambient}})
	if err != nil {
		return err
	}
	name, err := json.Marshal("./" + entry)
	if err != nil {
		return err
	}
	for file, text := range map[string]string{config: string(settings), ambient: declarations(), probe: "import * as program from " + string(name) + ";\nexport const it = program;\n"} {
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
		return errors.New("the compiler did not open the project")
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
