package registry

import "github.com/atelier-run/atelier/internal/fault"

// Bounds of what describes an agent.
const (
	maxTitle       = 200
	maxDescription = 4000
	maxTags        = 20
	maxTag         = 50
	maxMetadata    = 16 << 10
)

// CheckAbout tells whether an agent's name, title, description, tags and metadata may be saved; the error names the field.
func CheckAbout(a Agent) error {
	switch {
	case len(a.Title) > maxTitle:
		return fault.Invalid("/title", "must have at most %d bytes.", maxTitle)
	case len(a.Description) > maxDescription:
		return fault.Invalid("/description", "must have at most %d bytes.", maxDescription)
	case len(a.Tags) > maxTags:
		return fault.Invalid("/tags", "must have at most %d tags.", maxTags)
	case len(a.Metadata) > maxMetadata || len(a.Metadata) == 0 || a.Metadata[0] != '{':
		return fault.Invalid("/metadata", "must be an object of at most %d bytes.", maxMetadata)
	}
	for _, tag := range a.Tags {
		if tag == "" || len(tag) > maxTag {
			return fault.Invalid("/tags", "A tag has 1 to %d bytes.", maxTag)
		}
	}
	return CheckName(a.Name)
}
