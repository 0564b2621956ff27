package registry

// Bump is the distance between a version and the one before it, in the terms of semver.org.
type Bump string

// These are the bumps. NoBump means that two versions have the same documentation and behavior.
const (
	NoBump    Bump = "none"
	PatchBump Bump = "patch"
	MinorBump Bump = "minor"
	MajorBump Bump = "major"
)

// Reason is one difference between two versions, with the bump it requires. Pointer points into the newer version, or
// into the older one if the newer one has no such place.
type Reason struct {
	Bump    Bump   `json:"bump" enum:"none,patch,minor,major"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Advice is the bump that the differences to an earlier version require.
type Advice struct {
	Base    string   `json:"base" doc:"Version that the draft was compared with. Empty if there is none."`
	Bump    Bump     `json:"bump" enum:"none,patch,minor,major"`
	Version string   `json:"version" doc:"Suggested version number."`
	Reasons []Reason `json:"reasons"`
}

// Override records why a version has a smaller number than advised.
type Override struct {
	Comment string `json:"comment"`
	Advice  Advice `json:"advice"`
}
