package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// home is the URL of the document that is being compiled. A host that ends in .invalid cannot exist, and the URL is
// never loaded.
const home = "https://schema.invalid/root.json"

// These are the dialects that the member $schema may name.
const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft7    = "http://json-schema.org/draft-07/schema"
)

// Compile returns a compiled schema. An absent schema (no bytes or null) and {} accept every document. Error:
// InvalidInput, with pointers into the schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	if absent(raw) {
		return &Schema{}, nil
	}
	doc, err := jcs.Decode(raw, jcs.Limits{Depth: MaxDepth, Bytes: MaxBytes})
	if err != nil {
		return nil, invalid(detailOf(err))
	}
	found, problem := look(doc)
	if problem != nil {
		return nil, invalid(*problem)
	}
	if err := checkMeta(doc); err != nil {
		return nil, err
	}
	return compile(doc, found)
}

// CheckInput checks that a schema can describe the input of a tool. The input of a tool is always an object. So the
// root of the schema must require an object, unless the schema is absent or empty.
func (s *Schema) CheckInput() error {
	if s.Anything() || s.root.describesObject() {
		return nil
	}
	return invalid(fault.Detail{Code: "type", Message: `must describe an object: add "type": "object" at the root`})
}

func compile(doc any, found survey) (*Schema, error) {
	c := newCompiler()
	if err := c.AddResource(home, doc); err != nil {
		return nil, fmt.Errorf("add the schema: %w", err)
	}
	root, err := compileAt(c, "")
	if err != nil {
		return nil, invalid(problemOf(err, doc))
	}
	g := newGraph(doc)
	for _, pointer := range found.dynamicAnchors {
		// An example or a default may contain a value that only looks like an anchor. Such a value is ignored if it does not
		// compile as a schema.
		if anchored, err := compileAt(c, pointer); err == nil {
			g.node(anchored)
		}
	}
	s := &Schema{root: g.node(root)}
	if problem := g.finish(); problem != nil {
		return nil, invalid(*problem)
	}
	if problem := bounded(g.all); problem != nil {
		return nil, invalid(*problem)
	}
	return s, nil
}

// compileAt compiles the schema at a pointer of the document. The library panics on some malformed documents. compileAt
// returns an error for them.
func compileAt(c *jsonschema.Compiler, pointer string) (s *jsonschema.Schema, err error) {
	defer func() {
		if recover() != nil {
			err = errUnreadable
		}
	}()
	return c.Compile(home + "#" + fragment(pointer))
}

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return newPattern(text) })
	return c
}

// noLoader prevents schemas from reading files and connecting to hosts. The meta-schemas need no loading, because the
// library contains them.
type noLoader struct{}

var (
	errElsewhere  = errors.New("references to other documents are not supported")
	errUnreadable = errors.New("the schema is not readable")
)

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) { return nil, errElsewhere }

// checkMeta checks a schema against its meta-schema. It uses the evaluation of this package instead of the library's,
// because of the limits and the messages.
func checkMeta(doc any) error {
	meta, problem := dialectOf(doc)
	if problem != nil {
		return invalid(*problem)
	}
	root, err := meta()
	if err != nil {
		return err
	}
	if details := evaluate(root, doc, maxWork); len(details) > 0 {
		return invalid(details...)
	}
	return nil
}

// These functions return the meta-schemas. A meta-schema is compiled once, at its first use, because this takes much
// longer than compiling a usual schema.
var (
	metaOf2020 = metaSchema(draft2020)
	metaOf7    = metaSchema(draft7)
)

func metaSchema(dialect string) func() (*node, error) {
	return sync.OnceValues(func() (*node, error) {
		compiled, err := newCompiler().Compile(dialect)
		if err != nil {
			return nil, fmt.Errorf("compile %s: %w", dialect, err)
		}
		g := newGraph(nil)
		root := g.node(compiled)
		if problem := g.finish(); problem != nil {
			return nil, fmt.Errorf("translate %s: %s", dialect, problem.Message)
		}
		return root, nil
	})
}

// dialectOf returns the meta-schema of the dialect that a document names in $schema. The default is 2020-12.
func dialectOf(doc any) (func() (*node, error), *fault.Detail) {
	object, _ := doc.(map[string]any)
	named, ok := object["$schema"].(string)
	if !ok {
		return metaOf2020, nil
	}
	switch strings.TrimSuffix(named, "#") {
	case draft2020:
		return metaOf2020, nil
	case draft7, "https://json-schema.org/draft-07/schema":
		return metaOf7, nil
	}
	return nil, &fault.Detail{Pointer: "/$schema", Code: "$schema", Message: "must be " + draft2020 + " (the default) or " + draft7 + "#"}
}

func invalid(details ...fault.Detail) error {
	return &fault.Error{Code: fault.InvalidInput, Message: "The schema is not valid.", Details: details}
}

// detailOf converts an error of the JSON parser to a detail.
func detailOf(err error) fault.Detail {
	var e *jcs.Error
	if !errors.As(err, &e) {
		return fault.Detail{Code: string(jcs.Syntax), Message: "is not valid JSON"}
	}
	return fault.Detail{Pointer: e.Pointer, Code: string(e.Reason), Message: e.Message}
}
