package cli

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/atelier-run/atelier/studio/toolmaker"
)

type assistCommand struct {
	Tool assistToolCommand `cmd:"" help:"Find a published tool for a task. If none fits, the language model writes one as a draft."`
}

type assistToolCommand struct {
	Task        string `arg:"" help:"Task that the tool must solve, in words, for example: convert CSV to JSON."`
	Input       string `field:"inputExample" help:"A valid input as JSON, @FILE, or - for stdin. Tools that refuse this input are not used." placeholder:"JSON|@FILE|-"`
	Language    string `help:"Language of a new tool: ${enum}." enum:"python,javascript,typescript,bash" default:"python"`
	AutoPromote bool   `field:"autoPromote" help:"Publish a new tool if the gate approves it or only warns. Needs the scope approve."`
	asked
}

func (c *assistToolCommand) run(ctx context.Context, p Process) error {
	body := map[string]any{"task": c.Task, "language": c.Language, "autoPromote": c.AutoPromote}
	if c.Input != "" {
		example, err := inputOf(c.Input, p.Stdin)
		if err != nil {
			return err
		}
		body["inputExample"] = example
	}
	return c.ask(ctx, p, http.MethodPost, "/api/v1/assist/tools", body, func(answer json.RawMessage) error {
		var tool toolmaker.Tool
		if err := read(answer, &tool); err != nil {
			return err
		}
		t := newTable(p.Stdout, "FIELD", "VALUE")
		t.row("outcome", string(tool.Outcome))
		t.row("tool", toolReference(tool))
		t.row("title", tool.Title)
		t.row("reason", tool.Reason)
		return t.flush()
	})
}

// toolReference returns the reference of a tool for the output. It adds a hint if the tool must be copied before use.
func toolReference(t toolmaker.Tool) string {
	switch {
	case t.Publisher != "":
		return t.Publisher + "/" + t.Name + "@" + t.Version + " (copy it with atelier registry copy)"
	case t.Version == "":
		return t.Name + " (draft)"
	}
	return t.Name + "@" + t.Version
}
