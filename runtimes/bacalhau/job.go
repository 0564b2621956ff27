package bacalhau

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/parcel"
)

// Folders of a job. The files in inputs are read-only.
const (
	inputs  = "/inputs"
	outputs = "/outputs"
	folder  = "/tmp/atelier" // of the parcel
	work    = "/tmp/work"
)

// MaxJob is the largest description of a job in bytes, with its files. A larger one is accepted by the API of Bacalhau,
// but cannot be sent to a node: the job would wait until its time is up.
const MaxJob = 1_000_000

// startup is the time that an interpreter, or the download of an image, has in addition to the program's own time limit.
const startup = 2 * time.Minute

// describe describes the job of a program.
func (r *run) describe(name string, domains []string) (map[string]any, *runtimes.ProgramError) {
	task := map[string]any{
		"Name":      "main",
		"Publisher": map[string]any{"Type": r.engine.options.Publisher},
		"Resources": map[string]string{
			"CPU": "1", "Memory": strconv.FormatInt(r.job.Limits.MemoryBytes>>20, 10) + "mb", "Disk": strconv.FormatInt(max(r.job.Limits.DiskBytes>>20, 1), 10) + "mb",
		},
		"Network":     map[string]any{"Type": "None"},
		"Timeouts":    map[string]int64{"ExecutionTimeout": seconds(r.time() + startup), "QueueTimeout": seconds(r.engine.options.Queued), "TotalTimeout": seconds(r.time() + startup + r.engine.options.Queued)},
		"ResultPaths": []any{map[string]string{"Name": "outputs", "Path": outputs}},
	}
	if len(domains) > 0 {
		task["Network"] = map[string]any{"Type": "HTTP", "Domains": domains}
	}
	if r.job.Language == runtimes.WASM {
		r.module(task)
	} else if failed := r.container(task); failed != nil {
		return nil, failed
	}
	spec := map[string]any{
		"Name": name, "Type": "batch", "Count": 1, "Labels": map[string]string{labelOwner: r.engine.options.Owner, labelRun: r.job.RunID}, "Tasks": []any{task},
	}
	if text, err := json.Marshal(spec); err != nil || len(text) > MaxJob {
		return nil, &runtimes.ProgramError{
			Type: runtimes.Denied, Rule: "bacalhau.job", Message: fmt.Sprintf("The program and its input are too large for Bacalhau: the job has %s, and at most %s can be sent to a node.", bytesize.Text(len(text)), bytesize.Text(MaxJob)),
			Remedy: "Make the files or the input smaller (they are compressed, and then grow by a third), let the program read large data from a granted host, or choose another runtime.",
		}
	}
	return spec, nil
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// container describes a program that an interpreter in a container executes.
func (r *run) container(task map[string]any) *runtimes.ProgramError {
	packed, err := parcel.Pack(r.job, parcel.Folders{Out: outputs, Work: work})
	if err != nil {
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The program could not be packed: " + err.Error() + "."}
	}
	r.reader = packed.Read(r.relay, r.host)
	zipped, err := compress(packed.Files)
	if err != nil {
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The program could not be packed: " + err.Error() + "."}
	}
	task["InputSources"] = sources(map[string][]byte{"parcel.zip": zipped})
	task["Engine"] = map[string]any{"Type": "docker", "Params": map[string]any{
		"Image": r.engine.options.Python, "Entrypoint": []string{"/usr/bin/env"},
		"Parameters": []string{"-i", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + work, "LANG=C.UTF-8", "TMPDIR=/tmp", "python3", "-B", "-c", unzip, folder, packed.Runner},
	}}
	return nil
}

// unzip is a program in Python that unzips the parcel and executes its runner. Its text does not depend on the program.
const unzip = `import os, sys, zipfile
zipfile.ZipFile("` + inputs + `/parcel.zip").extractall(sys.argv[1])
os.execv(sys.executable, ["python3", "-B", "-X", "utf8", sys.argv[1] + "/" + sys.argv[2]])`

// compress makes an archive of files.
func compress(files map[string][]byte) ([]byte, error) {
	var text bytes.Buffer
	archive := zip.NewWriter(&text)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		entry, err := archive.Create(path)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(files[path]); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return text.Bytes(), err
}

// module describes a WebAssembly module. Bacalhau gives modules no stdin, so its first argument is the file with the input.
func (r *run) module(task map[string]any) {
	input := r.job.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	task["InputSources"] = sources(map[string][]byte{"main.wasm": named(r.job.Files[r.job.Entrypoint]), "input.json": input})
	task["Env"] = r.job.Environment
	task["Engine"] = map[string]any{"Type": "wasm", "Params": map[string]any{"EntryModule": inputs + "/main.wasm", "Entrypoint": "_start", "Parameters": []string{inputs + "/input.json"}}}
}

func sources(files map[string][]byte) []any {
	list := []any{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		list = append(list, map[string]any{"Target": inputs + "/" + path, "Source": map[string]any{
			"Type": "inline", "Params": map[string]string{"URL": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(files[path])},
		}})
	}
	return list
}

// named returns a module with a section of names. Bacalhau refuses modules without one, as compilers make them with -s.
func named(module []byte) []byte {
	const header = 8
	for rest := module[min(header, len(module)):]; len(rest) > 1; {
		size, used := uvarint(rest[1:])
		if used == 0 || uint64(len(rest)) < 1+uint64(used)+size { //nolint:gosec // at most 5
			return module // the node refuses it
		}
		end := 1 + used + int(size) //nolint:gosec // within the module
		if rest[0] == 0 && bytes.HasPrefix(rest[1+used:end], []byte("\x04name")) {
			return module
		}
		rest = rest[end:]
	}
	return append(slices.Clone(module), "\x00\x09\x04name\x00\x02\x01m"...)
}

// uvarint reads a number of at most 32 bits, and its length; the length is 0 if there is none.
func uvarint(text []byte) (value uint64, used int) {
	for i := 0; i < len(text) && i < 5; i++ {
		value |= uint64(text[i]&0x7f) << (7 * i)
		if text[i] < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}
