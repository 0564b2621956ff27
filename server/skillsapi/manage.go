package skillsapi

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/skills"
)

// skillInstallation is a skill in the form that skill managers expect.
type skillInstallation struct {
	Success     bool            `json:"success"`
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Digest      string          `json:"digest"`
	Description string          `json:"description"`
	Origin      string          `json:"origin"`
	Source      string          `json:"source"`
	State       string          `json:"state"`
	Tags        []string        `json:"tags"`
	InstalledAt *time.Time      `json:"installed_at"`
	InstalledBy string          `json:"installed_by"`
	Missing     bool            `json:"folder_missing"`
	Claims      json.RawMessage `json:"control_decision"` // client's decision as the client sent it; the server did not use it
	Error       *skills.Trouble `json:"error"`
}

func installationOf(e skills.Entry) skillInstallation {
	i := skillInstallation{
		Success: e.Problem == nil, Name: e.Name, Description: e.Description, Origin: string(e.Origin), Source: e.Source, State: skills.State(e), Tags: e.Tags,
		InstalledBy: e.Installer.Name, Missing: e.Missing, Claims: e.Claims, Error: e.Problem,
	}
	if len(i.Claims) == 0 {
		i.Claims = json.RawMessage("null")
	}
	if !e.InstalledAt.IsZero() {
		i.InstalledAt = &e.InstalledAt
	}
	if e.Version != nil {
		i.Version, i.Digest = e.Version.Version, e.Version.Digest
	}
	return i
}

// installedSkills lists skills that have a version, and skills that have a pending draft. A skill may be in both lists.
type installedSkills struct {
	Skills []skillInstallation `json:"skills"`
	Drafts []skillInstallation `json:"drafts"`
	Count  int                 `json:"count"`
}

func (d *API) installed(w http.ResponseWriter, r *http.Request) {
	entries, err := d.Skills.List(r.Context(), actor(r))
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	active, drafts := []skillInstallation{}, []skillInstallation{}
	for _, e := range entries {
		i := installationOf(e)
		if e.Drafted {
			drafts = append(drafts, i)
		}
		if e.Version != nil || !e.Drafted {
			active = append(active, i)
		}
	}
	d.write(w, r, http.StatusOK, installedSkills{Skills: active, Drafts: drafts, Count: len(active)})
}

// violation handles a body that does not match its contract. It answers with Bad Request, because these clients expect
// this status.
func (d *API) violation(w http.ResponseWriter, r *http.Request, err error) {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.InvalidInput {
		text := "Contract Violation:"
		for _, e := range f.Details {
			text += " " + strings.TrimSpace(e.Pointer+" "+e.Message) + ";"
		}
		err = &fault.Error{Code: fault.BadRequest, Message: strings.TrimSuffix(text, ";"), Details: f.Details}
		d.refuse(w, r, err, strings.TrimSuffix(text, ";"))
		return
	}
	d.refuse(w, r, err, nil)
}

func (d *API) register(w http.ResponseWriter, r *http.Request) {
	var q registerRequest
	if err := d.decode(w, r, "register", &q); err != nil {
		d.refuse(w, r, err, outOfContract(err))
		return
	}
	program := q.Files
	if q.Code != "" {
		if len(q.Files) > 0 {
			d.refuse(w, r, fault.Invalid("/code", "must not be combined with files."), nil)
			return
		}
		module := q.HandlerPath
		if at := strings.LastIndexByte(module, '.'); at >= 0 {
			module = module[:at]
		}
		program = map[string]registry.File{strings.ReplaceAll(module, ".", "/") + ".py": registry.File(q.Code)}
	}
	settings := folders.Settings{
		Name: q.Name, Version: q.Version, Description: q.Description, Handler: q.HandlerPath, SafetyFlags: q.SafetyFlags, RequiresApproval: q.RequiresApproval, Tags: q.Tags,
	}
	e, err := d.Skills.Register(r.Context(), actor(r), settings, q.InputSchema, q.OutputSchema, program)
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	d.write(w, r, http.StatusCreated, metadataOf(e))
}

// skillVerdict is the answer to POST /v1/skills/create.
type skillVerdict struct {
	Action       string             `json:"action"` // one of approve, warn, block
	Passed       bool               `json:"passed"`
	Reason       string             `json:"reason"`
	Warnings     []string           `json:"warnings"`
	Errors       []fault.Detail     `json:"errors"`
	Promoted     bool               `json:"promoted"`
	Installation *skillInstallation `json:"installation"`
	Verdict      *registry.Verdict  `json:"verdict"` // verdict of the gate; null if there is no draft
	Success      bool               `json:"success"` // false if the code is blocked; a draft with the code may be stored nevertheless
	Error        *string            `json:"error"`
	ErrorType    *string            `json:"error_type"` // rejected_by_authority if the client's own decision rejects the code
}

