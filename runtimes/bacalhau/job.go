package bacalhau

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/parcel"
)

// Folders in the container of a job. The files in inputs are read-only.
const (
	inputs  = "/inputs"
	outputs = "/outputs"
	folder  = "/tmp/atelier" // folder of the unpacked parcel
	work    = "/tmp/work"
)

// MaxJob is the maximum size of a job's description with its files, in bytes. Bacalhau's API accepts a larger description,
// but cannot send it to a node: the job would wait until its timeout.
const MaxJob = 1_000_000

// Times that a node counts as execution and that are added to the program's own time limit: startup for an interpreter
// and the download of its image, compiling for a node that compiles a module, and downloading for a node that also
// downloads the module.
const (
	startup     = 2 * time.Minute
	compiling   = 2 * time.Second
	downloading = 30 * time.Second
)

// describe returns the specification of the program's job, and the mark of its parcel. If the program cannot run as a
// job, describe returns the outcome of the run in failed.
func (r *run) describe(ctx context.Context, name string, domains []string) (spec map[string]any, mark string, failed *runtimes.Outcome, err error) {
	resources := map[string]string{
		"CPU": "1", "Memory": strconv.FormatInt(r.job.Limits.MemoryBytes, 10) + "b", "Disk": strconv.FormatInt(max(r.job.Limits.DiskBytes, 1<<20), 10) + "b",
	}
	if r.job.GPU {
		resources["GPU"] = "1"
	}
	task := map[string]any{
		"Name":        "main",
		"Publisher":   map[string]any{"Type": r.engine.options.Publisher},
		"Resources":   resources,
		"Network":     map[string]any{"Type": "None"},
		"ResultPaths": []any{map[string]string{"Name": "outputs", "Path": outputs}},
	}
	if len(domains) > 0 {
		task["Network"] = map[string]any{"Type": "HTTP", "Domains": domains}
	}
	var files map[string][]byte
	var engine func(at place) map[string]any
	switch {
	case r.job.Language == runtimes.WASM:
		task["Env"] = r.job.Environment
		files, engine = r.module()
	case r.interpreted:
		task["InputSources"], task["Engine"], mark, failed, err = r.interpret(ctx)
	default:
		files, engine, mark, failed, err = r.container(ctx)
	}
	if failed != nil || err != nil {
		return nil, "", failed, err
	}
	if engine != nil {
		task["InputSources"], task["Engine"] = inline(files), engine(mounted)
	}
	task["Timeouts"] = r.timeouts()
	spec = map[string]any{
		"Name": name, "Type": "batch", "Count": 1, "Labels": map[string]string{labelOwner: r.engine.options.Owner, labelRun: r.job.RunID}, "Tasks": []any{task},
	}
	if text, err := json.Marshal(spec); err == nil && len(text) <= MaxJob {
		return spec, mark, nil, nil
	} else if r.engine.depot == nil || engine == nil {
		remedy := "Make the files or the input smaller, or choose another runtime."
		if engine != nil {
			remedy = "Ask the operator of the server to set --s3-endpoint, so that nodes download large inputs from there. Or make the files or the input smaller, or choose another runtime."
		}
		return nil, "", &runtimes.Outcome{Error: &runtimes.ProgramError{
			Type: runtimes.Denied, Rule: "bacalhau.job", Message: fmt.Sprintf("The program and its input are too large for Bacalhau: the job has %s, and at most %s can be sent to a node.", bytesize.Text(len(text)), bytesize.Text(MaxJob)),
			Remedy: remedy,
		}}, nil
	}
	task["InputSources"], err = r.lend(ctx, name, files)
	task["Engine"], task["Timeouts"] = engine(downloaded), r.timeouts()
	return spec, mark, nil, err
}

// place is a function that returns the path at which the program finds an input.
type place func(name string) string

func mounted(name string) string { return inputs + "/" + name }

// downloaded returns the path of an input that the node downloads. The node uses the target of such a source as a
// folder and stores the file in it.
func downloaded(name string) string { return mounted(name) + "/" + name }

// executing is the maximum time for which a node may execute the job.
func (r *run) executing() time.Duration {
	switch {
	case r.reader != nil:
		return r.time() + startup
	case len(r.lent) > 0:
		return r.time() + downloading
	}
	return r.time() + compiling
}

