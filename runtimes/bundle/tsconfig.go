package bundle

import (
	"bytes"
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
)

// compilerOptions returns the options of the agent's tsconfig.json that change the behaviour of a program. It omits all
// other options: they only affect type checking, or they would make esbuild search for files on disk.
func compilerOptions(files map[string][]byte) (string, []fault.Detail) {
	const none = "{}"
	text, ok := files["tsconfig.json"]
	if !ok {
		return none, nil
	}
	var config struct {
		CompilerOptions struct {
			ExperimentalDecorators  *bool `json:"experimentalDecorators,omitempty"`
			UseDefineForClassFields *bool `json:"useDefineForClassFields,omitempty"`
			AlwaysStrict            *bool `json:"alwaysStrict,omitempty"`
			Strict                  *bool `json:"strict,omitempty"`
			VerbatimModuleSyntax    *bool `json:"verbatimModuleSyntax,omitempty"`
		} `json:"compilerOptions"`
	}
	if err := json.Unmarshal(plainJSON(text), &config); err != nil {
		return none, []fault.Detail{{File: "tsconfig.json", Code: CodeConfig, Message: "tsconfig.json is not valid and was ignored: " + err.Error() + "."}}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return none, nil
	}
	return string(raw), nil
}

// plainJSON removes the comments and trailing commas that tsconfig.json may contain.
func plainJSON(text []byte) []byte {
	var out bytes.Buffer
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out.Write(text[i:end])
			i = end - 1
		case '/':
			if length, _, _ := comment(text[i:]); length > 0 {
				i += length - 1
				continue
			}
			out.WriteByte(c)
		case '}', ']':
			kept := bytes.TrimSuffix(bytes.TrimRight(out.Bytes(), " \t\r\n"), []byte{','})
			out.Truncate(len(kept))
			out.WriteByte(c)
		default:
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}
