// Package gitbundle reads the files of one commit from a git bundle. A bundle is untrusted input, so the package limits
// the size of objects, the amount of unpacked data and the memory. It uses go-git to read the packfile and to apply
// deltas, which adds 0.5 MB to the binary. It does not use the object store of go-git, which would add 2 MB and unpacks
// data without a limit.
package gitbundle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/atelier-run/atelier/internal/lru"
)

// Signature is the text before the version number at the beginning of every bundle.
const Signature = "# v"

const (
	maxHeader  = 1 << 20
	maxObjects = 250_000
	maxTrees   = 100_000 // total number of entries in the commit's trees
	maxDepth   = 100     // maximum nesting of folders, and length of a chain of deltas
	maxWork    = 4 << 30 // total number of unpacked bytes
	keptBytes  = 64 << 20
	readCost   = 4 << 10 // bytes that each read adds to the work, so that maxWork also limits the number of small deltas
)

// Entry is an entry of the commit's trees.
type Entry struct {
	Path    string
	Plain   bool   // true for a regular file, false for a link or a module
	Content []byte // content of a plain file
	Large   bool   // a plain file exceeds the size limit; Content is empty
}

// Bundle reads the objects of an open bundle.
type Bundle struct {
	Ref    string // name of the git reference whose files are read
	Commit string

	scanner *packfile.Scanner
	limit   int64                   // maximum size of a file in bytes
	objects map[plumbing.Hash]int64 // offsets of the objects in the packfile
	cached  *lru.Cache[int64, object]
	work    int64
	seen    int
}

// object is an unpacked git object. If large is true, the object exceeds the size limit and content is not stored.
type object struct {
	kind    plumbing.ObjectType
	content []byte
	large   bool
}

// Open reads the git references and the list of objects of a bundle. The file must stay open as long as the Bundle is
// used. limit is the maximum size of a file in bytes; larger files have no content. The Bundle provides the files of
// HEAD. Without HEAD, it uses main, then master, then the only reference.
func Open(file io.ReadSeeker, limit int64) (*Bundle, error) {
	refs, length, err := readHeader(file)
	if err != nil {
		return nil, err
	}
	b := &Bundle{limit: limit, objects: map[plumbing.Hash]int64{}, cached: lru.New[int64, object](maxObjects, keptBytes)}
	if b.Ref, b.Commit, err = choose(refs); err != nil {
		return nil, err
	}
	if _, err := file.Seek(length, io.SeekStart); err != nil {
		return nil, err
	}
	b.scanner = packfile.NewScanner(&section{file, length})
	return b, b.index()
}

// section reads the part of a file that starts at an offset, as if the file began there.
type section struct {
	file  io.ReadSeeker
	begin int64
}

func (s *section) Read(p []byte) (int, error) { return s.file.Read(p) }

func (s *section) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		offset += s.begin
	}
	at, err := s.file.Seek(offset, whence)
	return at - s.begin, err
}

type ref struct{ name, commit string }

// readHeader returns the git references of a bundle and the length of its header.
func readHeader(file io.Reader) ([]ref, int64, error) {
	in := bufio.NewReader(io.LimitReader(file, maxHeader))
	var refs []ref
	var length int64
	for first := true; ; first = false {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, 0, errors.New("has a header without an end")
		}
		length += int64(len(line))
		line = strings.TrimSuffix(line, "\n")
		id, name, _ := strings.Cut(line, " ")
		switch {
		case first && (line == "# v2 git bundle" || line == "# v3 git bundle"):
		case first:
			return nil, 0, errors.New("has an unknown version; supported are versions 2 and 3")
		case line == "":
			return refs, length, nil
		case line == "@object-format=sha1":
		case strings.HasPrefix(line, "@"):
			return nil, 0, fmt.Errorf("needs %q, which is not supported", strings.ToValidUTF8(line[1:min(len(line), 100)], "?"))
		case strings.HasPrefix(line, "-"):
			return nil, 0, errors.New("contains only part of the history; create it with git bundle create FILE HEAD")
		case !plumbing.IsHash(id) || len(id) != 40 || name == "":
			return nil, 0, errors.New("has a malformed header")
		default:
			refs = append(refs, ref{name, id})
		}
	}
}

