package packages

import (
	"context"
	_ "embed" // embeds the scripts
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

var (
	//go:embed resolve.py
	resolvePython string
	//go:embed resolve.js
	resolveNode string
)

// Paths of the resolvers in the jail.
const (
	resolverPath = "/opt/uv"
	npmDir       = "/opt/npm"
)

// maxLocked is the maximum number of packages in a lock. maxExplained is the maximum length in bytes of a resolver's
// explanation of a failure.
const (
	maxLocked    = 500
	maxExplained = 600
)

// resolved is the answer of a resolving script.
type resolved struct {
	Packages []runtimes.LockedPackage `json:"packages"`
	Platform string                   `json:"platform"`
	Error    *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Package string `json:"package"`
	} `json:"error"`
}

// Resolve resolves a list of requirements to a lock. If that is impossible, it returns a *Problem.
func (m *Manager) Resolve(ctx context.Context, workspace string, named Declaration) (runtimes.Lock, error) {
	if missing := m.Lacks(named.Ecosystem); missing != "" {
		return runtimes.Lock{}, unavailable(missing)
	}
	source, err := m.source(ctx, workspace, named.Ecosystem)
	if err != nil {
		return runtimes.Lock{}, err
	}
	leave, err := m.enter(ctx, workspace)
	if err != nil {
		return runtimes.Lock{}, err
	}
	defer leave()
	lock, err := m.resolve(ctx, source, named, m.builds(workspace))
	return lock, source.hide(err)
}

func (m *Manager) resolve(ctx context.Context, source Source, named Declaration, builds bool) (runtimes.Lock, error) {
	resolving, err := m.resolving(source, named, builds)
	if err != nil {
		return runtimes.Lock{}, err
	}
	text, outcome, err := m.run(ctx, resolving)
	if err != nil {
		return runtimes.Lock{}, err
	}
	if outcome.Error != nil {
		return runtimes.Lock{}, resolverFailed(outcome.Error)
	}
	var answer resolved
	if err := json.Unmarshal(text, &answer); err != nil {
		return runtimes.Lock{}, &Problem{Code: "index", Message: "The resolver sent an answer that is not valid JSON.", Remedy: "Try again, and check the index."}
	}
	lock, err := m.locked(named.Ecosystem, answer)
	var problem *Problem
	if errors.As(err, &problem) && problem.Code == "conflict" && answer.Error != nil {
		problem.Named = named.in(answer.Error.Message)
	}
	if err != nil {
		return lock, err
	}
	return lock, checkHashes(named, lock)
}

// checkHashes refuses a lock that contains an archive whose hash is not in the requirements.txt. As in pip, if one
// package has a hash, all packages need one.
func checkHashes(named Declaration, lock runtimes.Lock) error {
	known, strict := map[string][]string{}, false
	for _, r := range named.Requirements {
		known[r.Name] = append(known[r.Name], r.Hashes...)
		strict = strict || len(r.Hashes) > 0
	}
	if !strict {
		return nil
	}
	for _, p := range lock.Packages {
		if !slices.Contains(known[p.Name], p.Hash) {
			return &Problem{
				Code: "hash_mismatch", Package: p.Name, Message: fmt.Sprintf("%s has an archive whose hash is not in %s.", p.Version, named.File),
				Remedy: "Create the file again with all hashes, for example with uv export, or without hashes.",
			}
		}
	}
	return nil
}

// resolving returns the step of the resolver for a list of requirements.
func (m *Manager) resolving(source Source, named Declaration, builds bool) (step, error) {
	s := step{name: "resolve", env: append(program.Network(), certificates()...), mounts: program.Certificates(), network: true, result: "result.json", limits: m.limits(resolveTime)}
	if named.Ecosystem == runtimes.NPM {
		var asked []map[string]string
		for _, r := range named.Requirements {
			asked = append(asked, map[string]string{"name": r.Name, "range": r.Range()})
		}
		s.node, s.script = true, resolveNode
		s.mounts = append(s.mounts, sandbox.Mount{Host: filepath.Dir(filepath.Dir(m.options.NPM)), Path: npmDir})
		s.request = map[string]any{"npm": npmDir + "/bin/npm-cli.js", "index": source.plain(), "npmrc": source.npmrc(), "requirements": asked, "lock": string(named.Lock), "builds": builds}
		return s, nil
	}
	uv, err := m.resolver(m.options.UV)
	if err != nil {
		return s, err
	}
	s.script, s.mounts = resolvePython, append(s.mounts, sandbox.Mount{Host: uv, Path: resolverPath})
	s.request = map[string]any{"uv": resolverPath, "index": source.Index, "requirements": Texts(named.Requirements), "builds": builds}
	return s, nil
}

// resolver returns the path of a resolver that guests can read. If they cannot read the original, for example in a home
// directory, resolver copies it once.
func (m *Manager) resolver(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", unavailable("The resolver " + filepath.Base(path) + " was not found. Set its path with --uv.")
	}
	if closedTo(filepath.Dir(real)) == "" {
		return real, nil
	}
	if err := m.open(); err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	m.copying.Lock()
	defer m.copying.Unlock()
	to := filepath.Join(m.options.Dir, fmt.Sprintf("%s-%d-%d", filepath.Base(real), info.Size(), info.ModTime().Unix()))
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	return to, copyProgram(real, to)
}

