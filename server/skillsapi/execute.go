package skillsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/pyhash"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/skills"
)

// executionResult is the answer to POST /skills/execute. A failed run is a normal answer with success false.
type executionResult struct {
	ExecutionID     string          `json:"execution_id"` // ID of the run; "" if the call was refused, because then there is no run
	Skill           string          `json:"skill"`
	Result          json.RawMessage `json:"result"`
	Logs            []executionLog  `json:"logs"`
	InputsHash      string          `json:"inputs_hash"`
	OutputsHash     string          `json:"outputs_hash"`
	Provenance      skillProvenance `json:"provenance"`
	ExecutionTimeMs float64         `json:"execution_time_ms"`
	Success         bool            `json:"success"`
}

type executionLog struct {
	Timestamp time.Time      `json:"timestamp"`
	Level     string         `json:"level"`
	Message   string         `json:"message"`
	Context   map[string]any `json:"context" nullable:"true"`
}

type skillProvenance struct {
	ExecutionID     string    `json:"execution_id"`
	SkillName       string    `json:"skill_name"`
	SkillVersion    string    `json:"skill_version"`
	ActorID         *string   `json:"actor_id"`
	ActorType       *string   `json:"actor_type"`
	InputsHash      string    `json:"inputs_hash"`
	OutputsHash     string    `json:"outputs_hash"`
	ToolIDs         []string  `json:"tool_ids"`
	Timestamp       time.Time `json:"timestamp"`
	ExecutionTimeMs float64   `json:"execution_time_ms"`
	Success         bool      `json:"success"`
	ErrorMessage    *string   `json:"error_message"`
}

// unknownVersion is the version in the answer if a call failed before a version was found.
const unknownVersion = "unknown"

func (d *API) execute(w http.ResponseWriter, r *http.Request) {
	var request executeRequest
	if err := d.decode(w, r, "execute", &request); err != nil {
		d.refuse(w, r, err, outOfContract(err))
		return
	}
	if err := checkIDs(request); err != nil {
		d.refuse(w, r, err, outOfContract(err))
		return
	}
	began := d.Now()
	run, version, err := d.waited(r.Context(), actor(r), request)
	if run.ID == "" && err == nil {
		run, version, err = d.Skills.Run(r.Context(), actor(r), skills.Call{
			Name: request.Skill, Args: request.Args, RequestID: text(request.RequestID), Claimed: registry.Claim{ID: text(request.ActorID), Type: text(request.ActorType)},
		})
	}
	if err != nil && !aboutTheCall(err) {
		d.refuse(w, r, err, nil)
		return
	}
	answer, hashErr := d.resultOf(request, run, version, err, began)
	if hashErr != nil {
		d.refuse(w, r, hashErr, nil)
		return
	}
	d.write(w, r, http.StatusOK, answer)
}

// maxID is the maximum length of an ID that a client chooses. Such an ID is stored with the run.
const maxID = 200

