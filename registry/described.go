package registry

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
)

// mostDescription is the longest description, in characters, that all model providers accept.
const mostDescription = 1024

// fewestDescription is the minimum length of a description in bytes. A shorter description cannot explain both the
// inputs and the outputs of an agent. The limit counts bytes, because some scripts need few characters.
const fewestDescription = 20

// DescriptionWarnings returns the weaknesses of an agent's description. Models read the description to decide when to
// call the agent. The warnings do not prevent publishing.
func DescriptionWarnings(name, title, description string) []fault.Detail {
	text := strings.TrimSpace(description)
	length := utf8.RuneCountInString(text)
	message := ""
	switch {
	case text == "":
		message = "is missing. Models read it to decide when to call the agent. Describe what the agent returns for which input."
	case plainText(text) == plainText(title) || plainText(text) == plainText(name):
		message = "only repeats the name. Describe what the agent returns for which input."
	case len(text) < fewestDescription:
		message = fmt.Sprintf("is short (%d characters). Describe what the agent returns for which input.", length)
	case length > mostDescription:
		message = fmt.Sprintf("has %d characters. Some models accept at most %d.", length, mostDescription)
	default:
		return nil
	}
	return []fault.Detail{{Pointer: "/description", Code: "poor_description", Message: message}}
}

// plainText converts a text to lower case and removes spaces and punctuation, for comparing a description with a name.
func plainText(s string) string {
	return strings.ToLower(strings.Trim(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" -_\t\n", r) }), " "), ".!"))
}
