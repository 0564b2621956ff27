package registry

// Bump is the part of the version number that changes between two versions, in the terms of semver.org.
type Bump string

// These are the values of Bump. NoBump means that two versions have the same documentation and behavior.
const (
	NoBump    Bump = "none"
	PatchBump Bump = "patch"
	MinorBump Bump = "minor"
	MajorBump Bump = "major"
)

// Reason is one difference between two versions, with the bump that the difference requires. Pointer is a JSON pointer
// into the newer version. If the newer version does not have that location, Pointer refers to the older version.
type Reason struct {
	Bump    Bump   `json:"bump" enum:"none,patch,minor,major"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Advice is the recommended bump for a new version, with the differences from an earlier version as reasons.
type Advice struct {
	Base    string   `json:"base" doc:"Version that the draft was compared with. Empty if there is none."`
	Bump    Bump     `json:"bump" enum:"none,patch,minor,major"`
	Version string   `json:"version" doc:"Suggested version number."`
	Reasons []Reason `json:"reasons"`
}

// Override records why a version has a smaller number than Advice recommends.
type Override struct {
	Comment string `json:"comment"`
	Advice  Advice `json:"advice"`
}
