package inspect

import (
	"context"
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// scriptName is the name of a formatted script in its sandbox.
const scriptName = "main.sh"

// Format formats a Bash script with the given number of spaces per indentation level. If the script has a syntax error,
// Format returns that error.
func (i *Inspector) Format(ctx context.Context, script string, indent int) (string, []fault.Detail, error) {
	files := map[string][]byte{scriptName: []byte(script)}
	req := Request{Language: runtimes.Bash, Files: files, Entrypoint: scriptName}
	outcome, err := i.parsers.Run(ctx, worker.Task{
		Job:     runtimes.Job{RunID: "format", Workspace: shared, Language: req.Language, Files: files, Entrypoint: scriptName, Limits: limits()},
		Payload: guest.Job{Language: req.Language, Files: files, Entrypoint: scriptName, Indent: uint(max(1, indent))},
		Death:   death,
	}, silent{})
	report, err := read(ctx, outcome, err, req)
	if err != nil || len(report.Errors) > 0 {
		return "", report.Errors, err
	}
	var found guest.Report
	if err := json.Unmarshal(outcome.Output, &found); err != nil {
		return "", nil, &fault.Error{Code: fault.Internal, Message: "The script could not be formatted.", Err: err}
	}
	return found.Text, nil, nil
}
