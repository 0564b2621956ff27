package packages

import (
	"fmt"
	"path"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// Rule describes packages that a workspace may or must not use. An empty field matches any value. In a name or version,
// * matches any text without a slash.
type Rule struct {
	Workspace string
	Ecosystem string
	Name      string
	Version   string
}

// String returns the rule in the syntax of the server's settings.
func (r Rule) String() string {
	text := r.Name
	if r.Ecosystem != "" {
		text = r.Ecosystem + ":" + text
	}
	if r.Version != "" {
		text += "@" + r.Version
	}
	return text
}

// CodeBlocked is the error code for a package that a rule forbids.
const CodeBlocked = "blocked"

func (r Rule) fits(ecosystem runtimes.Ecosystem, p runtimes.LockedPackage) bool {
	name, err := path.Match(r.Name, p.Name)
	version := r.Version == ""
	if !version {
		version, _ = path.Match(r.Version, p.Version) // The error is impossible: the pattern was checked when the settings were read.
	}
	return err == nil && name && version && (r.Ecosystem == "" || r.Ecosystem == string(ecosystem))
}

// allowed returns an error if a rule forbids a package of a lock. It also checks the locks of versions that were
// published before the rule existed, because a package may turn out to be harmful later.
func (s *Service) allowed(workspace string, lock runtimes.Lock) error {
	for _, p := range lock.Packages {
		if isMalicious(lock.Ecosystem, p) {
			return &packages.Problem{
				Code: CodeBlocked, Package: p.Name, Message: p.Version + " must not be used in this workspace; public reports name it as malware.",
				Remedy: "Check the name. If it is right, choose a version that was published later.",
			}
		}
		listed, fits := false, false
		for _, rule := range s.Block {
			if (rule.Workspace == "" || rule.Workspace == workspace) && rule.fits(lock.Ecosystem, p) {
				return &packages.Problem{
					Code: CodeBlocked, Package: p.Name, Message: fmt.Sprintf("%s must not be used in this workspace; the rule %s blocks it.", p.Version, rule),
					Remedy: "Choose another version or package, or ask the operator of the server to change --block-packages.",
				}
			}
		}
		for _, rule := range s.Allow {
			if rule.Workspace == "" || rule.Workspace == workspace {
				listed, fits = true, fits || rule.fits(lock.Ecosystem, p)
			}
		}
		if listed && !fits {
			return &packages.Problem{
				Code: CodeBlocked, Package: p.Name, Message: p.Version + " is not among the packages that this workspace may use.",
				Remedy: "Choose another package, or ask the operator of the server to add it to --allow-packages.",
			}
		}
	}
	return nil
}
