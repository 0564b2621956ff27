package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/registry/tarball"
)

// Visitor receives the contents of an archive in order: each agent, then its versions.
type Visitor interface {
	Agent(a Agent) error
	Version(v registry.Version) error
}

// Read reads an archive to its end. It recomputes the digests of each version before it passes the version to the
// visitor. If the archive violates the layout, Read stops and returns InvalidInput. If Read returns an error, the
// visitor must discard everything it has received.
func Read(r io.Reader, visitor Visitor) error {
	whole := bufio.NewReader(r) // gzip reads no byte beyond the end of its stream if its source is buffered
	zip, err := gzip.NewReader(whole)
	if err != nil {
		return broken(err)
	}
	zip.Multistream(false)
	limited := &tarball.Bounded{Reader: zip, Left: MaxTotal, TooLong: invalid("contains more than %s", bytesize.Text(int64(MaxTotal)))}
	in := &reader{tar: tar.NewReader(limited), visitor: visitor}
	if err := in.all(); err != nil {
		return err
	}
	if err := in.end(limited); err != nil {
		return err
	}
	if _, err := whole.ReadByte(); !errors.Is(err, io.EOF) {
		return invalid("has extra data after its end")
	}
	return nil
}

type reader struct {
	tar     *tar.Reader
	visitor Visitor
	next    *tar.Header // header that was read but not yet used; nil at the end
	entries int
	ids     map[string]bool
	names   map[string]bool
}

func (r *reader) all() error {
	if err := r.advance(); err != nil {
		return err
	}
	var contents Contents
	if err := r.document(rootFile, &contents); err != nil {
		return err
	}
	if contents.Format != Format {
		return invalid("must have the format %s", Format)
	}
	if len(contents.Agents) > MaxAgents {
		return invalid("contains more than %d agents", MaxAgents)
	}
	r.ids, r.names = map[string]bool{}, map[string]bool{}
	for _, name := range contents.Agents {
		if err := r.agent(name); err != nil {
			return err
		}
	}
	return nil
}

// end checks that no data follows the archive. Another program might read such data as further content.
func (r *reader) end(rest io.Reader) error {
	if r.next != nil {
		return invalid("contains a file that it does not list: %s", shown(r.next.Name))
	}
	switch only, err := tarball.OnlyPadding(rest); {
	case err != nil:
		return broken(err)
	case !only:
		return invalid("has extra data after its end")
	}
	return nil
}

func (r *reader) agent(name string) error {
	if err := registry.CheckName(name); err != nil {
		return invalid("contains an agent with an invalid name: %s", shown(name))
	}
	if err := r.claim(name); err != nil {
		return err
	}
	var a Agent
	if err := r.document(agentPath(name)+agentFile, &a); err != nil {
		return err
	}
	for _, former := range a.FormerNames {
		if err := registry.CheckName(former); err != nil {
			return invalid("has an invalid former name for %s", name)
		}
		if err := r.claim(former); err != nil {
			return err
		}
	}
	switch {
	case a.Name != name:
		return invalid("has a different name in %s", agentPath(name)+agentFile)
	case uuid.Validate(a.ID) != nil || strings.ToLower(a.ID) != a.ID || r.ids[a.ID]:
		return invalid("has an invalid or duplicate ID for %s", name)
	case len(a.Versions) > MaxVersions:
		return invalid("contains more than %d versions of %s", MaxVersions, name)
	case !a.Creator.plausible():
		return invalid("does not contain the creator of %s", name)
	case !plausibleOrigin(a.Origin):
		return invalid("has an invalid origin for %s", name)
	case a.Draft.Files != nil:
		return invalid("has unexpected files in %s", agentPath(name)+agentFile)
	}
	r.ids[a.ID] = true
	var err error
	if a.Draft.Files, err = r.files(agentPath(name) + "draft/"); err != nil {
		return err
	}
	if err := r.visitor.Agent(a); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, number := range a.Versions {
		if seen[number] {
			return invalid("lists %s@%s twice", name, shown(number))
		}
		seen[number] = true
		if err := r.version(a, number); err != nil {
			return err
		}
	}
	return nil
}

// claim records a name of an agent. It rejects a name that another agent of the archive has. The names a-b and a_b
// count as equal.
func (r *reader) claim(name string) error {
	key := registry.NameKey(name)
	if r.names[key] {
		return invalid("contains the name %s twice", name)
	}
	r.names[key] = true
	return nil
}

