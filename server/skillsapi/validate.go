package skillsapi

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python/rules"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/policy"
)

// codeIssue is one error in code, with its position. It has the form that existing clients expect.
type codeIssue struct {
	ID          string `json:"id"`
	Severity    string `json:"severity"` // one of low, medium, high, critical
	Pattern     string `json:"pattern"`
	Description string `json:"description"`
	Remediation string `json:"remediation"`
	Matched     string `json:"matched"` // text of the code from the position to the end of the line
	Line        int    `json:"line"`
	Column      int    `json:"column"`
}

// codeReport holds the errors that were found in code without running the code.
type codeReport struct {
	Passed bool        `json:"passed"`
	Score  float64     `json:"score"`
	Count  int         `json:"issue_count"`
	Issues []codeIssue `json:"issues"`
	Priors []string    `json:"applied_priors"`
	Steps  []string    `json:"review_steps_passed"`
	// Verdict is the result of the rule packs. It is null if the gate is off.
	Verdict *registry.Verdict `json:"verdict"`
}

// weights contains the weight of an issue in the score, by severity. The existing clients calculate the score in the
// same way.
func weights() map[string]float64 {
	return map[string]float64{"low": 0.1, "medium": 0.25, "high": 0.5, "critical": 1}
}

// validateCode checks Python code against the rules for created skills. It does not run the code.
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
		issues, passed = append(issues, issueOf(e, severity, q.Code)), false
	}
	for _, e := range report.Warnings {
		issues = append(issues, issueOf(e, "low", q.Code))
	}
	for _, f := range findingsOf(report.Verdict) {
		issues = append(issues, codeIssue{
			ID: f.RuleID, Severity: string(f.Severity), Pattern: f.RuleID, Description: f.Message, Remediation: f.Remedy, Matched: matched(q.Code, f.Line, f.Column), Line: f.Line, Column: f.Column,
		})
		passed = passed && f.Severity != registry.High && f.Severity != registry.Critical
	}
	for _, i := range issues {
		score -= weights()[i.Severity]
	}
	d.write(w, r, http.StatusOK, codeReport{
		Passed: passed, Score: max(0, score), Count: len(issues), Issues: issues, Priors: []string{},
		Steps: map[bool][]string{true: {"syntax", "entry", "restricted"}, false: {}}[passed], Verdict: report.Verdict,
	})
}

// findingsOf returns the findings of the standard pack and of the workspace's own packs. It omits findings of the pack
// "restricted" and syntax errors, because the answer already contains these as errors of the code.
func findingsOf(v *registry.Verdict) []registry.Finding {
	if v == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f registry.Finding) bool {
		return strings.HasPrefix(f.RuleID, policy.Restricted+"/") || f.RuleID == "syntax"
	})
}

// prior is a rule that is relevant for a described program. It has the form that existing clients expect.
type prior struct {
	ID        string   `json:"prior_id"`
	Principle string   `json:"principle_name"`
	Severity  string   `json:"severity"`
	Mechanism string   `json:"enforcement_mechanism"`
	Languages []string `json:"languages"`
}

type priorList struct {
	Priors []prior `json:"priors"`
}

// priors lists the rules of the workspace that contain words of a description of a program. A client uses them before
// it writes the program.
func (d *API) priors(w http.ResponseWriter, r *http.Request) {
	var q priorsRequest
	if err := d.decode(w, r, "priors", &q); err != nil {
		d.violation(w, r, err)
		return
	}
	found, err := d.Policy.Fitting(r.Context(), actor(r), q.Context)
	if err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	list := priorList{Priors: []prior{}}
	for _, f := range found {
		languages := []string{}
		for _, l := range f.Language {
			languages = append(languages, string(l))
		}
		list.Priors = append(list.Priors, prior{ID: f.ID, Principle: f.Title, Severity: string(f.Severity), Mechanism: f.Remedy, Languages: languages})
	}
	d.write(w, r, http.StatusOK, list)
}

// maxMatched is the maximum length of the text in an issue, in UTF-16 units.
const maxMatched = 200

// matched returns the text of a line from the given column on. Columns are counted in UTF-16 units, as in the results
// of the inspection.
func matched(code string, line, column int) string {
	lines := strings.Split(code, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	units := utf16.Encode([]rune(lines[line-1]))
	from := min(max(column-1, 0), len(units))
	return strings.TrimSpace(string(utf16.Decode(units[from:min(len(units), from+maxMatched)])))
}

func issueOf(d fault.Detail, severity, code string) codeIssue {
	message, remedy, _ := strings.Cut(d.Message, ". ")
	return codeIssue{ID: d.Code, Severity: severity, Pattern: d.Code, Description: message, Remediation: remedy, Matched: matched(code, d.Line, d.Column), Line: d.Line, Column: d.Column}
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

// packages lists the packages that skills may import under the rules. This is only the standard library.
func (d *API) packages(w http.ResponseWriter, r *http.Request) {
	all := []importable{}
	for _, name := range rules.Imports(runtimes.Rules{Pack: runtimes.Restricted}) {
		all = append(all, importable{name, "standard_library"})
	}
	d.write(w, r, http.StatusOK, importables{all, len(all), "Modules that created skills may import. " + nothingElse})
}

const nothingElse = "Created skills can use only the standard library of their interpreter."

// installedPackages lists the packages that are installed for agents of the workspace.
func (d *API) installedPackages(w http.ResponseWriter, r *http.Request) {
	all, note := []importable{}, "No packages are installed in this workspace."
	if d.Packages != nil {
		installed, err := d.Packages.Installed(r.Context(), actor(r).Workspace)
		if err != nil {
			d.refuse(w, r, err, nil)
			return
		}
		seen := map[string]bool{}
		for _, lock := range installed {
			for _, p := range lock.Packages {
				if name := p.Name + " " + p.Version; !seen[name] {
					seen[name], note = true, "Packages of the agents of this workspace. Each version has its own exact packages."
					all = append(all, importable{name, string(lock.Ecosystem)})
				}
			}
		}
	}
	d.write(w, r, http.StatusOK, importables{all, len(all), note})
}