// choose returns the git reference whose files are read: HEAD, main, master, or the only reference.
func choose(refs []ref) (name, commit string, err error) {
	for _, wanted := range []string{"HEAD", "refs/heads/main", "refs/heads/master"} {
		for _, r := range refs {
			if r.name == wanted {
				return r.name, r.commit, nil
			}
		}
	}
	if len(refs) == 1 {
		return refs[0].name, refs[0].commit, nil
	}
	return "", "", errors.New("has neither HEAD nor main nor master, and not exactly one reference; create it with git bundle create FILE HEAD")
}

// index computes the hash of each object. In most bundles a base object precedes the deltas that use it. Other deltas
// need further passes over the file.
func (b *Bundle) index() error {
	_, count, err := b.scanner.Header()
	if err != nil {
		return err
	}
	if count > maxObjects {
		return fmt.Errorf("has %d objects; at most %d are allowed", count, maxObjects)
	}
	offsets := make([]int64, 0, min(count, 4096))
	for range count {
		header, err := b.scanner.NextObjectHeader()
		if err != nil {
			return err
		}
		offsets = append(offsets, header.Offset)
		n, _, err := b.scanner.NextObject(&counter{b})
		if err != nil {
			return err
		}
		if n != header.Length {
			return errors.New("has an object whose length differs from its header")
		}
	}
	for len(offsets) > 0 {
		var later []int64
		for _, offset := range offsets {
			o, err := b.read(offset, 0)
			switch {
			case errors.Is(err, errNoBase):
				later = append(later, offset)
			case err != nil:
				return err
			case !o.large:
				b.objects[plumbing.ComputeHash(o.kind, o.content)] = offset
			}
		}
		if len(later) == len(offsets) {
			return errors.New("is missing objects that other objects are deltas of")
		}
		offsets = later
	}
	return nil
}

// counter is a writer that discards unpacked bytes and adds their number to the bundle's work.
type counter struct{ bundle *Bundle }

func (c *counter) Write(p []byte) (int, error) { return len(p), c.bundle.spend(len(p)) }

func (b *Bundle) spend(n int) error {
	if b.work += int64(n); b.work > maxWork {
		return fmt.Errorf("needs more than %d GiB of unpacked data", maxWork>>30)
	}
	return nil
}

// errNoBase is the error for a delta whose base has not been indexed yet.
var errNoBase = errors.New("is missing the base object of a delta")

// read unpacks the object at an offset.
func (b *Bundle) read(offset int64, depth int) (object, error) {
	if o, ok := b.cached.Get(offset); ok {
		return o, nil
	}
	if depth > maxDepth {
		return object{}, fmt.Errorf("has an object with a chain of more than %d deltas", maxDepth)
	}
	header, err := b.scanner.SeekObjectHeader(offset)
	if err != nil {
		return object{}, err
	}
	if header.Length > b.limit {
		return object{kind: header.Type, large: true}, nil
	}
	var content bytes.Buffer
	if _, _, err := b.scanner.NextObject(&content); err != nil {
		return object{}, err
	}
	if err := b.spend(content.Len() + readCost); err != nil {
		return object{}, err
	}
	o := object{kind: header.Type, content: content.Bytes()}
	if header.Type.IsDelta() {
		at, known := header.OffsetReference, true
		if header.Type == plumbing.REFDeltaObject {
			at, known = b.objects[header.Reference]
		}
		if !known {
			return object{}, errNoBase
		}
		if o, err = b.patched(at, content.Bytes(), depth); err != nil {
			return object{}, err
		}
	}
	if !o.large {
		b.cached.Put(offset, o, len(o.content)+200)
	}
	return o, nil
}

