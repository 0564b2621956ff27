package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Limits of a description of types.
const (
	maxNodes = 10_000
	maxDepth = 100
	maxNotes = 100
	maxText  = 2000 // maximum size of the text of a description, in bytes
)

// object is a JSON object, such as a schema.
type object = map[string]any

// failure is the error for a program whose types cannot be described.
type failure struct{ Failure }

func (f *failure) Error() string { return f.Message }

// walker describes types as schemas. output is true for types of the result, whose values come from the program.
type walker struct {
	*client
	entry  string
	output bool
	about  string // name of the schema that new notes are about, such as input
	notes  []Note
	texts  map[string][]byte

	nodes       int
	active      []int
	repeated    map[int]bool
	names       map[int]string
	definitions object
}

// describe returns the schemas of the input and output of the program's main.
func describe(c *client, entry string) (Answer, error) {
	w := &walker{client: c, entry: entry, texts: map[string][]byte{}}
	answer, err := w.describe()
	var failed *failure
	if errors.As(err, &failed) {
		return Answer{Failed: &failed.Failure, Notes: []Note{}}, nil
	}
	return answer, err
}

func (w *walker) describe() (Answer, error) {
	if err := open(w.client, w.entry); err != nil {
		return Answer{}, err
	}
	if err := w.diagnose(); err != nil {
		return Answer{}, err
	}
	exports, err := w.exports()
	if err != nil {
		return Answer{}, err
	}
	main, err := w.main(exports)
	if err != nil {
		return Answer{}, err
	}
	var calls []signature
	if err := w.ask("getSignaturesOfType", object{"type": main.ID, "kind": 0}, &calls); err != nil {
		return Answer{}, err
	}
	if len(calls) == 0 {
		return Answer{}, w.noMain()
	}
	w.about = "input"
	in, err := w.input(calls[0])
	if err != nil {
		return Answer{}, err
	}
	var result kind
	if err := w.ask("getReturnTypeOfSignature", object{"signature": calls[0].ID}, &result); err != nil {
		return Answer{}, err
	}
	if result, err = w.awaited(result); err != nil {
		return Answer{}, err
	}
	w.output, w.about = true, "output"
	out, err := w.document(result, place{file: w.entry, name: "main"})
	if err != nil {
		return Answer{}, err
	}
	at := &Place{File: w.entry, Line: w.line(place{file: w.entry, name: "main"})}
	return Answer{InputSchema: in, OutputSchema: out, Source: "typescript", Notes: append([]Note{}, w.notes...), Exported: w.schemas(exports), Main: at}, nil
}

// schemas returns the locations of the exports input and output, which may be schemas of a library.
func (w *walker) schemas(exports []symbol) map[string]Note {
	found := map[string]Note{}
	for _, export := range exports {
		if export.Name == "input" || export.Name == "output" {
			at := place{file: relative(export.file()), name: export.Name}
			if at.file == "" {
				at.file = w.entry
			}
			line := w.line(at)
			text := string(w.text(at.file))
			if declared := regexp.MustCompile(`(?:\b(?:const|let|var)\s+|\bexports\.)` + export.Name + `\b`).FindStringIndex(text); declared != nil {
				line = 1 + strings.Count(text[:declared[0]], "\n")
			}
			found[export.Name] = Note{File: at.file, Line: line}
		}
	}
	return found
}

// explained lists the compiler errors that turn a type into any: unknown names, unknown modules, and types that the
// compiler cannot compute.
var explained = []int{2304, 2305, 2307, 2503, 2552, 2589, 2614, 2694, 7016}

