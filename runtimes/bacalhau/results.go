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

// maxEntries is the maximum number of files in an archive. maxStream is added to the output limit, in bytes. It is for
// the marked lines of a parcel, which do not count as output.
const (
	maxEntries = 10_000
	maxStream  = 33 << 20
)

// errLarge is the error for a result that exceeds its size limit.
var errLarge = errors.New("the result is larger than its limit")

// result is a published result.
type result struct {
	stdout, stderr, output []byte
	exit                   *int
}

// download downloads and unpacks the archive with a result. It does not send the orchestrator's key, because any node may
// serve the archive.
func (e *Engine) download(ctx context.Context, address string, limits runtimes.Limits) (result, error) {
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return result{}, fmt.Errorf("the address of the result is not an HTTP URL: %.200q", address)
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

// unpack reads the files of a result from its archive. It writes no files and reads only entries with the expected
// names. The program controls the other entries, so the size of the whole archive is limited too.
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
			return found, fmt.Errorf("the archive contains %s twice", name)
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
