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

// These constants limit an archive, in addition to the limits of its content.
const (
	MaxArchive = 8 << 20  // maximum size of the compressed archive in bytes
	maxStream  = 16 << 20 // maximum size of the unpacked archive in bytes, with headers and padding
	maxEntries = 1000
)

// ReadArchive reads the files of a skill from a gzipped tar. The tar contains either the skill's folder or the content
// of the folder. ReadArchive rejects the archive if an entry is neither a regular file nor a folder, has a path outside
// the folder, or exceeds the limits of a folder.
func ReadArchive(from io.Reader) (map[string]registry.File, error) {
	packed := &tarball.Bounded{Reader: from, Left: MaxArchive, TooLong: refused("is larger than " + bytesize.Text(MaxArchive))}
	whole := bufio.NewReader(packed)
	zip, err := gzip.NewReader(whole)
	if err != nil {
		return nil, broken(err)
	}
	zip.Multistream(false)
	stream := &tarball.Bounded{Reader: zip, Left: maxStream, TooLong: refused("is larger unpacked than " + bytesize.Text(maxStream))}
	r := reader{files: map[string]registry.File{}}
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

// hidden reports whether the entry is skipped, because a reader of the same folder on disk would skip it. hidden
// returns false for a path that leads out of the folder, so that such a path is rejected and not skipped.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part != "." && part != ".." && ignored(part) {
			return true
		}
	}
	return false
}

// unwrapped removes the name of the top-level folder from all paths, if all files are in one folder and neither
// skill.yaml nor manifest.yaml is at the top level.
func unwrapped(files map[string]registry.File) (map[string]registry.File, error) {
	if described(files) {
		return files, nil
	}
	top := ""
	for name := range files {
		folder, _, ok := strings.Cut(name, "/")
		if !ok || (top != "" && folder != top) {
			return nil, refused("contains neither " + SettingsFile + " nor " + ManifestFile + " at its top level or in its only folder")
		}
		top = folder
	}
	inner := make(map[string]registry.File, len(files))
	for name, content := range files {
		inner[strings.TrimPrefix(name, top+"/")] = content
	}
	if !described(inner) {
		return nil, refused("contains neither " + SettingsFile + " nor " + ManifestFile + " at its top level or in its only folder")
	}
	return inner, nil
}

func refused(what string) error {
	return fault.New(fault.InvalidInput, "The archive %s.", what)
}

// broken converts a read error to InvalidInput. It leaves an error unchanged if the error already has a code.
func broken(err error) error {
	var refusal *fault.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The archive is damaged, incomplete or not a gzipped tar.", Err: err}
}

// described reports whether a folder contains skill.yaml or manifest.yaml.
func described(files map[string]registry.File) bool {
	_, ours := files[SettingsFile]
	_, other := files[ManifestFile]
	return ours || other
}
