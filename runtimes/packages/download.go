package packages

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes"
)

// parallel is the number of archives that are downloaded at the same time.
const parallel = 4

func tooLarge(name string, most int64) *Problem {
	return &Problem{Code: "too_large", Package: name, Message: fmt.Sprintf("is larger than %s, the maximum size of an archive.", bytesize.Text(most)), Remedy: "Choose a smaller package."}
}

// download fetches the missing archives of a lock. It calls have with the number of archives that exist so far.
func (m *Manager) download(ctx context.Context, lock runtimes.Lock, source Source, have func(done int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session := m.session(ctx, runtimes.Job{})
	defer session.Close()
	client := source.client(session.Transport())
	var (
		mu    sync.Mutex
		done  int
		first error
		all   sync.WaitGroup
	)
	places := make(chan struct{}, parallel)
	for _, p := range lock.Packages {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			err := m.fetch(ctx, client, p, source)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if first == nil {
					first = err
				}
				cancel()
				return
			}
			done++
			have(done)
		})
	}
	all.Wait()
	return first
}

// fetch downloads one archive. It computes the hash during the download and checks it at the end.
func (m *Manager) fetch(ctx context.Context, client *http.Client, p runtimes.LockedPackage, source Source) error {
	to := m.archivePath(p, source)
	if _, err := os.Stat(to); err == nil {
		now := m.options.Now()
		_ = os.Chtimes(to, now, now) // sets the time of the last use, because CollectArchives keeps recently used archives
		return nil
	}
	limited, deadline := m.withDeadline(ctx)
	defer deadline.stop()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	source.authorize(request)
	answer, err := client.Do(request)
	if err != nil {
		return m.unreachable(ctx, limited, p, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &Problem{Code: "index", Package: p.Name, Message: fmt.Sprintf("could not be downloaded: the index answered with status %d.", answer.StatusCode), Remedy: "Try again later, or resolve the packages again."}
	}
	file, err := os.CreateTemp(m.temporary, "archive-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the rename, this file no longer exists
	sum := hashOf(p.Hash)
	n, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(&downloadBody{answer.Body, deadline}, m.options.Archive+1))
	err = errors.Join(err, file.Chmod(0o444), file.Sync(), file.Close())
	switch {
	case err != nil:
		return m.unreachable(ctx, limited, p, err)
	case n > m.options.Archive:
		return tooLarge(p.Name, m.options.Archive)
	case hex.EncodeToString(sum.Sum(nil)) != p.Hash[len("sha256:"):]:
		return &Problem{
			Code: "hash_mismatch", Package: p.Name, Message: "does not have the hash in its lock, so it was not installed.",
			Remedy: "Ask the owner of the index why the file has changed. To accept the new file, resolve the packages again.",
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // the jail reads the archives
		return err
	}
	return os.Rename(file.Name(), to)
}

// deadline cancels a download that receives no bytes for a while or that takes too long. This is necessary because the
// number of concurrent installations is limited, so a slow download would block others.
type deadline struct {
	stall        time.Duration
	still, total *time.Timer
	cancel       context.CancelCauseFunc
}

// slowError is the cancellation cause of a download that was too slow.
type slowError struct{ message string }

func (s *slowError) Error() string { return s.message }

// withDeadline returns a context that is cancelled with a slowError when the download is too slow.
func (m *Manager) withDeadline(ctx context.Context) (context.Context, deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	ending := func(after time.Duration, format string) *time.Timer {
		return time.AfterFunc(after, func() { cancel(&slowError{fmt.Sprintf(format, after)}) })
	}
	return ctx, deadline{m.options.Stall, ending(m.options.Stall, "the index sent nothing for %v"), ending(m.options.Download, "the index did not send the file within %v"), cancel}
}

func (d deadline) stop() {
	d.still.Stop()
	d.total.Stop()
	d.cancel(nil)
}

// downloadBody is the body of a download. Each read restarts the stall timer.
type downloadBody struct {
	io.Reader
	deadline deadline
}

func (b *downloadBody) Read(buffer []byte) (int, error) {
	n, err := b.Reader.Read(buffer)
	b.deadline.still.Reset(b.deadline.stall)
	return n, err
}

// unreachable describes a failed download. limited is the context of withDeadline.
func (m *Manager) unreachable(ctx, limited context.Context, p runtimes.LockedPackage, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	why := "the connection ended early"
	var refused *url.Error
	var late *slowError
	switch {
	case errors.As(context.Cause(limited), &late):
		why = late.message
	case errors.As(err, &refused):
		why = shorten(refused.Err.Error(), 200)
	}
	return &Problem{
		Code: "index", Package: p.Name, Message: "could not be downloaded: " + why + ".",
		Remedy: "Try again later, or check the index. If archives come from another host, ask the operator of the server to add it to --package-hosts.",
	}
}

// hashOf returns the hash function of a digest.
func hashOf(digest string) hash.Hash {
	if strings.HasPrefix(digest, "sha512:") {
		return sha512.New()
	}
	return sha256.New()
}