// diagnose rejects a program with syntax errors. For other programs it adds notes about types that the compiler could
// not find.
func (w *walker) diagnose() error {
	var found []diagnostic
	if err := w.ask("getSyntacticDiagnostics", nil, &found); err != nil {
		return err
	}
	if at := slices.IndexFunc(found, own); at >= 0 {
		return &failure{Failure{w.located(found[at]), "syntax_error"}}
	}
	if err := w.ask("getSemanticDiagnostics", nil, &found); err != nil {
		return err
	}
	var named []string // those of the types Input and Output that already have a note; only the editor declares these types
	for _, d := range found {
		if !own(d) || !slices.Contains(explained, d.Code) {
			continue
		}
		note := w.located(d)
		if generated := strings.TrimSuffix(strings.TrimPrefix(note.Message, "Cannot find name '"), "'."); generated == "Input" || generated == "Output" {
			if slices.Contains(named, generated) {
				continue
			}
			named = append(named, generated)
			note.Message += " The editor makes this type from the schema. Declare a type of your own, so that the schema can come from the code."
		}
		w.note(note)
	}
	return nil
}

// own reports whether an error is in a file of the program and not in a file of a package.
func own(d diagnostic) bool {
	name := relative(d.File)
	return name != "" && !strings.HasPrefix(name, "node_modules/")
}

func (w *walker) located(d diagnostic) Note {
	name, line := relative(d.File), 1
	for at, unit := range utf16.Encode([]rune(string(w.text(name)))) {
		if at == d.Pos {
			break
		}
		if unit == '\n' {
			line++
		}
	}
	return Note{File: name, Line: line, Message: d.Text}
}

func (w *walker) text(name string) []byte {
	text, known := w.texts[name]
	if !known && name != "" {
		text, _ = os.ReadFile(path.Join(root, name)) // if the file cannot be read, its notes have no line
		w.texts[name] = text
	}
	return text
}

func (w *walker) note(n Note) {
	n.Message, n.About = n.Message[:min(len(n.Message), maxText)], w.about
	if len(w.notes) < maxNotes && !slices.Contains(w.notes, n) {
		w.notes = append(w.notes, n)
	}
}

// exports returns the exports of the program's entry file.
func (w *walker) exports() ([]symbol, error) {
	var module symbol
	if err := w.ask("resolveName", object{"name": "it", "meaning": valueMeaning, "file": path.Join(root, probe), "position": 0}, &module); err != nil {
		return nil, err
	}
	return w.properties(module)
}

// main returns the type of the program's main: the default export, else the export main, else the top-level main.
func (w *walker) main(exports []symbol) (kind, error) {
	for _, name := range []string{"default", "main"} {
		for _, export := range exports {
			if export.Name == name {
				return w.typeOf(export.ID)
			}
		}
	}
	var local *symbol
	if err := w.ask("resolveName", object{"name": "main", "meaning": valueMeaning, "file": path.Join(root, w.entry), "position": 0, "excludeGlobals": false}, &local); err != nil {
		return kind{}, err
	}
	if local == nil {
		return kind{}, w.noMain()
	}
	return w.typeOf(local.ID)
}

func (w *walker) noMain() error {
	const message = "The program has no main function. Export a function as default or as main."
	return &failure{Failure{Note{File: w.entry, Line: 1, Message: message}, "no_main"}}
}

func (w *walker) properties(of symbol) (found []symbol, err error) {
	t, err := w.typeOf(of.ID)
	if err == nil {
		err = w.ask("getPropertiesOfType", object{"type": t.ID}, &found)
	}
	return found, err
}

func (w *walker) typeOf(symbol int) (t kind, err error) {
	return t, w.ask("getTypeOfSymbol", object{"symbol": symbol}, &t)
}

// input describes the first parameter, which must be an object.
func (w *walker) input(call signature) (object, error) {
	if len(call.Parameters) == 0 {
		return object{"type": "object"}, nil
	}
	var t kind
	if err := w.ask("getParameterType", object{"signature": call.ID, "index": 0}, &t); err != nil {
		return nil, err
	}
	at := place{file: w.entry, name: "main"}
	schema, err := w.document(t, at)
	if err != nil {
		return nil, err
	}
	if text, err := w.comment(call.Parameters[0]); err == nil && text != "" && schema["description"] == nil {
		schema["description"] = text
	}
	kinds, _ := schema["type"].(string)
	if alternatives, ok := schema["anyOf"].([]any); ok && !slices.ContainsFunc(alternatives, func(one any) bool { return one.(object)["type"] != "object" }) {
		schema["type"], kinds = "object", "object"
	}
	if kinds == "object" {
		return schema, nil
	}
	if len(schema) > 0 {
		w.noteAt(at, "The input of an agent is an object, but the type of the first parameter is not an object type: any object is accepted.")
	}
	return object{"type": "object"}, nil
}