// decisionOf returns the action in the client's control_decision, or "" if there is none.
func decisionOf(q createRequest) (string, error) {
	var decision struct {
		Action *string `json:"action"`
		Reason string  `json:"reason"`
	}
	if len(q.ControlDecision) == 0 || string(q.ControlDecision) == "null" {
		return "", nil
	}
	if err := json.Unmarshal(q.ControlDecision, &decision); err != nil {
		return "", fault.Invalid("/control_decision", "must have action and reason as texts.")
	}
	if decision.Action == nil {
		return "", nil
	}
	switch action := strings.ToLower(*decision.Action); action {
	case "approve", "warn", "block", "escalate":
		return action, nil
	}
	return "", fault.Invalid("/control_decision/action", "must be approve, warn, block or escalate.")
}

// rejected answers a request to create a skill that the client's own decision blocks. Nothing is stored.
func rejected() skillVerdict {
	message, kind := "The control_decision blocks this skill.", "rejected_by_authority"
	return skillVerdict{Action: "block", Reason: message, Warnings: []string{}, Errors: []fault.Detail{}, Error: &message, ErrorType: &kind}
}

func (d *API) create(w http.ResponseWriter, r *http.Request) {
	var q createRequest
	err := d.decode(w, r, "create", &q)
	if err == nil && (q.Code == "") == (q.Script == "") {
		err = fault.Invalid("/script", "is required; set either script or code.")
	}
	if err == nil {
		err = registry.CheckText("/description", q.Description)
	}
	var decision string
	if err == nil {
		decision, err = decisionOf(q)
	}
	if err != nil {
		d.violation(w, r, err)
		return
	}
	if decision == "block" {
		d.write(w, r, http.StatusOK, rejected())
		return
	}
	claims, err := claimsOf(q)
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	promote := q.AutoPromote && decision != "escalate" && gate.Require(r.Context(), registry.ApproveScope) == nil
	created, err := d.Skills.Create(r.Context(), actor(r), skills.Creation{
		Name: q.Name, Description: q.Description, Code: q.Code + q.Script, Triggers: q.Triggers, DefaultParams: q.DefaultParams, Claims: claims, Promote: promote, Seen: registry.SeenRevision(q.Revision),
	})
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.InvalidInput {
		d.write(w, r, http.StatusOK, skillVerdict{Action: "block", Reason: sentence(d.Problems.Describe(r.Context(), err)), Warnings: []string{}, Errors: orNone(f.Details)})
		return
	}
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	i := installationOf(created.Entry)
	answer := skillVerdict{Success: true, Action: "approve", Passed: true, Promoted: created.Promoted, Warnings: []string{}, Errors: []fault.Detail{}, Installation: &i,
		Reason: "All checks passed. The skill is a draft until somebody with the scope approve promotes it with POST /v1/skills/promote."}
	switch {
	case decision == "escalate":
		answer.Reason = "All checks passed. The action of control_decision is escalate, so the skill stays a draft until somebody with the scope approve promotes it with POST /v1/skills/promote."
	case created.Promoted:
		answer.Reason = "All checks passed. The skill is active."
	case created.Refused != nil:
		answer.Action, answer.Passed, answer.Errors = "warn", false, orNone(created.Refused.Details)
		answer.Reason = "The draft was saved but not promoted. " + sentence(d.Problems.Describe(r.Context(), created.Refused))
	}
	answer.Verdict = &created.Verdict
	for _, f := range created.Verdict.Findings {
		answer.Warnings = append(answer.Warnings, place(fault.Detail{File: f.File, Line: f.Line})+f.Message+" "+f.Remedy)
		if answer.Action == "approve" {
			answer.Action = "warn"
		}
	}
	if created.Blocked {
		answer.Action, answer.Success = "block", false
	}
	for _, warning := range created.Warnings {
		if answer.Action != "block" {
			answer.Action = "warn"
		}
		answer.Warnings = append(answer.Warnings, place(warning)+warning.Message)
	}
	d.write(w, r, http.StatusOK, answer)
}