func (r *run) timeouts() map[string]int64 {
	queued := r.engine.options.Queued
	return map[string]int64{"ExecutionTimeout": seconds(r.executing()), "QueueTimeout": seconds(queued), "TotalTimeout": seconds(r.executing() + queued)}
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// suitsModule returns true if a job can run in an interpreter that is a WebAssembly module. Bacalhau gives modules neither
// a network, processes nor a GPU, so programs that need one of them run in a container.
func (e *Engine) suitsModule(job runtimes.Job) bool {
	needs := job.Capabilities
	return job.Language == runtimes.Python && e.options.PythonModule != "" && len(needs.Hosts) == 0 && !needs.Subprocess && !job.GPU
}

// isModule returns true if the job runs in Bacalhau's WebAssembly engine.
func (r *run) isModule() bool { return r.job.Language == runtimes.WASM || r.interpreted }

// container describes a job that runs an interpreter in a container. Any image with a shell, tar and gzip is suitable.
func (r *run) container(ctx context.Context) (files map[string][]byte, engine func(place) map[string]any, mark string, failed *runtimes.Outcome, err error) {
	packed, zipped, failed, err := r.pack(ctx, parcel.Folders{Out: outputs, Work: work})
	if failed != nil || err != nil {
		return nil, nil, "", failed, err
	}
	engine = func(at place) map[string]any {
		return map[string]any{"Type": "docker", "Params": map[string]any{
			"Image": r.engine.image(r.job.Language), "Entrypoint": []string{"/usr/bin/env"},
			"Parameters": slices.Concat([]string{"-i", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + work, "LANG=C.UTF-8", "TMPDIR=/tmp", "sh", "-c", unpackAndExec, folder, at(archived)}, packed.Command(folder)),
		}}
	}
	return map[string][]byte{archived: zipped}, engine, packed.Mark(), nil, nil
}

// interpret describes a job that runs Python in an interpreter that is a module. The node unpacks the parcel, because it is
// a gzipped archive by its media type; nodes do not unpack what they download.
func (r *run) interpret(ctx context.Context) (sources []any, engine map[string]any, mark string, failed *runtimes.Outcome, err error) {
	packed, zipped, failed, err := r.pack(ctx, parcel.Folders{Out: outputs})
	if failed != nil || err != nil {
		return nil, nil, "", failed, err
	}
	// folders below inputs
	const interpreter, unpacked = "interpreter", "parcel"
	module := r.engine.options.PythonModule
	sources = []any{source(interpreter, "urlDownload", module), source(unpacked, "inline", data("application/gzip", zipped))}
	return sources, map[string]any{"Type": "wasm", "Params": map[string]any{
		"EntryModule": mounted(interpreter + "/" + path.Base(module)), "Entrypoint": "_start", "Parameters": packed.Command(mounted(unpacked))[1:],
	}}, packed.Mark(), nil, nil
}

// pack packs the program, and returns the parcel and its archive.
func (r *run) pack(ctx context.Context, at parcel.Folders) (packed parcel.Parcel, zipped []byte, failed *runtimes.Outcome, err error) {
	packed, failed, err = parcel.Pack(ctx, r.job, at, r.engine.options.Bundle)
	if failed != nil || err != nil {
		return packed, nil, failed, err
	}
	r.reader = packed.Read(r.relay, r.host)
	zipped, err = compress(packed.Files, parcel.Work)
	return packed, zipped, nil, err
}

// archived is the file name of the parcel in inputs.
const archived = "parcel.tar.gz"

// unpackAndExec is a shell command that unpacks the parcel $1 into the folder $0 and executes its other arguments.
const unpackAndExec = `mkdir -p "$0" && tar -xzof "$1" -C "$0" && shift && exec "$@"`

// image returns the image of containers for a language.
func (e *Engine) image(language runtimes.Language) string {
	switch language {
	case runtimes.Python:
		return e.options.Python
	case runtimes.Bash:
		return e.options.Bash
	default:
		return e.options.Node
	}
}

// compress returns a gzipped tar archive of files, their folders and an empty folder. It uses the GNU format, which every
// tar can read.
func compress(files map[string][]byte, empty string) ([]byte, error) {
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	folders := map[string]bool{".": true}
	var add func(name string) error
	add = func(name string) error { // a node creates only folders that have an entry
		if folders[name] {
			return nil
		}
		folders[name] = true
		if err := add(path.Dir(name)); err != nil {
			return err
		}
		return archive.WriteHeader(&tar.Header{Name: name + "/", Mode: 0o755, Typeflag: tar.TypeDir, Format: tar.FormatGNU})
	}
	if err := add(empty); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := add(path.Dir(name)); err != nil {
			return nil, err
		}
		header := tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg, Format: tar.FormatGNU}
		if err := archive.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), zipped.Close())
	return text.Bytes(), err
}

// module describes a job that runs a WebAssembly module. Bacalhau does not support stdin for modules, so the first
// argument of the module is the path of a file with the input.
func (r *run) module() (files map[string][]byte, engine func(place) map[string]any) {
	const code, data = "main.wasm", "input.json"
	input := r.job.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	return map[string][]byte{code: named(r.job.Files[r.job.Entrypoint]), data: input}, func(at place) map[string]any {
		return map[string]any{"Type": "wasm", "Params": map[string]any{"EntryModule": at(code), "Entrypoint": "_start", "Parameters": []string{at(data)}}}
	}
}

// named returns a module that has a name section. If the section is missing, named adds an empty one, because Bacalhau
// refuses modules without it. Compilers omit the section with the option -s.
func named(module []byte) []byte {
	const header = 8
	for rest := module[min(header, len(module)):]; len(rest) > 1; {
		size, used := uvarint(rest[1:])
		if used == 0 || uint64(len(rest)) < 1+uint64(used)+size { //nolint:gosec // used is at most 5
			return module // the module is not valid, so the node refuses it
		}
		end := 1 + used + int(size) //nolint:gosec // the check above limits size to the length of the module
		if rest[0] == 0 && bytes.HasPrefix(rest[1+used:end], []byte("\x04name")) {
			return module
		}
		rest = rest[end:]
	}
	return append(slices.Clone(module), "\x00\x09\x04name\x00\x02\x01m"...)
}

// uvarint decodes an unsigned LEB128 number of at most 5 bytes. used is the length of the encoded number, or 0 if there
// is no valid number.
func uvarint(text []byte) (value uint64, used int) {
	for i := 0; i < len(text) && i < 5; i++ {
		value |= uint64(text[i]&0x7f) << (7 * i)
		if text[i] < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}