// copyProgram copies a program for guests. The copy gets its final name only when it is complete.
func copyProgram(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755) //nolint:gosec // guests execute it
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Close()); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

func resolverFailed(failed *runtimes.ProgramError) error {
	switch failed.Type { //nolint:exhaustive // default handles all other types
	case runtimes.Cancelled:
		return fault.New(fault.Cancelled, "Resolving the packages was cancelled.")
	case runtimes.Timeout:
		return &Problem{Code: "index", Message: fmt.Sprintf("The package index did not answer within %v.", resolveTime), Remedy: "Try again later, or check the index."}
	}
	return &Problem{Code: "index", Message: "The resolver failed: " + shorten(failed.Message, maxExplained), Remedy: "Try again, and check the index."}
}

// locked checks the answer of a resolver and converts it to a lock. The answer is not trusted, because the server saves
// it and later downloads from the addresses in it.
func (m *Manager) locked(ecosystem runtimes.Ecosystem, answer resolved) (runtimes.Lock, error) {
	if e := answer.Error; e != nil {
		return runtimes.Lock{}, problemOf(e.Code, e.Package, shorten(e.Message, maxExplained))
	}
	slices.SortFunc(answer.Packages, func(a, b runtimes.LockedPackage) int { return strings.Compare(a.Path+a.Name, b.Path+b.Name) })
	lock := runtimes.Lock{Ecosystem: ecosystem, Platform: answer.Platform, Packages: answer.Packages}
	return lock, m.checkLock(lock)
}

// checkLock refuses a lock that is not valid, and removes passwords from its addresses. Locks are not trusted, because
// an archive of agents can contain a lock from another server.
func (m *Manager) checkLock(lock runtimes.Lock) error {
	if len(lock.Packages) > maxLocked {
		return &Problem{Code: "too_large", Message: fmt.Sprintf("The list has %d packages with all dependencies; at most %d are allowed.", len(lock.Packages), maxLocked)}
	}
	for i := range lock.Packages {
		if err := m.checkLocked(&lock.Packages[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) checkLocked(p *runtimes.LockedPackage) error {
	address, err := url.Parse(p.URL)
	digest, isSHA256 := strings.CutPrefix(p.Hash, "sha256:")
	if !isSHA256 {
		digest = strings.TrimPrefix(p.Hash, "sha512:")
	}
	sum, hashErr := hex.DecodeString(digest)
	wellFormed := hashErr == nil && (isSHA256 && len(sum) == 32 || !isSHA256 && strings.HasPrefix(p.Hash, "sha512:") && len(sum) == 64)
	switch {
	case !utf8.ValidString(p.Name+p.Version+p.URL) || len(p.Name) == 0 || len(p.Name) > 214 || len(p.Version) > 100 || len(p.URL) > 2000 || strings.ContainsAny(p.Version, "/?#%"):
		return &Problem{Code: "index", Message: "The package index sent a name, version or address that is not usable."}
	case err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "":
		return &Problem{Code: "index", Package: p.Name, Message: "has an address that is not http or https."}
	case p.Path != "" && !fs.ValidPath(p.Path):
		return &Problem{Code: "index", Package: p.Name, Message: "has an invalid path in its lock: it must be a relative path without \"..\"."}
	case !wellFormed:
		return &Problem{Code: "index", Package: p.Name, Message: "has no hash in the index, so its files cannot be checked.", Remedy: "Use an index that publishes hashes."}
	case p.Size > m.options.Archive:
		return tooLarge(p.Name, m.options.Archive)
	}
	address.User, address.Fragment = nil, ""
	p.URL = address.String()
	return nil
}

// problemOf describes the error of a resolver and suggests a remedy.
func problemOf(code, name, message string) *Problem {
	p := &Problem{Code: code, Package: name, Message: message + "."}
	switch code {
	case "not_found":
		p.Remedy = "Check the spelling of the name."
	case "conflict":
		p.Message, p.Remedy = "No versions of the packages are compatible with each other: "+message, "Allow more versions of the packages, or remove one."
	case "no_wheel":
		p.Remedy = "Choose a version that has a wheel for this platform, or ask the operator of the server to allow builds from source in this workspace (--package-builds)."
		if len(message) > 60 {
			p.Message = "has no wheel for this platform."
		}
	case "build":
		p.Remedy = buildRemedy
	case "interpreter":
		p.Package, p.Message, p.Remedy = "", message, "Set another interpreter with --python."
	case "lock":
		p.Remedy = "Create package-lock.json again, or remove it."
	case "refused":
		p.Remedy = "Choose another version of the package."
	default:
		if name != "" {
			p.Code, p.Remedy = "index", "Try again later, or check the index."
			break
		}
		p.Code, p.Message, p.Remedy = "index", "The package index could not be used: "+message, "Try again later, or check the index. Versions that are locked already keep working."
	}
	return p
}

// buildRemedy is the remedy for a package that cannot be built. A build in a jail can use the compilers of the host, if
// the host has any.
const buildRemedy = "Choose a version with a wheel for this platform. A package with native code also needs a compiler on the server."

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
