package skills

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/tarball"
)

// Bounds of an archive beside those of what it holds.
const (
	MaxArchive = 8 << 20  // bytes as they are sent
	maxStream  = 16 << 20 // bytes unpacked, with headers and padding
	maxEntries = 1000
)

// ReadArchive reads the files of a skill from a gzipped tar: its folder, or what is in it. What is no plain file or
// folder, leads out of it, or is larger than a folder may be, refuses the whole.
func ReadArchive(from io.Reader) (map[string]registry.File, error) {
	packed := &tarball.Bounded{Reader: from, Left: MaxArchive, TooLong: refused("is larger than " + bytesize.Text(MaxArchive))}
	whole := bufio.NewReader(packed)
	zip, err := gzip.NewReader(whole)
	if err != nil {
		return nil, broken(err)
	}
	zip.Multistream(false)
	stream := &tarball.Bounded{Reader: zip, Left: maxStream, TooLong: refused("is larger unpacked than " + bytesize.Text(maxStream))}
	r := reader{files: map[string]registry.File{}, folded: map[string]string{}}
	if err := r.unpack(tar.NewReader(stream)); err != nil {
		return nil, err
	}
	switch only, err := tarball.OnlyPadding(stream); {
	case err != nil:
		return nil, broken(err)
	case !only:
		return nil, refused("has extra data after its end")
	}
	if _, err := whole.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, refused("has extra data after its end")
	}
	return unwrapped(r.files)
}

func (r *reader) unpack(in *tar.Reader) error {
	for entries := 1; ; entries++ {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
		name := strings.TrimPrefix(header.Name, "./")
		switch {
		case entries > maxEntries:
			return refused("contains more than 1000 entries")
		case header.Typeflag == tar.TypeDir || header.Typeflag == tar.TypeXGlobalHeader:
			continue
		case header.Typeflag != tar.TypeReg || tarball.Sparse(header):
			return r.refuse(name, "must be a regular file; links, devices and sparse files are not unpacked.")
		case hidden(name):
			continue
		}
		if err := r.take(name, func() (io.ReadCloser, error) { return io.NopCloser(in), nil }); err != nil {
			return broken(err)
		}
	}
}

// hidden names what a folder would leave out as well. A name that climbs is not hidden but refused.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part != "." && part != ".." && ignored(part) {
			return true
		}
	}
	return false
}

// unwrapped takes the one folder away that all files lie in, where skill.yaml is not at the top.
func unwrapped(files map[string]registry.File) (map[string]registry.File, error) {
	if _, ok := files[SettingsFile]; ok {
		return files, nil
	}
	top := ""
	for name := range files {
		folder, _, ok := strings.Cut(name, "/")
		if !ok || (top != "" && folder != top) {
			return nil, refused("contains no " + SettingsFile + " at its top level or in its only folder")
		}
		top = folder
	}
	inner := make(map[string]registry.File, len(files))
	for name, content := range files {
		inner[strings.TrimPrefix(name, top+"/")] = content
	}
	if _, ok := inner[SettingsFile]; !ok {
		return nil, refused("contains no " + SettingsFile + " at its top level or in its only folder")
	}
	return inner, nil
}

func refused(what string) error {
	return fault.New(fault.InvalidInput, "The archive %s.", what)
}

// broken is a stream that cannot be read as what it should be; what a layer above has said already stays.
func broken(err error) error {
	var told *fault.Error
	if errors.As(err, &told) {
		return told
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The archive is damaged, incomplete or not a gzipped tar.", Err: err}
}
