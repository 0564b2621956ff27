package skills

import (
	"path"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// entryName is the name of the generated file that calls the handler's function. The server stores this file with the
// skill. So every runtime can run a skill like any other program, and the digest covers all code that runs.
const entryName = "skill_entry"

func entryFile(l runtimes.Language) string {
	for _, known := range languages() {
		if known.language == l {
			return entryName + known.suffix
		}
	}
	return entryName
}

// IsEntry reports whether a file has the name of the generated file. That file does not exist in the skill's folder.
func IsEntry(name string) bool { return strings.TrimSuffix(name, path.Ext(name)) == entryName }

// These templates contain the code that calls the handler. The names that they insert were checked to be identifiers,
// so no other text can become part of the program.
const (
	pythonCaller = `# Made from skill.yaml: calls the handler with the input's properties as keyword arguments.
from .MODULE import FUNCTION as _function


def main(**_properties):
    return _function(**_properties)
`
	scriptCaller = `// Made from skill.yaml: calls the handler with the input, an object of its properties, and ctx.
import { FUNCTION as handler } from "./FILE";

export default (inputANY, ctxANY) => handler(input, ctx);
`
	bashCaller = `# Made from skill.yaml: calls the handler, a function of FILE, with the input on stdin.
. ./FILE || exit
if ! declare -F FUNCTION >/dev/null; then
  echo "FILE has no function FUNCTION, which skill.yaml names" >&2
  exit 127
fi
FUNCTION
`
)

// caller returns the content of the generated file, which calls a function of the handler.
func caller(l runtimes.Language, file, function string) registry.File {
	module := strings.TrimSuffix(file, path.Ext(file))
	text, types := scriptCaller, ""
	switch l {
	case runtimes.Python:
		text, module = pythonCaller, strings.ReplaceAll(module, "/", ".")
	case runtimes.Bash:
		text = bashCaller
	case runtimes.TypeScript:
		types, file = ": any", module
	case runtimes.JavaScript:
	}
	return registry.File(strings.NewReplacer("MODULE", module, "FUNCTION", function, "FILE", file, "ANY", types).Replace(text))
}
