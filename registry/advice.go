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
	Base    string   `json:"base" doc:"The version that was compared with; empty before the first."`
	Bump    Bump     `json:"bump" enum:"none,patch,minor,major"`
	Version string   `json:"version" doc:"The number that follows."`
	Reasons []Reason `json:"reasons"`
}

// Override is why a version has a smaller number than was advised.
type Override struct {
	Comment string `json:"comment"`
	Advice  Advice `json:"advice"`
}
