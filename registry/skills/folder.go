package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Dir returns a folder below a root as a file system. Reads never leave the folder, because links are not followed. If
// a pipe has replaced a file, opening it does not block.
func Dir(root *os.Root, name string) fs.FS { return dir{root, name} }

type dir struct {
	root *os.Root
	name string
}

// Open implements fs.FS.
func (d dir) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return d.root.OpenFile(path.Join(d.name, name), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// ReadFolder reads the files of a skill's folder. It skips names that begin with a dot and files that Python generates.
// It returns an error for a link, a device or a file that is too large, because a skill is read completely or not at
// all.
func ReadFolder(folder fs.FS) (map[string]registry.File, error) {
	r := reader{files: map[string]registry.File{}}
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case ignored(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			if r.folders++; r.folders > MaxFiles {
				return r.refuse(name, "exceeds the limit of %d folders.", MaxFiles)
			}
			return nil
		case !entry.Type().IsRegular():
			return r.refuse(name, "must be a file; links and devices are not followed.")
		}
		return r.take(name, func() (io.ReadCloser, error) { return openRegular(folder, name) })
	})
	if err != nil {
		return nil, err
	}
	return r.files, nil
}

func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || name == "__pycache__" || strings.HasSuffix(name, ".pyc") || strings.HasSuffix(name, "~")
}

// openRegular opens a file and checks that it is a regular file. Another process may have replaced the file since the
// folder was listed.
func openRegular(folder fs.FS, name string) (io.ReadCloser, error) {
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = invalid(fault.Detail{File: shown(name), Message: "must be a file; links and devices are not followed."})
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// reader collects files of a folder or an archive and applies the limits.
type reader struct {
	files   map[string]registry.File
	paths   registry.Paths
	total   int64
	folders int
}

func (r *reader) refuse(name, format string, args ...any) error {
	return invalid(fault.Detail{File: shown(name), Message: fmt.Sprintf(format, args...)})
}

func (r *reader) take(name string, open func() (io.ReadCloser, error)) (err error) {
	switch problem := r.paths.Add(name); {
	case problem != "":
		return r.refuse(name, "%s", problem)
	case len(r.files) == MaxFiles:
		return r.refuse(name, "exceeds the limit of %d files.", MaxFiles)
	}
	file, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err := io.ReadAll(io.LimitReader(file, MaxBytes-r.total+1))
	if err != nil {
		return err
	}
	if r.total += int64(len(content)); r.total > MaxBytes {
		return r.refuse(name, "exceeds the folder limit of %s.", bytesize.Text(MaxBytes))
	}
	r.files[name] = content
	return nil
}

// FolderOf returns the files of a folder that contains the given settings, schemas and program. Parse converts these
// files back to the same skill.
func FolderOf(settings Settings, input, output []byte, program map[string]registry.File) (map[string]registry.File, error) {
	yaml, err := writeSettings(settings)
	if err != nil {
		return nil, err
	}
	schemas, err := writeSchemas(input, output)
	if err != nil {
		return nil, err
	}
	files := map[string]registry.File{SettingsFile: yaml, SchemaFile: schemas}
	if isPython(settings, program) {
		if files[ManifestFile], err = writeManifest(settings, input); err != nil {
			return nil, err
		}
	}
	for name, content := range program {
		if !IsEntry(name) {
			files[name] = content
		}
	}
	return files, nil
}

// isPython reports whether the handler of a folder is a Python file at its top level. Skill managers expect this.
func isPython(settings Settings, program map[string]registry.File) bool {
	module, _, _ := strings.Cut(settings.Handler, ".")
	_, ok := program[module+".py"]
	return ok
}