// claimsOf returns the client's statements about the quality of its code as one object.
func claimsOf(q createRequest) (json.RawMessage, error) {
	said := map[string]any{}
	if len(q.ControlDecision) > 0 && string(q.ControlDecision) != "null" {
		said["control_decision"] = q.ControlDecision
	}
	if q.ValidationScore != nil {
		said["validation_score"] = *q.ValidationScore
	}
	if q.PreferredModel != nil {
		said["preferred_model"] = *q.PreferredModel
	}
	if q.GapQuestion != nil {
		said["gap_question"] = *q.GapQuestion
	}
	if len(q.GapPatterns) > 0 {
		said["gap_patterns"] = q.GapPatterns
	}
	if len(said) == 0 {
		return nil, nil
	}
	return json.Marshal(said)
}

func (d *API) run(w http.ResponseWriter, r *http.Request) {
	var q runRequest
	if err := d.decode(w, r, "run", &q); err != nil {
		d.violation(w, r, err)
		return
	}
	if len(q.Args) == 0 {
		q.Args = json.RawMessage("{}")
	}
	began := d.Now()
	run, _, err := d.Skills.Run(r.Context(), actor(r), skills.Call{Name: q.Name, Args: q.Args, Action: q.Action, ByAction: true})
	if err != nil && !aboutTheCall(err) {
		d.refuse(w, r, err, nil)
		return
	}
	answer := skillRun{Result: json.RawMessage("null"), ExecutionTimeMs: float64(d.Now().Sub(began).Microseconds()) / 1000, Violations: []string{}}
	if why := failure(q.Name, run, err); why != "" {
		answer.Error = &why
	} else {
		answer.Success = true
		if len(run.Output) > 0 {
			answer.Result = run.Output
		}
	}
	if run.Error != nil && run.Error.Type == runtimes.Denied {
		answer.Violations = append(answer.Violations, strings.TrimSpace(run.Error.Message+" "+run.Error.Remedy))
	}
	d.write(w, r, http.StatusOK, answer)
}

// skillRun is the answer to POST /v1/skills/run.
type skillRun struct {
	Success         bool            `json:"success"`
	Result          json.RawMessage `json:"result"`
	Error           *string         `json:"error"`
	ExecutionTimeMs float64         `json:"execution_time_ms"`
	Violations      []string        `json:"sandbox_violations"`
}

func (d *API) install(w http.ResponseWriter, r *http.Request) {
	from, err := d.source(w, r)
	if err != nil {
		d.violation(w, r, err)
		return
	}
	e, err := d.Skills.Install(r.Context(), actor(r), from)
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	d.write(w, r, http.StatusOK, installationOf(e))
}

// source reads the source from which a skill is installed. This is either an archive, which is used unchanged, or a
// request that matches the contract.
func (d *API) source(w http.ResponseWriter, r *http.Request) (skills.Source, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && (kind == "application/gzip" || kind == "application/x-gzip") {
		archive, err := gate.Whole(w, r, folders.MaxArchive)
		if err == nil && len(archive) == 0 {
			err = fault.New(fault.BadRequest, "The archive is empty.")
		}
		return skills.Source{Archive: archive}, err
	}
	var q installRequest
	if err := d.decode(w, r, "install", &q); err != nil {
		return skills.Source{}, err
	}
	given := 0
	for _, is := range []bool{q.Name != "", q.URL != "", len(q.Files) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return skills.Source{}, fault.Invalid("", "Set exactly one of name, url and files, or send a .tar.gz as application/gzip.")
	}
	return skills.Source{Name: q.Name, URL: q.URL, Files: q.Files}, nil
}

type skillUninstalled struct {
	Success bool   `json:"success"`
	Name    string `json:"name"`
}

func (d *API) uninstall(w http.ResponseWriter, r *http.Request) {
	var q uninstallRequest
	if err := d.decode(w, r, "uninstall", &q); err != nil {
		d.violation(w, r, err)
		return
	}
	if err := d.Skills.Uninstall(r.Context(), actor(r), q.Name, q.Force); err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	d.write(w, r, http.StatusOK, skillUninstalled{true, q.Name})
}

// skillPromotion describes the version that was created from a draft.
type skillPromotion struct {
	Success   bool   `json:"success"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Digest    string `json:"digest"`
	Reference string `json:"reference"`
}

func (d *API) promote(w http.ResponseWriter, r *http.Request) {
	var q promoteRequest
	if err := d.decode(w, r, "promote", &q); err != nil {
		d.violation(w, r, err)
		return
	}
	v, err := d.Skills.Promote(r.Context(), actor(r), skills.Promotion{Name: q.Name, Seen: registry.SeenRevision(q.Revision), Version: q.Version, Changelog: q.Changelog, Comment: q.Comment})
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	d.write(w, r, http.StatusOK, skillPromotion{true, v.Agent, v.Version, v.Digest, v.Reference()})
}
