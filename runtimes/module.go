package runtimes

// Module describes a WebAssembly module.
type Module struct {
	Bytes   int              `json:"bytes"`
	Imports []ModuleFunction `json:"imports"`
	Exports []ModuleFunction `json:"exports"`
}

// ModuleFunction is a function that a module imports or exports.
type ModuleFunction struct {
	Module string `json:"module,omitempty"` // name of the module that provides an imported function
	Name   string `json:"name"`
	Type   string `json:"type" doc:"Parameters and results, for example (i32, i32) -> (i32)."`
}
