package skills

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
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
	packed := &bounded{r: from, left: MaxArchive, what: "is larger than %d bytes", most: MaxArchive}
	whole := bufio.NewReader(packed)
	zip, err := gzip.NewReader(whole)
	if err != nil {
		return nil, broken(err)
	}
	zip.Multistream(false)
	stream := &bounded{r: zip, left: maxStream, what: "unpacks to more than %d bytes", most: maxStream}
	r := reader{files: map[string]registry.File{}, folded: map[string]string{}}
	if err := r.unpack(tar.NewReader(stream)); err != nil {
		return nil, err
	}
	if err := ended(stream); err != nil {
		return nil, err
	}
	if _, err := whole.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, refused("goes on after its end")
	}
	return unwrapped(r.files)
}

// ended makes sure that nothing but padding follows: what one reader skips another may read.
func ended(stream io.Reader) error {
	block := make([]byte, 4096)
	for {
		n, err := stream.Read(block)
		for _, b := range block[:n] {
			if b != 0 {
				return refused("goes on after its end")
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
	}
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
			return refused("holds more than 1000 entries")
		case header.Typeflag == tar.TypeDir || header.Typeflag == tar.TypeXGlobalHeader:
			continue
		case header.Typeflag != tar.TypeReg || sparse(header):
			return r.refuse(name, "is no plain file: links, devices and files with holes are not unpacked.")
		case hidden(name):
			continue
		}
		if err := r.take(name, func() (io.ReadCloser, error) { return io.NopCloser(in), nil }); err != nil {
			return broken(err)
		}
	}
}

func sparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
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
			return nil, refused("holds no " + SettingsFile + ", neither at its top nor in its only folder")
		}
		top = folder
	}
	inner := make(map[string]registry.File, len(files))
	for name, content := range files {
		inner[strings.TrimPrefix(name, top+"/")] = content
	}
	if _, ok := inner[SettingsFile]; !ok {
		return nil, refused("holds no " + SettingsFile + ", neither at its top nor in its only folder")
	}
	return inner, nil
}

// bounded ends a stream that is too long with an error, where a limit without one would look like its end.
type bounded struct {
	r    io.Reader
	left int64
	what string
	most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.r.Read(one[:]); n == 0 && err != nil {
			return 0, err
		}
		return 0, fault.New(fault.InvalidInput, "The archive "+b.what+".", b.most)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
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
	return &fault.Error{Code: fault.InvalidInput, Message: "The archive is damaged, cut off or no gzipped tar.", Err: err}
}
