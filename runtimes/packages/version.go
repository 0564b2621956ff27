package packages

import (
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// isOf reports whether the metadata of an archive has the name and version of a locked package.
func (m meta) isOf(ecosystem runtimes.Ecosystem, p runtimes.LockedPackage) bool {
	if ecosystem == runtimes.NPM {
		return m.Name == p.Name && npmVersion(m.Version) == npmVersion(p.Version)
	}
	return strings.ToLower(separators.ReplaceAllString(m.Name, "-")) == p.Name && pythonRelease(m.Version) == pythonRelease(p.Version)
}

// npmVersion returns a version without the parts that registries remove: a leading v or =, and the build metadata.
func npmVersion(text string) string {
	version, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(text), "v= "), "+")
	return version
}

var (
	impliedPost = regexp.MustCompile(`-([0-9]+)$`)
	zerosAtEnd  = regexp.MustCompile(`^((?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*?)(?:\.0+)+([^.0-9]|\.[^0-9]|$)`)
	versionPart = regexp.MustCompile(`[0-9]+|[a-z]+|[!+]`)
	// releaseWords maps alternative spellings of PEP 440 to the normal form.
	releaseWords = map[string]string{"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc", "r": "post", "rev": "post"}
)

// pythonRelease returns a normalized form of a version. Versions that are equal by PEP 440, such as 1.0-alpha and 1a0, have
// the same form.
func pythonRelease(text string) string {
	public, local, hasLocal := strings.Cut(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "v"), "+")
	public = strings.TrimPrefix(impliedPost.ReplaceAllString(public, ".post$1"), "0!")
	public = zerosAtEnd.ReplaceAllString(public, "$1$2")
	if hasLocal {
		public += "+" + local
	}
	var parts []string
	// Whether the previous part is a word; a word without a number after it counts as a word with the number 0.
	word := false
	for _, part := range append(versionPart.FindAllString(public, -1), "") {
		digit := part != "" && part[0] >= '0' && part[0] <= '9'
		if word && !digit {
			parts = append(parts, "0")
		}
		if digit {
			part = strings.TrimLeft(part[:len(part)-1], "0") + part[len(part)-1:]
		} else if other, ok := releaseWords[part]; ok {
			part = other
		}
		word = part != "" && part[0] >= 'a' && part[0] <= 'z'
		parts = append(parts, part)
	}
	return strings.Join(parts, ".")
}
