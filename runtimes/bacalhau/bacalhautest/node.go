package bacalhautest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// stream is an output stream of a job.
type stream struct {
	job  *job
	kind int
}

func (s stream) Write(text []byte) (int, error) {
	s.job.mu.Lock()
	defer s.job.mu.Unlock()
	if s.kind == 1 {
		if s.job.stdout.Len() == 0 {
			s.job.firstOut = string(text)
		}
		s.job.stdout.Write(text)
	} else {
		s.job.stderr.Write(text)
	}
	const most = 64 << 20 // limits the stored output, because a program may print without end
	if s.job.stdout.Len() > most {
		return 0, errors.New("too much output")
	}
	s.job.lines = append(s.job.lines, line{s.kind, string(text)})
	close(s.job.changed)
	s.job.changed = make(chan struct{})
	return len(text), nil
}

// perform runs the task of a job. It returns the files in its result path and its exit code.
func (j *job) perform(ctx context.Context) (outputs map[string][]byte, code int, err error) {
	dir, err := os.MkdirTemp("", "bacalhautest")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	for name, data := range j.inputs {
		path := filepath.Join(dir, "inputs", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, 0, err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return nil, 0, err
		}
	}
	out := filepath.Join(dir, "outputs")
	if err := errors.Join(os.Mkdir(out, 0o755), os.Mkdir(filepath.Join(dir, "root"), 0o755)); err != nil {
		return nil, 0, err
	}
	if j.spec.Tasks[0].Engine.Type == "wasm" {
		code, err = j.module(ctx, dir)
	} else {
		code, err = j.container(ctx, dir)
	}
	if err != nil {
		return nil, 0, err
	}
	outputs = map[string][]byte{}
	entries, err := os.ReadDir(out)
	for _, e := range entries {
		if data, err := os.ReadFile(filepath.Join(out, e.Name())); err == nil {
			outputs["outputs/"+e.Name()] = data
		}
	}
	return outputs, code, err
}

func texts(of any) (all []string) {
	list, _ := of.([]any)
	for _, one := range list {
		text, _ := one.(string)
		all = append(all, text)
	}
	return all
}

// root is a shell script that creates a root directory with the programs of this machine and then runs a command in it.
const root = `set -e
cd "$1"; shift
mount -t tmpfs tmpfs root
for d in usr bin lib lib64 etc dev proc sys; do
  if [ -L /$d ]; then cp -a /$d root/$d; elif [ -d /$d ]; then mkdir root/$d; mount --rbind /$d root/$d; fi
done
mkdir root/tmp root/inputs root/outputs
mount -t tmpfs tmpfs root/dev/shm
mount --bind inputs root/inputs
mount -o remount,bind,ro root/inputs
mount --bind outputs root/outputs
exec chroot root "$@"`

func (j *job) container(ctx context.Context, dir string) (int, error) {
	params := j.spec.Tasks[0].Engine.Params
	if image, _ := params["Image"].(string); image == "" {
		return 0, errors.New("no image")
	}
	flags := []string{"--mount", "--pid", "--mount-proc", "--fork", "--kill-child"}
	if os.Geteuid() != 0 {
		flags = append(flags, "--map-root-user")
	}
	args := slices.Concat(flags, []string{"sh", "-c", root, "sh", dir}, texts(params["Entrypoint"]), texts(params["Parameters"]))
	command := exec.CommandContext(ctx, "unshare", args...)
	command.Cancel = func() error { return command.Process.Kill() }
	command.WaitDelay = time.Second
	command.Stdout, command.Stderr = stream{j, 1}, stream{j, 2}
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// compiled returns the cache of compiled modules, which all tests of a process share. A node has none, and compiles an
// interpreter for each job again.
var compiled = sync.OnceValue(wazero.NewCompilationCache)

// nodeFiles is the folder of a job as its module sees it: inputs are read-only, and a file in outputs is created when it
// is first opened. Folders cannot be created.
type nodeFiles string

func (f nodeFiles) Open(name string) (fs.File, error) {
	file, err := os.DirFS(string(f)).Open(name)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "outputs/") {
		return os.Create(filepath.Join(string(f), name))
	}
	return file, err
}

func (j *job) module(ctx context.Context, dir string) (int, error) {
	params := j.spec.Tasks[0].Engine.Params
	entry, _ := params["EntryModule"].(string)
	module, ok := j.inputs[strings.TrimPrefix(entry, "/inputs/")]
	if !ok {
		return 0, fmt.Errorf("the entry module %q is not a target of an input source", entry)
	}
	if !bytes.Contains(module, []byte("\x04name")) {
		return 0, errors.New("Name section not found")
	}
	const page = 64 << 10
	pages := uint32(j.spec.Tasks[0].Resources.memory() / page) //nolint:gosec // the limit comes from a test
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(pages).WithCompilationCache(compiled()))
	defer engine.Close(context.WithoutCancel(ctx))
	wasi_snapshot_preview1.MustInstantiate(ctx, engine)
	config := wazero.NewModuleConfig().WithArgs(append([]string{""}, texts(params["Parameters"])...)...).WithStdout(stream{j, 1}).WithStderr(stream{j, 2}).
		WithSysNanosleep().WithSysNanotime().WithSysWalltime().
		WithFS(nodeFiles(dir))
	for _, name := range slices.Sorted(maps.Keys(j.spec.Tasks[0].Env)) {
		config = config.WithEnv(name, j.spec.Tasks[0].Env[name])
	}
	_, err := engine.InstantiateWithConfig(ctx, module, config)
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit):
		return int(exit.ExitCode()), nil
	case err != nil: // the error names the function, which Bacalhau's error does not
		_, message, _ := strings.Cut(err.Error(), " function[_start] failed: ")
		return 0, errors.New(cmp.Or(message, err.Error()))
	}
	return -1, nil // -1 stands for a module that returned without an exit code
}

// pack returns the archive of a result.
func pack(stdout, stderr []byte, code int, outputs map[string][]byte) []byte {
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	files := maps.Clone(outputs)
	files["stdout"], files["stderr"], files["exitCode"] = stdout, stderr, []byte(strconv.Itoa(code))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// Writing to memory never fails.
		_ = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg})
		_, _ = archive.Write(files[name])
	}
	_ = archive.Close()
	_ = zipped.Close()
	return text.Bytes()
}

// logs sends the live output of a job. Before and after the execution, the stream consists of one error. The first
// stream of each job also ends with this error. It simulates a real node, which needs some time between its bid and the
// start of the program.
func (j *job) logs(w http.ResponseWriter, r *http.Request) {
	j.mu.Lock()
	live := j.state == "Running" && j.asked
	j.asked = true
	j.mu.Unlock()
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	if !live {
		// An error only means that the client has disconnected.
		_ = conn.WriteJSON(map[string]any{"error": "execution not found", "value": line{}})
		_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
		return
	}
	for from := 0; ; {
		j.mu.Lock()
		lines, changed, over := j.lines[from:], j.changed, ended(j.state)
		j.mu.Unlock()
		for _, one := range lines {
			if conn.WriteJSON(map[string]any{"value": one}) != nil {
				return
			}
		}
		from += len(lines)
		if over {
			// An error only means that the client has disconnected.
			_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
			return
		}
		select {
		case <-changed:
		// Write from time to time, because only a failing write shows that the client has disconnected.
		case <-time.After(time.Second):
			if conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
				return
			}
		}
	}
}
