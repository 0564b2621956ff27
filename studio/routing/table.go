package routing

import (
	_ "embed" // embeds the table that is part of the server
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// Local stands for the runtime that a program would have without a router. For a version this is the runtime that was
// chosen at publication; for other programs it is the one that auto selects.
const Local runtimes.Name = "local"

// ExplicitRule is the name of the rule for programs that name their runtime. It comes before the rules of the table.
const ExplicitRule = "explicit"

// MaxTable is the maximum size of a table in bytes.
const MaxTable = 64 << 10

// Table is a list of rules. Its JSON field names are also the field names in router.yaml.
type Table struct {
	Rules []RoutingRule `json:"rules" jsonschema:"minItems=1,maxItems=100,description=The first rule that applies and has a usable runtime decides. The last one has no conditions."`
	file  bool          // whether the table was read from a file; false for the built-in table
}

// RoutingRule selects the runtimes of runs that match its conditions.
type RoutingRule struct {
	Name      string          `json:"name" jsonschema:"pattern=^[a-z][a-z0-9-]{0\\,62}$,description=Unique name. Run records have it." doc:"Unique name. Records of runs contain it."`
	Title     string          `json:"title,omitempty" jsonschema:"maxLength=300,description=The purpose of the rule as a sentence." doc:"The purpose of the rule as a sentence."`
	When      RouteConditions `json:"when,omitzero" jsonschema:"description=Conditions, which must all be met. Absent if the rule applies to every run." doc:"Conditions, which must all be met. Absent if the rule applies to every run."`
	Runtimes  []runtimes.Name `json:"runtimes" jsonschema:"minItems=1,description=The first usable runtime executes the run. local means the runtime of this server that the program would have without a router." doc:"The first usable runtime executes the run. local means the runtime of this server that the program would have without a router."`
	Otherwise Otherwise       `json:"otherwise,omitempty" jsonschema:"enum=next,enum=refuse,description=If no runtime is usable: continue with the next rule (default) or refuse the run." enum:"next,refuse" doc:"Action if no runtime is usable: continue with the next rule, or refuse the run."`
}

// RouteConditions holds the conditions of a rule. All of them must hold.
type RouteConditions struct {
	Languages  []runtimes.Language `json:"languages,omitempty" jsonschema:"description=Languages of programs."`
	Workspaces []string            `json:"workspaces,omitzero" jsonschema:"description=IDs of workspaces. An empty list matches none."`
	Isolation  Isolation           `json:"isolation,omitempty" jsonschema:"enum=strict,enum=remote,description=Isolation that the call or the program asks for." enum:"strict,remote"`
	LongJob    bool                `json:"longJob,omitempty" jsonschema:"description=The call says longJob."`
	GPU        bool                `json:"gpu,omitempty" jsonschema:"description=The call says gpu."`
	MinMs      int64               `json:"minMs,omitempty" jsonschema:"minimum=1,description=The run is expected to take at least this time."`
	MaxMs      int64               `json:"maxMs,omitempty" jsonschema:"minimum=1,description=The run is expected to take at most this time."`
	MinCPUMs   float64             `json:"minCpuMs,omitempty" jsonschema:"minimum=1,description=CPU time of the draft's runs in goja when the version is published. Only with languages and the runtime node."`
}

// Otherwise states what the router does if no runtime of a matching rule is usable.
type Otherwise string

// These are the values of Otherwise. Next, the default, tries the next rule. Refuse refuses the run.
const (
	Next   Otherwise = "next"
	Refuse Otherwise = "refuse"
)

//go:embed router.yaml
var shipped []byte

// Shipped returns the built-in table.
var Shipped = sync.OnceValues(func() (Table, error) {
	table, err := Parse("the shipped router.yaml", shipped)
	table.file = false
	return table, err
})

// choices lists the runtimes that rules may name: the runtimes of all languages, except remote. Only a program can name
// remote, because this runtime needs a file of the program.
func choices() []runtimes.Name {
	all := []runtimes.Name{Local}
	for _, language := range specs.Languages() {
		for _, name := range specs.Runtimes(language) {
			if name != runtimes.RemoteEngine && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Schema returns the JSON Schema of router.yaml.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{ExpandedStruct: true, DoNotReference: true}
	s := r.Reflect(&Table{})
	s.ID, s.Title = "https://atelier.run/schemas/router.json", "Atelier router"
	rules, _ := s.Properties.Get("rules")
	named, _ := rules.Items.Properties.Get("runtimes")
	for _, name := range choices() {
		named.Items.Enum = append(named.Items.Enum, name)
	}
	when, _ := rules.Items.Properties.Get("when")
	languages, _ := when.Properties.Get("languages")
	for _, language := range specs.Languages() {
		languages.Items.Enum = append(languages.Items.Enum, language)
	}
	return json.MarshalIndent(s, "", "  ")
}

var tableSchema = sync.OnceValues(func() (*schema.Schema, error) {
	text, err := Schema()
	if err != nil {
		return nil, err
	}
	return schema.Compile(text)
})

// Parse reads a table from the text of a file and validates it against the published schema. Every error has the line
// and the field.
func Parse(file string, text []byte) (Table, error) {
	faults := &problems{file: file}
	if len(text) > MaxTable {
		faults.add("", "must have at most %s.", bytesize.Text(MaxTable))
		return Table{}, faults.err()
	}
	document, wrong := schema.ReadYAML(text)
	if wrong != nil {
		faults.lines = append(faults.lines, faults.place(wrong.Line)+" "+wrong.Message)
		return Table{}, faults.err()
	}
	faults.document = document
	checked, err := tableSchema()
	if err != nil {
		return Table{}, err
	}
	for _, d := range document.Problems(checked) {
		faults.add(d.Pointer, "%s", d.Message)
	}
	if err := faults.err(); err != nil {
		return Table{}, err
	}
	var table Table
	if err := json.Unmarshal(document.JSON, &table); err != nil {
		return Table{}, fmt.Errorf("%s: %w", file, err)
	}
	table.check(faults)
	table.file = true
	return table, faults.err()
}

// problems collects the errors of a file.
type problems struct {
	file     string
	document schema.Document
	lines    []string
}

func (p *problems) place(line int) string {
	if line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d:", p.file, line)
}

func (p *problems) add(pointer, format string, args ...any) {
	p.lines = append(p.lines, strings.Join(strings.Fields(p.place(p.document.Line(pointer))+" "+pointer+" "+fmt.Sprintf(format, args...)), " "))
}

func (p *problems) err() error {
	if len(p.lines) == 0 {
		return nil
	}
	return fault.New(fault.InvalidInput, "%s", strings.Join(p.lines, "\n"))
}

// check finds errors that the JSON Schema cannot express, and sets defaults in the rules.
func (t Table) check(faults *problems) {
	seen := map[string]bool{ExplicitRule: true}
	for i, rule := range t.Rules {
		at := fmt.Sprintf("/rules/%d", i)
		if seen[rule.Name] {
			faults.add(at+"/name", "must be unique and not %s.", ExplicitRule)
		}
		seen[rule.Name] = true
		w := rule.When
		if w.MaxMs > 0 && w.MinMs > w.MaxMs {
			faults.add(at+"/when/minMs", "must be at most maxMs.")
		}
		heavy := RouteConditions{Languages: w.Languages, MinCPUMs: w.MinCPUMs}
		if w.MinCPUMs > 0 && (!w.equal(heavy) || len(w.Languages) == 0 || !slices.Equal(rule.Runtimes, []runtimes.Name{runtimes.NodeEngine})) {
			faults.add(at+"/when/minCpuMs", "must be combined only with languages and the runtime %s, because publishing decides this rule.", runtimes.NodeEngine)
		}
		if i == len(t.Rules)-1 && (!w.equal(RouteConditions{}) || !slices.Contains(rule.Runtimes, Local)) {
			faults.add(at, "must have no conditions and the runtime %s, because it is the last rule.", Local)
		}
		if rule.Otherwise == "" {
			t.Rules[i].Otherwise = Next
		}
	}
}

func (w RouteConditions) equal(other RouteConditions) bool {
	return slices.Equal(w.Languages, other.Languages) && slices.Equal(w.Workspaces, other.Workspaces) && (w.Workspaces == nil) == (other.Workspaces == nil) &&
		w.Isolation == other.Isolation && w.LongJob == other.LongJob && w.GPU == other.GPU && w.MinMs == other.MinMs && w.MaxMs == other.MaxMs && w.MinCPUMs == other.MinCPUMs
}

// SlowMs returns the CPU time in milliseconds from which Node is chosen when a JavaScript or TypeScript program is
// published. If no rule sets this time, it is infinite.
func (t Table) SlowMs(language runtimes.Language) float64 {
	for _, rule := range t.Rules {
		if rule.When.MinCPUMs > 0 && slices.Contains(rule.When.Languages, language) {
			return rule.When.MinCPUMs
		}
	}
	return math.Inf(1)
}

// timed reports whether a rule depends on the expected duration of a run.
func (t Table) timed() bool {
	return slices.ContainsFunc(t.Rules, func(r RoutingRule) bool { return r.When.MinMs > 0 || r.When.MaxMs > 0 })
}
