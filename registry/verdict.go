package registry

import "time"

// Decision is the answer of the policy gate about a program.
type Decision string

// These are the values of Decision, from the mildest to the strictest.
const (
	Approve  Decision = "APPROVE"
	Warn     Decision = "WARN"
	Escalate Decision = "ESCALATE"
	Block    Decision = "BLOCK"
)

// Severity says how dangerous a finding is.
type Severity string

// These are the values of Severity, lowest first.
const (
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Severities returns all severities, lowest first.
func Severities() []Severity { return []Severity{Low, Medium, High, Critical} }

// Verdict is the answer of the policy gate about one program, with the reasons.
type Verdict struct {
	Decision          Decision           `json:"verdict" enum:"APPROVE,WARN,ESCALATE,BLOCK"`
	Score             float64            `json:"score" doc:"1 minus the weights of the findings, at least 0."`
	Findings          []Finding          `json:"findings"`
	MoreFindings      int                `json:"moreFindings,omitempty" doc:"Number of findings that are not listed."`
	CapabilityChanges []CapabilityChange `json:"capabilityChanges" doc:"Capabilities that the previous version did not have."`
	MissingFlags      []string           `json:"missingFlags,omitempty" doc:"Safety flags that the program needs because of its grants and its code, but does not declare."`
	RulePack          string             `json:"rulePack" doc:"Names of the rule packs, separated by +."`
	PolicyVersion     string             `json:"policyVersion" doc:"Digest of the rules and thresholds."`
}

// Finding is a location in a program to which a rule of the policy gate applies.
type Finding struct {
	RuleID   string   `json:"ruleId"`
	Severity Severity `json:"severity" enum:"low,medium,high,critical"`
	Weight   float64  `json:"weight"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy,omitempty"`
	Count    int      `json:"count,omitempty" doc:"Number of occurrences, if more than one. The position is that of the first."`
}

// CapabilityChange is a capability of a version that the previous version did not have.
type CapabilityChange struct {
	Kind    string `json:"kind" enum:"host,hostFunction,tool,files,write,subprocess,processes,secret,import,dynamic,environment"`
	Name    string `json:"name"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message" doc:"Description, for example: newly reaches api.example.com:443 (main.py:12)."`
}

// GateMode says how a workspace uses the policy gate.
type GateMode string

// These are the values of GateMode.
const (
	GateOff     GateMode = "off"
	GateAdvise  GateMode = "advise"
	GateEnforce GateMode = "enforce"
)

// GateSettings holds the settings of the policy gate in a workspace.
type GateSettings struct {
	Gate           GateMode `json:"gate" enum:"off,advise,enforce" doc:"off: there are no verdicts. advise: verdicts are shown, and BLOCK prevents publishing. enforce: ESCALATE also requires an approval."`
	Packs          []string `json:"packs" maxItems:"20" doc:"Names of the rule packs that apply to every program."`
	DisabledRules  []string `json:"disabledRules" maxItems:"500" doc:"IDs of rules that are turned off."`
	BlockAt        Severity `json:"blockAt" enum:"low,medium,high,critical" doc:"A finding of this severity or a higher one blocks."`
	EscalateAt     Severity `json:"escalateAt" enum:"low,medium,high,critical" doc:"A finding of this severity or a higher one escalates."`
	NewCapability  string   `json:"newCapability" enum:"escalate,warn" doc:"Verdict on a capability that the previous version did not have."`
	SelfApproval   bool     `json:"selfApproval" doc:"true if people may approve their own requests."`
	ApprovalHours  int      `json:"approvalHours" minimum:"1" maximum:"8760" doc:"Hours after which an undecided request expires."`
	ApproveEffects bool     `json:"approveSideEffects" doc:"true if each run of a version with the flag side_effect requires an approval."`
	Revision       int64    `json:"revision,omitempty" minimum:"1" doc:"Increases with each change. A change that contains an old revision is refused with conflict. A change without a revision replaces the stored settings in any case."`
}

// RulePack is a set of policy rules of a workspace, in the form in which its author wrote it.
type RulePack struct {
	Workspace string    `json:"-"`
	Name      string    `json:"name"`
	Source    string    `json:"source" doc:"YAML source of the pack."`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy"`
}
