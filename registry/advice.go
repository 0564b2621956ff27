package registry

// Bump is how far a version is from the one before, as semver.org has it.
type Bump string

// The bumps. NoBump is between two versions that say and do the same.
const (
	NoBump    Bump = "none"
	PatchBump Bump = "patch"
	MinorBump Bump = "minor"
	MajorBump Bump = "major"
)

// Reason is one difference between two versions, and the bump that it asks for. Pointer leads into the newer version, or
// into the older one where the newer has no such place.
type Reason struct {
	Bump    Bump   `json:"bump" enum:"none,patch,minor,major"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Advice is what the differences to an earlier version ask for.
type Advice struct {
	Base    string   `json:"base" doc:"Version that the draft was compared with. Empty if there is none."`
	Bump    Bump     `json:"bump" enum:"none,patch,minor,major"`
	Version string   `json:"version" doc:"Suggested version number."`
	Reasons []Reason `json:"reasons"`
}

// Override is why a version has a smaller number than was advised.
type Override struct {
	Comment string `json:"comment"`
	Advice  Advice `json:"advice"`
}
