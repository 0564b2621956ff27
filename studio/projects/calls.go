package projects

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// rule is the name of the rule in errors of the file functions.
const rule = "files"

// pieceBytes is the size of the pieces in which a large file is read, in bytes.
const pieceBytes = 256 << 10

// Functions lists the host functions that read files and the host functions that need the permission to write.
func Functions() (read, write []string) {
	return []string{"readFile", "listDir", "fileExists", "searchFiles", "searchContent"}, []string{"writeFile", "deleteFile", "submitResult"}
}

// Known reports whether a name is a host function about files.
func Known(name string) bool {
	read, write := Functions()
	return slices.Contains(read, name) || slices.Contains(write, name)
}

// NotGranted returns the error for a program without the capability to read or write files.
func NotGranted(name, project string, write bool) *runtimes.CallError {
	remedy := `Add {"files": {"project": "NAME"}} to the capabilities.`
	message := fmt.Sprintf("%s: the program may not read files of a project.", name)
	if write {
		message = fmt.Sprintf("%s: the program may only read the files of the project %s.", name, project)
		remedy = "Set capabilities.files.write to true."
	}
	return &runtimes.CallError{Code: string(runtimes.Denied), Message: message, Rule: rule, Remedy: remedy}
}

// call holds the arguments of a host call. It has one field for every argument of any function. A function rejects
// arguments that it does not use.
type call struct {
	Path         *string  `json:"path,omitempty"`
	Content      *string  `json:"content,omitempty"`
	More         bool     `json:"more,omitempty"` // for writeFile: another part of the content follows
	Offset       int64    `json:"offset,omitempty"`
	Pattern      *string  `json:"pattern,omitempty"`
	Summary      *string  `json:"summary,omitempty"`
	ChangedFiles []string `json:"changedFiles,omitempty"`
}

// Piece is a part of a file. Next is the offset in bytes of the following part, or 0 if there is none.
type Piece struct {
	Content string `json:"content"`
	Next    int64  `json:"next"`
}

// Call executes one host call. facts holds the details of the call for the events of the run.
func (o *Session) Call(ctx context.Context, name string, args json.RawMessage) (result json.RawMessage, facts runtimes.CallData, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	facts.Function = name
	var c call
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, facts, refuse(name, "the arguments are not valid: %s", err)
	}
	if c.Path != nil {
		facts.Path = (*c.Path)[:min(len(*c.Path), 200)]
	}
	if _, writes := Functions(); slices.Contains(writes, name) && !o.write {
		return nil, facts, NotGranted(name, o.project.Name, true)
	}
	var answer any
	switch name {
	case "readFile":
		answer, facts.Bytes, err = o.readFile(ctx, c)
	case "writeFile":
		answer, facts.Bytes, err = o.writeFile(c)
	case "deleteFile":
		answer, err = o.deleteFile(c)
	case "listDir":
		answer, err = o.listDir(c)
	case "fileExists":
		answer, err = o.fileExists(c)
	case "searchFiles":
		answer, err = o.searchFiles(ctx, c)
	case "searchContent":
		answer, err = o.searchContent(ctx, c)
	case "submitResult":
		answer, err = o.submitResult(c)
	default:
		return nil, facts, refuse(name, "is not a host function")
	}
	if err != nil {
		return nil, facts, err
	}
	result, err = json.Marshal(answer)
	return result, facts, err
}

func refuse(name, format string, args ...any) error {
	return &runtimes.CallError{Code: "invalid_arguments", Message: name + ": " + fmt.Sprintf(format, args...), Rule: rule}
}

// clean returns the normal form of a path that a program has passed.
func clean(name string, path *string) (string, error) {
	if path == nil {
		return "", refuse(name, "path is missing.")
	}
	normal, problem := registry.CleanPath(*path)
	if problem != "" {
		return "", &runtimes.CallError{Code: "invalid_arguments", Message: name + ": path " + problem, Rule: rule, Remedy: "Use a path relative to the project, such as src/main.py."}
	}
	return normal, nil
}

func (o *Session) readFile(ctx context.Context, c call) (any, int64, error) {
	path, err := clean("readFile", c.Path)
	if err != nil {
		return nil, 0, err
	}
	text, ok, err := o.text(ctx, path)
	switch {
	case err != nil:
		return nil, 0, err
	case !ok:
		return nil, 0, refuse("readFile", "the project has no file %s.", path)
	case c.Offset == 0 && !utf8.Valid(text):
		return nil, 0, refuse("readFile", "the file %s is not UTF-8 text.", path)
	case c.Offset < 0 || c.Offset > int64(len(text)):
		return nil, 0, refuse("readFile", "offset must be within the file.")
	}
	piece := text[c.Offset:]
	var next int64
	if len(piece) > pieceBytes {
		end := pieceBytes
		for end > 0 && !utf8.RuneStart(piece[end]) {
			end--
		}
		piece, next = piece[:end], c.Offset+int64(end)
	}
	if !utf8.Valid(piece) || next == c.Offset && next > 0 { // The offset is in the middle of a character, or the file is not text.
		return nil, 0, refuse("readFile", "offset must be the start of a part of UTF-8 text.")
	}
	return Piece{Content: string(piece), Next: next}, int64(len(piece)), nil
}

