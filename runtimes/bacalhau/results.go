package bacalhau

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/elsewhere"
	"github.com/atelier-run/atelier/runtimes/parcel"
)

// maxEntries limits the files of an archive, and maxStream the output that is read in addition to its limit: the marked
// lines of a parcel do not count as output.
const (
	maxEntries = 10_000
	maxStream  = 33 << 20
)

// errLarge says that the result is larger than its limit.
var errLarge = errors.New("the result is larger than its limit")

// result is a published result.
type result struct {
	stdout, stderr, output []byte
	exit                   *int
}

// download reads the archive with a result. It has no key of the orchestrator, because any node may serve it.
func (e *Engine) download(ctx context.Context, address string, limits runtimes.Limits) (result, error) {
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return result{}, fmt.Errorf("the result is not at an address of HTTP: %.200q", address)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return result{}, err
	}
	request.Header.Set("User-Agent", "atelier")
	answer, err := e.HTTP.Do(request)
	if err != nil {
		return result{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return result{}, &elsewhere.Status{Service: service.Name, Code: answer.StatusCode, Message: "read a result"}
	}
	return unpack(answer.Body, limits)
}

// unpack reads the files of a result from its archive. Nothing is written: names of the archive only select what is read.
// The program decides about the rest of the archive, so its size is limited too.
func unpack(in io.Reader, limits runtimes.Limits) (found result, err error) {
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return found, err
	}
	most := map[string]int64{
		"stdout": limits.OutputBytes + maxStream, "stderr": limits.OutputBytes + maxStream, "exitCode": 100, "outputs/result.json": parcel.MostResult(limits),
	}
	total := limits.DiskBytes + limits.OutputBytes + 3*maxStream
	bounded := &io.LimitedReader{R: unzipped, N: total}
	files := map[string][]byte{}
	archive := tar.NewReader(bounded)
	for entries := 0; ; entries++ {
		entry, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			found.stdout, found.stderr, found.output = files["stdout"], files["stderr"], files["outputs/result.json"]
			if code, err := strconv.Atoi(string(bytes.TrimSpace(files["exitCode"]))); err == nil {
				found.exit = &code
			}
			return found, nil
		case bounded.N <= 0, entries > maxEntries:
			return found, errLarge
		case err != nil:
			return found, err
		}
		name := path.Clean(entry.Name)
		limit, wanted := most[name]
		if !wanted || entry.Typeflag != tar.TypeReg {
			continue
		}
		if _, twice := files[name]; twice {
			return found, fmt.Errorf("the archive has %s twice", name)
		}
		if entry.Size > limit {
			return found, errLarge
		}
		if files[name], err = io.ReadAll(io.LimitReader(archive, limit)); err != nil {
			if bounded.N <= 0 {
				err = errLarge
			}
			return found, err
		}
	}
}
