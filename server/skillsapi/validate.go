package skillsapi

import (
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python/rules"
	"github.com/atelier-run/atelier/studio/agents"
)

// issue is one thing that is wrong with code, in the form of existing clients, with its place.
type issue struct {
	ID          string `json:"id"`
	Severity    string `json:"severity"` // low, medium, high, critical
	Pattern     string `json:"pattern"`
	Description string `json:"description"`
	Remediation string `json:"remediation"`
	Matched     string `json:"matched"`
	Line        int    `json:"line"`
	Column      int    `json:"column"`
}

// weights make a score of issues, as those clients reckon it.
func weights() map[string]float64 {
	return map[string]float64{"low": 0.1, "medium": 0.25, "high": 0.5, "critical": 1}
}

// validateCode checks Python against the rules that created skills keep. It runs nothing.
func (d *Door) validateCode(w http.ResponseWriter, r *http.Request) {
	var q validateRequest
	if err := d.take(w, r, "validate_code", &q); err != nil {
		d.violation(w, r, err)
		return
	}
	report, err := d.Agents.Validate(r.Context(), actor(r), agents.ValidateRequest{Language: runtimes.Python, Code: q.Code, Rules: &runtimes.Rules{Pack: runtimes.Restricted}})
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	issues, score, passed := []issue{}, 1.0, true
	for _, e := range report.Errors {
		severity := "critical"
		if strings.HasPrefix(e.Code, "restricted_") {
			severity = "high"
		}
		issues, passed = append(issues, issueOf(e, severity)), false
	}
	for _, e := range report.Warnings {
		issues = append(issues, issueOf(e, "low"))
	}
	for _, i := range issues {
		score -= weights()[i.Severity]
	}
	d.write(w, r, http.StatusOK, map[string]any{
		"passed": passed, "score": max(0, score), "issue_count": len(issues), "issues": issues, "applied_priors": []string{},
		"review_steps_passed": map[bool][]string{true: {"syntax", "entry", "restricted"}, false: {}}[passed],
	})
}

func issueOf(d fault.Detail, severity string) issue {
	message, remedy, _ := strings.Cut(d.Message, ". ")
	return issue{ID: d.Code, Severity: severity, Pattern: d.Code, Description: message, Remediation: remedy, Matched: place(d), Line: d.Line, Column: d.Column}
}

// packages lists what skills under the rules may import. Nothing is installed beside the standard library.
func (d *Door) packages(w http.ResponseWriter, r *http.Request) {
	all := []map[string]any{}
	for _, name := range rules.Imports(runtimes.Rules{Pack: runtimes.Restricted}) {
		all = append(all, map[string]any{"name": name, "source": "standard_library"})
	}
	d.write(w, r, http.StatusOK, map[string]any{"packages": all, "count": len(all), "note": "Modules that created skills may import. " + nothingElse})
}

const nothingElse = "This server installs no packages: programs have the standard library of their interpreter."

func (d *Door) installedPackages(w http.ResponseWriter, r *http.Request) {
	d.write(w, r, http.StatusOK, map[string]any{"packages": []string{}, "count": 0, "note": nothingElse})
}