func (o *Session) writeFile(c call) (any, int64, error) {
	path, err := clean("writeFile", c.Path)
	if err != nil {
		return nil, 0, err
	}
	if c.Content == nil {
		return nil, 0, refuse("writeFile", "content is missing.")
	}
	text := []byte(*c.Content)
	if o.unfinish != nil && o.unfinish.path == path && c.Offset > 0 {
		if c.Offset != int64(len(o.unfinish.text)) {
			return nil, 0, refuse("writeFile", "offset must be %d, the end of the last part.", len(o.unfinish.text))
		}
		text = append(o.unfinish.text, text...)
	} else if c.Offset > 0 {
		return nil, 0, refuse("writeFile", "there is no first part of %s.", path)
	}
	o.unfinish = nil
	if c.More && len(text) <= MaxFileBytes {
		o.unfinish = &parts{path, text}
		return true, int64(len(*c.Content)), nil
	}
	refusal, err := o.put(path, text)
	if refusal != "" {
		return nil, 0, refuse("writeFile", "%s", refusal)
	}
	return true, int64(len(*c.Content)), err
}

func (o *Session) deleteFile(c call) (any, error) {
	path, err := clean("deleteFile", c.Path)
	if err != nil {
		return nil, err
	}
	if !o.has(path) {
		return nil, refuse("deleteFile", "the project has no file %s.", path)
	}
	if refusal := o.remove(path); refusal != "" {
		return nil, refuse("deleteFile", "%s", refusal)
	}
	return true, nil
}

// folder returns the normal form of a folder's path. Both "" and a single slash mean the whole project.
func folder(name string, path *string) (string, error) {
	if path == nil || *path == "" || *path == "." || *path == "./" || *path == "/" {
		return "", nil
	}
	return clean(name, path)
}

func (o *Session) listDir(c call) (any, error) {
	path, err := folder("listDir", c.Path)
	if err != nil {
		return nil, err
	}
	names := o.folders(path)
	if len(names) == 0 && path != "" {
		return nil, refuse("listDir", "the project has no folder %s.", path)
	}
	return names, nil
}

func (o *Session) fileExists(c call) (any, error) {
	path, err := clean("fileExists", c.Path)
	if err != nil {
		return nil, err
	}
	return o.has(path), nil
}

func (o *Session) searchFiles(ctx context.Context, c call) (any, error) {
	if c.Pattern == nil {
		return nil, refuse("searchFiles", "pattern is missing.")
	}
	pattern, problem := glob(*c.Pattern)
	if problem != "" {
		return nil, refuse("searchFiles", "pattern %s", problem)
	}
	found := []string{}
	for _, path := range o.below("") {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if pattern.MatchString(path) {
			found = append(found, path)
		}
	}
	return found, nil
}

func (o *Session) searchContent(ctx context.Context, c call) (any, error) {
	if c.Pattern == nil {
		return nil, refuse("searchContent", "pattern is missing.")
	}
	pattern, problem := expression(*c.Pattern)
	if problem != "" {
		return nil, refuse("searchContent", "pattern %s", problem)
	}
	path, err := folder("searchContent", c.Path)
	if err != nil {
		return nil, err
	}
	paths := o.below(path)
	if path != "" && o.has(path) {
		paths = []string{path}
	}
	found, tooMany, err := o.search(ctx, paths, pattern)
	if tooMany {
		return nil, refuse("searchContent", "more than %d lines match; use a narrower pattern or path.", maxMatches)
	}
	return found, err
}

func (o *Session) submitResult(c call) (any, error) {
	if c.Summary == nil {
		return nil, refuse("submitResult", "summary is missing.")
	}
	if err := checkText("summary", *c.Summary); err != nil {
		return nil, refuse("submitResult", "summary must be text of at most %d bytes.", maxText)
	}
	if len(c.ChangedFiles) > MaxEdits {
		return nil, refuse("submitResult", "changedFiles must have at most %d paths.", MaxEdits)
	}
	for _, name := range c.ChangedFiles {
		path, err := clean("submitResult", &name)
		if err != nil {
			return nil, err
		}
		if _, edited := o.edits[path]; !edited {
			return nil, refuse("submitResult", "changedFiles names %s, which the program did not change.", path)
		}
	}
	o.summary = *c.Summary
	return true, nil
}

// OpenError returns the error to report to the program if the program itself is the reason that the overlay cannot be
// opened. For an error of the server it returns nil.
func OpenError(project string, err error) *runtimes.ProgramError {
	switch {
	case fault.Is(err, fault.NotFound):
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: fmt.Sprintf("The workspace has no project %q.", project), Rule: rule,
			Remedy: "Import the project, or change capabilities.files.project.",
		}
	case fault.Is(err, fault.Conflict):
		return &runtimes.ProgramError{Type: runtimes.Denied, Message: err.Error(), Rule: rule, Remedy: "Accept or reject the waiting changes first."}
	}
	return nil
}
