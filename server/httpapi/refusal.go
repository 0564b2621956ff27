package httpapi

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/problem"
)

// refuse turns the framework's own error answers into ours: pointers instead of paths, and no values.
func refuse(ctx huma.Context, _ string, answer any) (any, error) {
	model, ok := answer.(*huma.ErrorModel)
	if !ok {
		return answer, nil
	}
	var body any
	if raw, ok := ctx.Context().Value(bodyKey{}).([]byte); ok && len(raw) > 0 {
		_ = json.Unmarshal(raw, &body) // was checked when it was read
	}
	var details []fault.Detail
	for _, e := range model.Errors {
		if e != nil {
			details = append(details, detail(*e, body))
		}
	}
	if len(details) == 0 && model.Detail != "" {
		details = []fault.Detail{{Message: model.Detail}}
	}
	return problem.Of(problem.FromStatus(model.Status, details)), nil
}

// detail says what is wrong where. The framework's location is body.limits.timeoutMs, query.limit or path.run.
func detail(e huma.ErrorDetail, body any) fault.Detail {
	where, rest, _ := strings.Cut(e.Location, ".")
	if where != "body" {
		return fault.Detail{Message: strings.TrimSpace(where + " " + rest + ": " + e.Message)}
	}
	if e.Value != nil && rest == "" && strings.Contains(e.Message, "json:") {
		return fault.Detail{Message: "has a value that its field cannot hold"} // a decoder's sentence repeats the value
	}
	at := pointer(rest, body)
	if name, ok := strings.CutPrefix(e.Message, "expected required property "); ok {
		return fault.Detail{Pointer: at + "/" + token(strings.TrimSuffix(name, " to be present")), Message: "is required"}
	}
	return fault.Detail{Pointer: at, Message: e.Message}
}

// pointer makes an RFC 6901 pointer of a path such as files.lib/main.ts or items[3].name. A dot may also be part of a
// property's name, which only the body can tell: the longest property that fits is taken.
func pointer(path string, body any) string {
	var out strings.Builder
	for path != "" {
		if index, rest, ok := element(path); ok {
			out.WriteString("/" + index)
			path, body = strings.TrimPrefix(rest, "."), at(body, index)
			continue
		}
		name := property(path, body)
		out.WriteString("/" + token(name))
		path = strings.TrimPrefix(path[len(name):], ".")
		if object, ok := body.(map[string]any); ok {
			body = object[name]
		} else {
			body = nil
		}
	}
	return out.String()
}

// element splits "[3].name".
func element(path string) (index, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		return "", "", false
	}
	index, rest, ok = strings.Cut(path[1:], "]")
	return index, rest, ok && index != ""
}

func at(body any, index string) any {
	list, _ := body.([]any)
	n := 0
	for _, c := range index {
		if c < '0' || c > '9' || n > len(list) {
			return nil
		}
		n = n*10 + int(c-'0')
	}
	if n >= len(list) {
		return nil
	}
	return list[n]
}

// property is the name that path starts with.
func property(path string, body any) string {
	best := ""
	if object, ok := body.(map[string]any); ok {
		for name := range object {
			rest, fits := strings.CutPrefix(path, name)
			if fits && len(name) > len(best) && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				best = name
			}
		}
	}
	if best != "" {
		return best
	}
	if end := strings.IndexAny(path, ".["); end > 0 {
		return path[:end]
	}
	return path
}

func token(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