func (r *reader) version(a Agent, number string) error {
	if err := registry.CheckSemver(number); err != nil {
		return invalid("lists an invalid version of %s: %s", a.Name, shown(number))
	}
	var document version
	path := versionPath(a.Name, number)
	if err := r.document(path+versionFile, &document); err != nil {
		return err
	}
	v := document.Version
	isName := func(name string) bool { return registry.NameKey(name) == registry.NameKey(v.Agent) }
	switch {
	case v.Version != number:
		return invalid("has a different version in %s", path+versionFile)
	case !isName(a.Name) && !slices.ContainsFunc(a.FormerNames, isName):
		return invalid("has a version of a different agent in %s", path+versionFile)
	case !document.Publisher.plausible():
		return invalid("does not contain the publisher of %s", v.Reference())
	case v.Files != nil:
		return invalid("has unexpected files in %s", path+versionFile)
	}
	var err error
	if v.Files, err = r.files(path + "files/"); err != nil {
		return err
	}
	sums, err := digest.Of(v)
	if err != nil {
		return invalid("contains %s, which has no digest because it is not canonical", v.Reference())
	}
	if v.Digest != sums.Version || v.ContentDigest != sums.Content || v.CodeDigest != sums.Code {
		return invalid("contains %s, whose content does not match its digests", v.Reference())
	}
	v.AgentID = a.ID
	v.Publisher = registry.Actor{ID: document.Publisher.ID, Type: document.Publisher.Type, Name: document.Publisher.Name}
	return r.visitor.Version(v)
}

// files reads the files of one folder of the archive. The archive must list them in the order of their paths.
func (r *reader) files(folder string) (map[string]registry.File, error) {
	files, paths, last, total := map[string]registry.File{}, registry.Paths{}, "", int64(0)
	for r.next != nil && strings.HasPrefix(r.next.Name, folder) {
		path := strings.TrimPrefix(r.next.Name, folder)
		if path <= last {
			return nil, invalid("contains files that are out of order or duplicated: %s", shown(r.next.Name))
		}
		switch problem := paths.Add(path); {
		case problem != "":
			return nil, invalid("contains the file %s, which %s", shown(r.next.Name), strings.TrimSuffix(problem, "."))
		case len(files) == MaxFiles:
			return nil, invalid("contains more than %d files in %s", MaxFiles, shown(folder))
		}
		if total += r.next.Size; total > MaxBytes {
			return nil, invalid("contains more than %s in %s", bytesize.Text(MaxBytes), shown(folder))
		}
		content, err := r.content(MaxBytes)
		if err != nil {
			return nil, err
		}
		files[path], last = content, path
	}
	return files, nil
}

// document reads the next file, which must be the JSON document with the given path, into a value.
func (r *reader) document(path string, into any) error {
	if r.next == nil {
		return invalid("ends before %s", path)
	}
	if r.next.Name != path {
		return invalid("has %s instead of %s", shown(r.next.Name), path)
	}
	text, err := r.content(MaxDocument)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return &fault.Error{Code: fault.InvalidInput, Message: "The archive has a " + path + " that is not valid.", Err: err}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("has a %s with extra data after its end", path)
	}
	return nil
}

// content reads the current file and advances to the next header.
func (r *reader) content(most int64) ([]byte, error) {
	if r.next.Size > most {
		return nil, invalid("contains a file of more than %s: %s", bytesize.Text(most), shown(r.next.Name))
	}
	var content bytes.Buffer // the buffer grows with the received bytes, because the size in the header may be false
	if _, err := io.Copy(&content, io.LimitReader(r.tar, most+1)); err != nil {
		return nil, broken(err)
	}
	return content.Bytes(), r.advance()
}

// advance reads the next header. It accepts regular files only: links, devices and folders are not part of the layout.
func (r *reader) advance() error {
	header, err := r.tar.Next()
	if errors.Is(err, io.EOF) {
		r.next = nil
		return nil
	}
	if err != nil {
		return broken(err)
	}
	if r.entries++; r.entries > MaxEntries {
		return invalid("contains more than %d files", MaxEntries)
	}
	switch {
	case header.Typeflag != tar.TypeReg:
		return invalid("contains an entry that is not a file: %s", shown(header.Name))
	case len(header.Name) > maxPath || strings.ContainsRune(header.Name, 0):
		return invalid("contains a file with an invalid path: %s", shown(header.Name))
	case tarball.Sparse(header):
		return invalid("contains a sparse file: %s", shown(header.Name))
	}
	r.next = header
	return nil
}