// checkIDs rejects IDs that the database could not store.
func checkIDs(request executeRequest) error {
	for field, id := range map[string]*string{"/request_id": request.RequestID, "/actor_id": request.ActorID, "/actor_type": request.ActorType} {
		if len(text(id)) > maxID {
			return fault.Invalid(field, "must have at most %d bytes.", maxID)
		}
		if err := registry.CheckText(field, text(id)); err != nil {
			return err
		}
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// waited returns the run and the version of an earlier call with the same request_id, if that call had to wait for an
// approval. Otherwise it returns zero values.
func (d *API) waited(ctx context.Context, actor registry.Actor, request executeRequest) (registry.Run, registry.Version, error) {
	id, err := d.Approvals.RunOfRequest(ctx, actor, text(request.RequestID))
	if id == "" || err != nil {
		return registry.Run{}, registry.Version{}, err
	}
	run, err := d.Runs.Get(ctx, actor, id)
	if fault.Is(err, fault.NotFound) {
		return registry.Run{}, registry.Version{}, nil
	}
	return run, registry.Version{Agent: run.Agent, Version: run.Version}, err
}

// approvalRequired returns the error for a call whose run waits for the approval of a person.
const approvalRequired = "approval required"

// aboutTheCall reports whether the request causes an error, and not the current state of the server. Clients expect an
// error of the request as a result, and retry after all other errors.
func aboutTheCall(err error) bool {
	switch fault.CodeOf(err) { //nolint:exhaustive // errors with other codes are about the server
	case fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.Forbidden, fault.BadRequest:
		return true
	}
	return false
}

func (d *API) resultOf(request executeRequest, run registry.Run, version registry.Version, err error, began time.Time) (executionResult, error) {
	now := d.Now().UTC().Truncate(time.Microsecond) // Truncate the time to the number of digits that these clients read.
	inputs, hashErr := pyhash.Sum(request.Args)
	if hashErr != nil {
		return executionResult{}, hashErr
	}
	id, took, at := run.ID, run.Metrics.TotalMs, run.CreatedAt
	claimed := [2]*string{request.ActorID, request.ActorType}
	if id == "" { // A call that was refused creates no run.
		took, at = float64(now.Sub(began).Microseconds())/1000, now
	} else if claimed[0] == nil && claimed[1] == nil {
		kind := string(run.Actor.Type)
		claimed = [2]*string{&run.Actor.ID, &kind}
	}
	answer := executionResult{ExecutionID: id, Skill: request.Skill, Result: json.RawMessage("null"), InputsHash: inputs, ExecutionTimeMs: took}
	answer.Provenance = skillProvenance{
		ExecutionID: id, SkillName: request.Skill, SkillVersion: unknownVersion, ActorID: claimed[0], ActorType: claimed[1],
		InputsHash: inputs, ToolIDs: []string{}, Timestamp: at.UTC().Truncate(time.Microsecond), ExecutionTimeMs: took,
	}
	log := logbook{at: began.UTC().Truncate(time.Microsecond)}
	if why := failure(request.Skill, run, err); why != "" {
		log.add("INFO", "Validating inputs for "+request.Skill)
		log.program(run)
		log.at = now
		log.add("ERROR", "Execution failed: "+why)
		answer.Logs, answer.Provenance.ErrorMessage = log.entries, &why
		return answer, nil
	}
	answer.Result = run.Output
	if len(answer.Result) == 0 {
		answer.Result = json.RawMessage("null")
	}
	if answer.OutputsHash, hashErr = pyhash.Sum(answer.Result); hashErr != nil {
		return executionResult{}, hashErr
	}
	answer.Success, answer.Provenance.Success = true, true
	answer.Provenance.SkillVersion, answer.Provenance.OutputsHash = version.Version, answer.OutputsHash
	log.add("INFO", "Validating inputs for "+request.Skill)
	log.add("INFO", fmt.Sprintf("Input hash: %s...", inputs[:16]))
	log.add("INFO", "Executing skill: "+request.Skill)
	log.program(run)
	log.at = now
	log.add("INFO", "Validating outputs")
	log.add("INFO", fmt.Sprintf("Output hash: %s...", answer.OutputsHash[:16]))
	log.add("INFO", fmt.Sprintf("Execution completed in %.2fms", took))
	answer.Logs = log.entries
	return answer, nil
}

// failure returns the reason why a call failed, in the wording of these services. If the call succeeded, it returns "".
func failure(skill string, run registry.Run, err error) string {
	var f *fault.Error
	switch {
	case errors.As(err, &f) && f.Code == fault.InvalidInput:
		text := "Input validation failed for " + skill + ":"
		for _, e := range f.Details {
			text += " " + strings.TrimSpace(strings.TrimPrefix(e.Pointer, "/input")+" "+e.Message) + ";"
		}
		return strings.TrimSuffix(text, ";")
	case errors.As(err, &f):
		return f.Message
	case run.Status == registry.AwaitingApproval:
		return approvalRequired
	case run.ID != "" && !run.Status.Final():
		return "The run was approved and has not finished. Repeat the call with the same request_id."
	case run.Error == nil:
		return ""
	}
	switch run.Error.Type {
	case runtimes.Timeout:
		return "Execution exceeded timeout: " + run.Error.Message
	case runtimes.InvalidInput:
		text := "Input validation failed for " + skill + ":"
		for _, e := range run.Error.Errors {
			text += " " + strings.TrimSpace(strings.TrimPrefix(e.Pointer, "/input")+" "+e.Message) + ";"
		}
		return strings.TrimSuffix(text, ";")
	case runtimes.InvalidOutput:
		return "Output validation failed for " + skill + ": " + run.Error.Message
	}
	return "Handler execution failed: " + run.Error.Message
}

// logbook collects the log lines of one call.
type logbook struct {
	at      time.Time
	entries []executionLog
}

func (l *logbook) add(level, message string) {
	l.entries = append(l.entries, executionLog{Timestamp: l.at, Level: level, Message: message})
}

// mostLines is the maximum number of lines of a program's output that the answer contains. The stored run may contain
// more.
const mostLines = 200

// program adds the output of the program.
func (l *logbook) program(run registry.Run) {
	for _, s := range []struct{ name, level, text string }{{"stdout", "INFO", run.Stdout}, {"stderr", "WARNING", run.Stderr}} {
		lines := strings.Split(strings.TrimRight(s.text, "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-mostLines):] {
			if line != "" {
				l.entries = append(l.entries, executionLog{Timestamp: l.at, Level: s.level, Message: line, Context: map[string]any{"stream": s.name}})
			}
		}
	}
}
