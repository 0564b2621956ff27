package skillsapi

import (
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python/rules"
	"github.com/atelier-run/atelier/studio/agents"
)

// codeIssue is one error in code with its position, in the form of existing clients.
type codeIssue struct {
	ID          string `json:"id"`
	Severity    string `json:"severity"` // low, medium, high, critical
	Pattern     string `json:"pattern"`
	Description string `json:"description"`
	Remediation string `json:"remediation"`
	Matched     string `json:"matched"`
	Line        int    `json:"line"`
	Column      int    `json:"column"`
}

// codeReport holds the errors found in code without running it.
type codeReport struct {
	Passed bool        `json:"passed"`
	Score  float64     `json:"score"`
	Count  int         `json:"issue_count"`
	Issues []codeIssue `json:"issues"`
	Priors []string    `json:"applied_priors"`
	Steps  []string    `json:"review_steps_passed"`
}

// weights returns the weights of issues in the score, as those clients calculate it.
func weights() map[string]float64 {
	return map[string]float64{"low": 0.1, "medium": 0.25, "high": 0.5, "critical": 1}
}

// validateCode checks Python code against the rules for created skills without running it.
func (d *API) validateCode(w http.ResponseWriter, r *http.Request) {
	var q validateRequest
	if err := d.decode(w, r, "validate_code", &q); err != nil {
		d.violation(w, r, err)
		return
	}
	report, err := d.Agents.Validate(r.Context(), actor(r), agents.ValidateRequest{Language: runtimes.Python, Code: q.Code, Rules: &runtimes.Rules{Pack: runtimes.Restricted}})
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	issues, score, passed := []codeIssue{}, 1.0, true
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
	d.write(w, r, http.StatusOK, codeReport{
		Passed: passed, Score: max(0, score), Count: len(issues), Issues: issues, Priors: []string{},
		Steps: map[bool][]string{true: {"syntax", "entry", "restricted"}, false: {}}[passed],
	})
}

func issueOf(d fault.Detail, severity string) codeIssue {
	message, remedy, _ := strings.Cut(d.Message, ". ")
	return codeIssue{ID: d.Code, Severity: severity, Pattern: d.Code, Description: message, Remediation: remedy, Matched: place(d), Line: d.Line, Column: d.Column}
}

// importables lists the modules that a skill may import.
type importables struct {
	Packages []importable `json:"packages"`
	Count    int          `json:"count"`
	Note     string       `json:"note"`
}

type importable struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// packages lists the packages that skills may import under the rules. Only the standard library is installed.
func (d *API) packages(w http.ResponseWriter, r *http.Request) {
	all := []importable{}
	for _, name := range rules.Imports(runtimes.Rules{Pack: runtimes.Restricted}) {
		all = append(all, importable{name, "standard_library"})
	}
	d.write(w, r, http.StatusOK, importables{all, len(all), "Modules that created skills may import. " + nothingElse})
}

const nothingElse = "This server installs no packages. Programs have the standard library of their interpreter."

func (d *API) installedPackages(w http.ResponseWriter, r *http.Request) {
	d.write(w, r, http.StatusOK, importables{[]importable{}, 0, nothingElse})
}
