package runtimes

// FactKind is the kind of a fact.
type FactKind string

// These are the kinds of facts.
const (
	ImportFact      FactKind = "import"        // a module that the program loads
	CallFact        FactKind = "call"          // a call of a function; With has its literal arguments
	ReferenceFact   FactKind = "reference"     // a function that the program passes on without calling it
	AttributeFact   FactKind = "attribute"     // an attribute that exposes the interpreter
	HostFact        FactKind = "host"          // host:port in a string
	AddressFact     FactKind = "address"       // an address of all network interfaces
	SubprocessFact  FactKind = "subprocess"    // a program that is started
	DynamicFact     FactKind = "dynamic"       // code or a module that is chosen at run time
	EnvironmentFact FactKind = "environment"   // an environment variable that is read; * for all of them
	FunctionFact    FactKind = "host_function" // a function of ctx
	LoopFact        FactKind = "loop"          // an endless loop without a pause
	LiteralFact     FactKind = "secret"        // a secret that is written in the source; Name is the variable
)

// FactKinds returns all kinds of facts.
func FactKinds() []FactKind {
	return []FactKind{ImportFact, CallFact, ReferenceFact, AttributeFact, HostFact, AddressFact, SubprocessFact, DynamicFact, EnvironmentFact, FunctionFact, LoopFact, LiteralFact}
}

// Fact is a statement about the source of a program, not a verdict. A parser finds it without running the program.
type Fact struct {
	Kind FactKind `json:"kind"`
	Name string   `json:"name"`
	// Literal arguments of a call; the key is the keyword, or the position from 0.
	With   map[string]string `json:"with,omitempty"`
	File   string            `json:"file"`
	Line   int               `json:"line"`
	Column int               `json:"column"`
}

// MaxFacts is the maximum number of facts about one program. Further facts are only counted.
const MaxFacts = 10_000