// awaited returns the type of a value after await: the type within promises.
func (w *walker) awaited(t kind) (kind, error) {
	for range maxDepth {
		if t.Flags&isObject == 0 || t.ObjectFlags&isReference == 0 {
			return t, nil
		}
		named, err := w.symbolOf(t)
		if err != nil || named.Name != "Promise" && named.Name != "PromiseLike" || relative(named.file()) != "" {
			return t, err
		}
		args, err := w.arguments(t)
		if err != nil || len(args) == 0 {
			return t, err
		}
		t = args[0]
	}
	return t, nil
}

func (w *walker) symbolOf(t kind) (s symbol, err error) {
	if t.Symbol == 0 {
		return s, nil
	}
	return s, w.ask("getSymbolOfType", object{"objectId": t.ID}, &s)
}

func (w *walker) arguments(t kind) (args []kind, err error) {
	return args, w.ask("getTypeArguments", object{"type": t.ID}, &args)
}

func (w *walker) members(t kind) (found []kind, err error) {
	return found, w.ask("getTypesOfType", object{"objectId": t.ID}, &found)
}

func (w *walker) comment(symbol int) (text string, err error) {
	err = w.ask("getDocumentationComment", object{"symbol": symbol}, &text)
	return text[:min(len(text), maxText)], err
}

// place is the location of a type in the program: the name of a property or function in a file.
type place struct {
	file, owner, name string
}

// label returns the start of a note about a property.
func (p place) label() string {
	if p.owner == "" || p.name == "[" {
		return ""
	}
	return p.name + ": "
}

// noteAt adds a note.
func (w *walker) noteAt(at place, message string) {
	if at.file == "" {
		at.file = w.entry
	}
	w.note(Note{File: at.file, Line: w.line(at), Message: message})
}

// line returns the line of a place. The compiler's API does not return lines. So line searches the source: it takes the
// first declaration of the name after the declaration of its owner.
func (w *walker) line(at place) int {
	text, line := string(w.text(at.file)), 1
	from := 0
	if at.owner != "" {
		if found := regexp.MustCompile(`\b(?:interface|type|class|enum|@typedef.*)\s+` + regexp.QuoteMeta(at.owner) + `\b`).FindStringIndex(text); found != nil {
			from = found[0]
		}
	}
	if found := regexp.MustCompile(`(?:^|[^\w$.])(` + regexp.QuoteMeta(at.name) + `)["']?\s*[?!]?\s*[:(\]=<]`).FindStringSubmatchIndex(text[from:]); found != nil {
		from += found[2]
	}
	return line + strings.Count(text[:from], "\n")
}

func (w *walker) nothing(at place, reason string) (object, error) {
	w.noteAt(at, at.label()+reason)
	return object{}, nil
}

// document describes a type as a complete schema document.
func (w *walker) document(t kind, at place) (object, error) {
	w.nodes, w.active, w.repeated, w.names, w.definitions = 0, nil, map[int]bool{}, map[int]string{}, object{}
	schema, err := w.of(t, at)
	if err != nil || len(w.definitions) == 0 {
		return schema, err
	}
	if ref, ok := schema["$ref"].(string); ok { // the schema of a tool must have its type at the root
		schema = w.definitions[strings.TrimPrefix(ref, "#/$defs/")].(object)
	}
	whole := maps.Clone(schema)
	whole["$defs"] = w.definitions
	return whole, nil
}

