package packages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Limits of one unpacked lock.
const (
	maxHead  = 16 << 10 // maximum bytes of a header line
	maxPath  = 1024
	maxDepth = 32
	maxFiles = 100_000
)

// tooLargeUnpacked is the reason with which an archive is refused that is too large when it is unpacked. The unpacking
// scripts write the same text.
const tooLargeUnpacked = "is larger than allowed when it is unpacked"

// notBuilt is the start of the reason with which a source distribution is refused that cannot be built. The build
// script writes the same text.
const notBuilt = "could not be built from source"

// head is a header line of the unpacking process. It announces a file, or is a message without a file.
type head struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	Archive int    `json:"archive"`
	Refused string `json:"refused"`
	Meta    *meta  `json:"meta"`
	Done    bool   `json:"done"`
}

// meta is the metadata of a package.
type meta struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Summary string `json:"summary"`
	License string `json:"license"`
}

// refusal is the reason why an archive cannot be installed.
type refusal struct {
	archive int
	reason  string
}

func (r *refusal) Error() string { return r.reason }

// writer writes the files that an unpacking process sends. The process is not trusted: it may send any path and any
// number of bytes. The writer creates all files below one folder. It never replaces a file and never creates a link.
type writer struct {
	root  *os.Root
	room  int64 // bytes that may still be written
	total int   // number of archives
	begun func(archive int)

	line    bytes.Buffer
	file    *os.File
	left    int64 // bytes of the current file that have not arrived yet
	files   int
	made    map[string]bool // folders that were created
	tops    map[string]bool // names of top-level modules
	current int
	next    int // index of the first archive whose files have not started to arrive
	metas   map[int]meta
	done    bool
	err     error
}

func newWriter(root *os.Root, room int64, total int, begun func(archive int)) *writer {
	return &writer{root: root, room: room, total: total, begun: begun, made: map[string]bool{".": true}, tops: map[string]bool{}, metas: map[int]meta{}}
}

// write processes the next bytes of the stream. After the first error it ignores all further bytes.
func (w *writer) write(p []byte) {
	for len(p) > 0 && w.err == nil {
		if w.left > 0 {
			n := int(min(w.left, int64(len(p))))
			_, w.err = w.file.Write(p[:n])
			p = p[n:]
			if w.left -= int64(n); w.left == 0 && w.err == nil {
				w.err = w.file.Close()
				w.file = nil
			}
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			if w.line.Len()+len(p) > maxHead {
				w.err = errors.New("the unpacking process sent a line that is too long")
				return
			}
			w.line.Write(p)
			return
		}
		w.line.Write(p[:end])
		p = p[end+1:]
		w.err = w.read(w.line.Bytes())
		w.line.Reset()
	}
}

func (w *writer) read(line []byte) error {
	var h head
	if len(line) > maxHead || json.Unmarshal(line, &h) != nil || w.done {
		return errors.New("the unpacking process sent a line that does not follow the protocol")
	}
	switch {
	case h.Refused != "":
		return &refusal{archive: h.Archive, reason: h.Refused}
	case h.Done:
		w.done = true
		return nil
	case h.Path == "" && (h.Archive < 0 || h.Archive >= w.total): // without this check, metas could grow without a limit
		return errors.New("the unpacking process named an archive that does not exist")
	case h.Meta != nil:
		w.metas[h.Archive] = *h.Meta
		return nil
	case h.Path == "":
		if h.Archive < w.next { // archives begin in their order, so that each is reported once
			return errors.New("the unpacking process began an archive twice")
		}
		w.current, w.next = h.Archive, h.Archive+1
		w.begun(h.Archive)
		return nil
	}
	return w.create(h.Path, h.Size)
}

func (w *writer) create(name string, size int64) error {
	w.files++
	w.room -= size
	switch {
	case size < 0 || w.room < 0:
		return &refusal{archive: w.current, reason: tooLargeUnpacked}
	case w.files > maxFiles:
		return &refusal{archive: w.current, reason: fmt.Sprintf("increases the number of files above %d", maxFiles)}
	case !fs.ValidPath(name) || name == "." || len(name) > maxPath || strings.Count(name, "/") > maxDepth || strings.ContainsAny(name, "\\\x00"):
		return &refusal{archive: w.current, reason: "contains a path that leaves its folder or is too long"}
	}
	if err := w.makeDir(path.Dir(name)); err != nil {
		return err
	}
	file, err := w.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o444)
	if errors.Is(err, fs.ErrExist) {
		return &refusal{archive: w.current, reason: "contains a file twice"}
	}
	if err != nil {
		return err
	}
	w.note(name)
	if size == 0 {
		return file.Close()
	}
	w.file, w.left = file, size
	return nil
}

func (w *writer) makeDir(dir string) error {
	if w.made[dir] {
		return nil
	}
	if len(w.made) > maxFiles {
		return &refusal{archive: w.current, reason: fmt.Sprintf("increases the number of folders above %d", maxFiles)}
	}
	if err := w.makeDir(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.root.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &refusal{archive: w.current, reason: "contains a file and a folder of the same name"}
		}
		return err
	}
	w.made[dir] = true
	return nil
}

// note records the top-level module of a file, if there is one.
func (w *writer) note(name string) {
	top, rest, deep := strings.Cut(name, "/")
	switch {
	case deep && strings.HasSuffix(rest, ".py") && !strings.Contains(top, "."):
		w.tops[top] = true
	case !deep && strings.HasSuffix(top, ".py"):
		w.tops[strings.TrimSuffix(top, ".py")] = true
	}
}

// modules returns the names of the top-level modules, sorted.
func (w *writer) modules() []string {
	all := make([]string, 0, len(w.tops))
	for name := range w.tops {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// close ends the stream. It returns an error unless the process has sent its final message.
func (w *writer) close() error {
	if w.file != nil {
		w.err = errors.Join(w.err, w.file.Close())
	}
	if w.err == nil && !w.done {
		return &refusal{archive: w.current, reason: "could not be unpacked: the process ended too early"}
	}
	return w.err
}