// patched applies a delta to the object at an offset.
func (b *Bundle) patched(base int64, delta []byte, depth int) (object, error) {
	before, err := b.read(base, depth+1)
	if err != nil || before.large {
		return before, err
	}
	_, rest := number(delta)
	length, _ := number(rest)
	if length > uint64(b.limit) {
		return object{kind: before.kind, large: true}, nil
	}
	if err := b.spend(int(length)); err != nil {
		return object{}, err
	}
	after, err := packfile.PatchDelta(before.content, delta)
	if err == nil && uint64(len(after)) != length {
		err = packfile.ErrInvalidDelta
	}
	return object{kind: before.kind, content: after}, err
}

// number reads a length from a delta. It does not report a malformed length, because the code that applies the delta
// reports it.
func number(from []byte) (n uint64, rest []byte) {
	for i, one := range from[:min(len(from), 9)] {
		n |= uint64(one&0x7f) << (7 * i)
		if one&0x80 == 0 {
			return n, from[i+1:]
		}
	}
	return n, nil
}

// Files calls each for every file, link and module of the commit. Links and modules have no content.
func (b *Bundle) Files(each func(Entry) error) error {
	id := plumbing.NewHash(b.Commit)
	for range maxDepth { // a tag may point to another tag
		o, err := b.object(id)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(string(o.content), "\n")
		kind, name, _ := strings.Cut(line, " ")
		switch {
		case o.kind == plumbing.CommitObject && kind == "tree" && plumbing.IsHash(name):
			return b.walk(plumbing.NewHash(name), "", 0, each)
		case o.kind == plumbing.TagObject && kind == "object" && plumbing.IsHash(name):
			id = plumbing.NewHash(name)
		default:
			return fmt.Errorf("has a reference %s that is not a commit", strings.ToValidUTF8(b.Ref[:min(len(b.Ref), 100)], "?"))
		}
	}
	return errors.New("has too deeply nested tags")
}

func (b *Bundle) object(id plumbing.Hash) (object, error) {
	offset, ok := b.objects[id]
	if !ok {
		return object{}, fmt.Errorf("is missing the object %s, or the object is too large", id)
	}
	return b.read(offset, 0)
}

// walk calls each for the entries of a tree and of its subtrees.
func (b *Bundle) walk(id plumbing.Hash, folder string, depth int, each func(Entry) error) error {
	if depth > maxDepth {
		return fmt.Errorf("has folders nested more than %d levels deep", maxDepth)
	}
	tree, err := b.object(id)
	if err != nil {
		return err
	}
	if tree.kind != plumbing.TreeObject {
		return errors.New("has a folder entry that is not a folder")
	}
	for rest := tree.content; len(rest) > 0; {
		head, after, ok := bytes.Cut(rest, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || name == "" || len(after) < len(id) {
			return errors.New("has a malformed folder")
		}
		var child plumbing.Hash
		copy(child[:], after)
		rest = after[len(child):]
		if b.seen++; b.seen > maxTrees {
			return fmt.Errorf("has more than %d entries", maxTrees)
		}
		at := folder + name
		switch mode {
		case "40000":
			err = b.walk(child, at+"/", depth+1, each)
		case "100644", "100755", "100664":
			err = b.file(child, at, each)
		default:
			err = each(Entry{Path: path.Clean(at)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bundle) file(id plumbing.Hash, at string, each func(Entry) error) error {
	offset, ok := b.objects[id]
	if !ok { // the object is too large, or missing
		return each(Entry{Path: at, Plain: true, Large: true})
	}
	o, err := b.read(offset, 0)
	if err != nil {
		return err
	}
	if o.kind != plumbing.BlobObject {
		return errors.New("has a file entry that is not a file")
	}
	return each(Entry{Path: at, Plain: true, Content: o.content})
}