func (w *walker) of(t kind, at place) (object, error) {
	w.nodes++
	if w.nodes > maxNodes {
		return nil, w.tooLarge(at, fmt.Sprintf("The schema has more than %d nodes. Use a recursive type, or Record.", maxNodes))
	}
	switch f := t.Flags; {
	case f&isAny != 0 && t.IntrinsicName == "error":
		w.noteUnresolved(at)
		return object{}, nil
	case f&isAny != 0:
		return w.nothing(at, "the type is any, so any value is accepted.")
	case f&isUnknown != 0:
		return w.nothing(at, "the type is unknown, so any value is accepted.")
	case f&(isUndefined|isVoid|isNull) != 0:
		return object{"type": "null"}, nil
	case f&isBoolean != 0:
		return object{"type": "boolean"}, nil
	case f&isStringLiteral != 0:
		return object{"type": "string", "const": t.Value}, nil
	case f&isNumberLiteral != 0:
		return object{"type": "number", "const": t.Value}, nil
	case f&isBooleanLiteral != 0:
		return object{"type": "boolean", "const": t.Value}, nil
	case f&isTemplateLiteral != 0:
		return w.template(t)
	case f&(isString|isStringMapping|isIndex) != 0:
		return object{"type": "string"}, nil
	case f&isNumber != 0:
		return object{"type": "number"}, nil
	case f&isNonPrimitive != 0:
		return object{"type": "object"}, nil
	case f&isNever != 0:
		return object{"not": object{}}, nil
	case f&isUnion != 0 && t.AliasSymbol != 0: // a union with a name may refer to itself
		return w.named(t, symbol{}, at, func() (object, error) { return w.union(t, at) })
	case f&isUnion != 0:
		return w.union(t, at)
	case f&isIntersection != 0:
		return w.intersection(t, at)
	case f&isObject != 0:
		return w.object(t, at)
	case f&isBigInt != 0:
		return w.nothing(at, "bigint has no JSON form, so any value is accepted. Use number or string.")
	}
	var text string
	if err := w.ask("typeToString", object{"type": t.ID}, &text); err != nil {
		return nil, err
	}
	return w.nothing(at, text+" has no JSON form, so any value is accepted.")
}

// noteUnresolved adds a note about a type that the compiler could not find, unless diagnose has added one for the same
// line. diagnose finds no such types in JavaScript, which the compiler does not check.
func (w *walker) noteUnresolved(at place) {
	if at.file == "" {
		at.file = w.entry
	}
	line := w.line(at)
	if !slices.ContainsFunc(w.notes, func(n Note) bool { return n.File == at.file && n.Line == line && n.About == "" }) {
		w.noteAt(at, at.label()+"the type cannot be found, so any value is accepted.")
	}
}

func (w *walker) tooLarge(at place, message string) error {
	before := w.notes
	w.notes = nil
	w.noteAt(at, message)
	found := w.notes[0]
	w.notes = before
	return &failure{Failure{found, "too_large"}}
}

// template describes a template literal type as a pattern.
func (w *walker) template(t kind) (object, error) {
	parts, err := w.members(t)
	if err != nil {
		return nil, err
	}
	pattern := "^"
	for at, text := range t.Texts {
		pattern += regexp.QuoteMeta(text)
		if at < len(parts) {
			part := `[\s\S]*`
			if parts[at].Flags&isNumber != 0 {
				part = `-?\d+(\.\d+)?([eE][+-]?\d+)?`
			}
			pattern += part
		}
	}
	return object{"type": "string", "pattern": pattern + "$"}, nil
}

// union describes a union type: its literals as one enum, simple types as a list of types, and other types as
// alternatives.
func (w *walker) union(t kind, at place) (object, error) {
	members, err := w.members(t)
	if err != nil {
		return nil, err
	}
	var literals, others []any
	var simple []any
	both := 0
	for _, one := range members {
		if one.Flags&isBooleanLiteral != 0 {
			both++
		}
	}
	booleans := false
	for _, one := range members {
		switch f := one.Flags; {
		case f&(isUndefined|isVoid) != 0 && (!w.output || at.owner != ""): // JSON omits a property whose value is undefined
		case f&isBooleanLiteral != 0 && both == 2:
			if !booleans {
				simple = append(simple, "boolean")
			}
			booleans = true
		case f&(isStringLiteral|isNumberLiteral|isBooleanLiteral) != 0:
			literals = append(literals, one.Value)
		case f&(isNull|isUndefined|isVoid) != 0:
			if !slices.Contains(simple, any("null")) {
				simple = append(simple, "null")
			}
		default:
			schema, err := w.of(one, at)
			if err != nil {
				return nil, err
			}
			if len(schema) == 0 {
				return schema, nil
			}
			if name, ok := schema["type"].(string); ok && len(schema) == 1 {
				simple = append(simple, name)
			} else {
				others = append(others, schema)
			}
		}
	}
	return combined(literals, simple, others), nil
}

func combined(literals, simple, others []any) object {
	if len(literals) > 0 && slices.Contains(simple, any("null")) && len(simple) == 1 {
		literals, simple = append(literals, nil), nil
	}
	var all []any
	if len(simple) == 1 {
		all = append(all, object{"type": simple[0]})
	} else if len(simple) > 1 {
		all = append(all, object{"type": simple})
	}
	if len(literals) > 0 {
		all = append(all, enumerated(literals))
	}
	all = append(all, others...)
	switch len(all) {
	case 0:
		return object{"type": "null"}
	case 1:
		return all[0].(object)
	}
	return object{"anyOf": all}
}

// enumerated describes literals as enum or const. If all literals have the same type, it also adds the type.
func enumerated(literals []any) object {
	schema := object{"enum": literals}
	if len(literals) == 1 {
		schema = object{"const": literals[0]}
	}
	common := ""
	for at, one := range literals {
		kind := "null"
		if text, ok := one.(json.RawMessage); ok && len(text) > 0 {
			switch text[0] {
			case '"':
				kind = "string"
			case 't', 'f':
				kind = "boolean"
			default:
				kind = "number"
			}
		}
		if at > 0 && kind != common {
			return schema
		}
		common = kind
	}
	schema["type"] = common
	return schema
}

// member is a property of an object literal. ordered is an object whose properties are in the order of the source.
type (
	member struct {
		name  string
		value any
	}
	ordered []member
)

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for at, one := range o {
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(one.value)
		if err != nil {
			return nil, err
		}
		if at > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// intersection describes an intersection type: a branded primitive as the primitive, and object types as one object.
func (w *walker) intersection(t kind, at place) (object, error) {
	members, err := w.members(t)
	if err != nil {
		return nil, err
	}
	for _, one := range members {
		if one.Flags&(isObject|isIntersection|isUnion) == 0 {
			return w.of(one, at)
		}
	}
	return w.object(t, at)
}

// object describes an array, a tuple, a class of the standard library, or an object with its properties.
func (w *walker) object(t kind, at place) (object, error) {
	named, err := w.symbolOf(t)
	if err != nil {
		return nil, err
	}
	if t.ObjectFlags&isReference != 0 {
		if schema, err := w.list(t, at); err != nil || schema != nil {
			return schema, err
		}
	}
	var calls []signature
	if err := w.ask("getSignaturesOfType", object{"type": t.ID, "kind": 0}, &calls); err != nil {
		return nil, err
	}
	switch {
	case len(calls) > 0:
		return w.nothing(at, "a function has no JSON form, so any value is accepted.")
	case named.Name == "Date" && relative(named.file()) == "":
		if !w.output {
			w.noteAt(at, at.label()+"the program receives a Date as text. Write new Date(…) where it is used.")
		}
		return object{"type": "string", "format": "date-time"}, nil
	case len(named.Declarations) > 0 && relative(named.file()) == "" && t.Flags&isObject != 0 && t.AliasSymbol == 0 && named.Name != "__type":
		return w.nothing(at, named.Name+" has no JSON form, so any value is accepted.")
	}
	return w.named(t, named, at, func() (object, error) { return w.record(t, named) })
}

// list describes an array or a tuple. It returns nil for other types.
func (w *walker) list(t kind, at place) (object, error) {
	var array, tuple bool
	if err := errors.Join(w.ask("isArrayType", object{"type": t.ID}, &array), w.ask("isTupleType", object{"type": t.ID}, &tuple)); err != nil || !array && !tuple {
		return nil, err
	}
	args, err := w.arguments(t)
	if err != nil {
		return nil, err
	}
	if array {
		schema := object{"type": "array"}
		return schema, w.items(schema, args[0], at)
	}
	var target kind
	if err := w.ask("getTargetOfType", object{"objectId": t.ID}, &target); err != nil {
		return nil, err
	}
	schema, items, least := object{"type": "array"}, []any{}, 0
	for n, arg := range args[:min(len(args), len(target.ElementFlags))] {
		if target.ElementFlags[n]&(4|8) != 0 { // a rest element
			if err := w.items(schema, arg, at); err != nil {
				return nil, err
			}
			schema["minItems"] = least
			if len(items) > 0 {
				schema["prefixItems"] = items
			}
			return schema, nil
		}
		one, err := w.of(arg, at)
		if err != nil {
			return nil, err
		}
		items = append(items, one)
		if target.ElementFlags[n]&1 != 0 {
			least++
		}
	}
	if len(items) > 0 {
		schema["prefixItems"], schema["minItems"] = items, least
	}
	schema["maxItems"] = len(items)
	return schema, nil
}

func (w *walker) items(schema object, t kind, at place) error {
	found, err := w.of(t, at)
	if len(found) > 0 {
		schema["items"] = found
	}
	return err
}

// named describes a type that may refer to itself. The type becomes a definition in $defs only if it does.
func (w *walker) named(t kind, of symbol, at place, describe func() (object, error)) (object, error) {
	switch {
	case w.repeated[t.ID] && w.definitions[w.names[t.ID]] != nil:
		return object{"$ref": "#/$defs/" + w.names[t.ID]}, nil
	case slices.Contains(w.active, t.ID):
		w.repeated[t.ID] = true
		name, err := w.name(t, of)
		return object{"$ref": "#/$defs/" + name}, err
	case len(w.active) > maxDepth:
		return nil, w.tooLarge(at, fmt.Sprintf("The type is nested more than %d levels deep. Use a recursive type, or Record.", maxDepth))
	}
	w.active = append(w.active, t.ID)
	schema, err := describe()
	w.active = w.active[:len(w.active)-1]
	if err != nil || !w.repeated[t.ID] {
		return schema, err
	}
	w.definitions[w.names[t.ID]] = schema
	return object{"$ref": "#/$defs/" + w.names[t.ID]}, nil
}

var notWord = regexp.MustCompile(`\W`)

func (w *walker) name(t kind, of symbol) (string, error) {
	if name := w.names[t.ID]; name != "" {
		return name, nil
	}
	if t.AliasSymbol != 0 {
		if err := w.ask("getAliasSymbolOfType", object{"objectId": t.ID}, &of); err != nil {
			return "", err
		}
	}
	plain := notWord.ReplaceAllString(of.Name, "_")
	if plain == "" || strings.HasPrefix(plain, "__") {
		plain = "Type"
	}
	name, taken := plain, slices.Collect(maps.Values(w.names))
	for n := 2; slices.Contains(taken, name); n++ {
		name = plain + strconv.Itoa(n)
	}
	w.names[t.ID] = name
	return name, nil
}

// record describes an object by its properties and index signatures.
func (w *walker) record(t kind, of symbol) (object, error) {
	var found []symbol
	if err := w.ask("getPropertiesOfType", object{"type": t.ID}, &found); err != nil {
		return nil, err
	}
	owner := of.Name
	if strings.HasPrefix(owner, "__") {
		owner = ""
	}
	schema, properties, required := object{"type": "object"}, ordered{}, []any{}
	for _, one := range found {
		if strings.HasPrefix(one.Name, "__@") {
			continue // JSON has no properties whose keys are symbols
		}
		if omitted, err := w.omitted(one); err != nil {
			return nil, err
		} else if omitted {
			continue
		}
		of, optional, err := w.property(one, place{file: relative(one.file()), owner: owner, name: one.Name})
		if err != nil {
			return nil, err
		}
		properties = append(properties, member{one.Name, of})
		if !optional {
			required = append(required, one.Name)
		}
	}
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema, w.indexes(schema, t, place{file: relative(of.file()), owner: owner, name: "["})
}

// omitted reports whether JSON omits a property of a result: a method, or an accessor of a class.
func (w *walker) omitted(one symbol) (bool, error) {
	if !w.output {
		return false, nil
	}
	if one.Flags&(isMethod|isAccessor) != 0 {
		return true, nil
	}
	t, err := w.typeOf(one.ID)
	if err != nil || t.Flags&isObject == 0 {
		return false, err
	}
	var calls []signature
	err = w.ask("getSignaturesOfType", object{"type": t.ID, "kind": 0}, &calls)
	return len(calls) > 0, err
}

// property describes one property. A property that may be undefined is optional, because JSON has no undefined.
func (w *walker) property(one symbol, at place) (schema object, optional bool, err error) {
	t, err := w.typeOf(one.ID)
	if err != nil {
		return nil, false, err
	}
	optional = one.Flags&isOptional != 0 || t.Flags&isUndefined != 0
	if t.Flags&isUnion != 0 && !optional {
		members, err := w.members(t)
		if err != nil {
			return nil, false, err
		}
		optional = slices.ContainsFunc(members, func(m kind) bool { return m.Flags&isUndefined != 0 })
	}
	if at.owner == "" {
		at.owner = " " // only a property, not the root, because JSON omits undefined only in objects
	}
	if schema, err = w.of(t, at); err != nil {
		return nil, false, err
	}
	schema = maps.Clone(schema)
	text, err := w.comment(one.ID)
	if err != nil {
		return nil, false, err
	}
	if text != "" {
		schema["description"] = text
	}
	var tags []tag
	if err := w.ask("getJsDocTags", object{"symbol": one.ID}, &tags); err != nil {
		return nil, false, err
	}
	for _, tag := range tags {
		if reason := tag.apply(schema, w.output); reason != "" {
			w.noteAt(at, at.label()+reason)
		}
	}
	return schema, optional, nil
}

// indexes describes the index signatures of an object.
func (w *walker) indexes(schema object, t kind, at place) error {
	var infos []struct {
		KeyType   kind `json:"keyType"`
		ValueType kind `json:"valueType"`
	}
	if err := w.ask("getIndexInfosOfType", object{"type": t.ID}, &infos); err != nil {
		return err
	}
	patterns := object{}
	for _, info := range infos {
		value, err := w.of(info.ValueType, at)
		if err != nil {
			return err
		}
		switch f := info.KeyType.Flags; {
		case f&isString != 0:
			if len(value) > 0 {
				schema["additionalProperties"] = value
			}
		case f&isNumber != 0:
			patterns[`^-?\d+(\.\d+)?$`] = value
		case f&isTemplateLiteral != 0:
			key, err := w.template(info.KeyType)
			if err != nil {
				return err
			}
			patterns[key["pattern"].(string)] = value
		}
	}
	if len(patterns) > 0 {
		schema["patternProperties"] = patterns
	}
	return nil
}

// tag is a JSDoc tag.
type tag struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// apply adds the keyword of a tag to a schema. If it cannot, it returns the reason, otherwise "".
func (t tag) apply(schema object, output bool) (reason string) {
	text := strings.TrimSpace(t.Text)
	switch t.Name {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return "the tag @" + t.Name + " needs a number."
		}
		schema[t.Name] = json.RawMessage(text)
	case "uniqueItems":
		schema[t.Name] = text != "false"
	case "deprecated":
		schema[t.Name] = true
	case "pattern", "format", "title":
		schema[t.Name] = text
	case "integer":
		schema["type"] = "integer"
	case "asType":
		if text == "integer" {
			schema["type"] = text
		}
	case "default":
		if !output {
			schema[t.Name] = literal(text)
		}
	case "example":
		examples, _ := schema["examples"].([]any)
		schema["examples"] = append(examples, literal(text))
	}
	return ""
}

// literal returns the value of a tag. If the tag's text is valid JSON, the value is decoded from it; otherwise the
// value is the text.
func literal(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
