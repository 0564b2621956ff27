package app

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// jobInputs stores the inputs of jobs that are too large for Bacalhau in the bucket. Before a node downloads an input, it
// requests its size with HEAD. Many S3 servers refuse HEAD at an address that is signed for GET. Nodes then download the
// input from this server, at an address with an encrypted permission for one object.
type jobInputs struct {
	*blobs.S3
	keys   func() vault.Keys
	public string // address of this server, "" if it is unknown
	now    func() time.Time
}

// permission is the permission to read one object until a time.
type permission struct {
	Name  string
	Until time.Time
}

// aboutInput binds the permissions to their purpose.
const aboutInput = "job input"

// inputs returns the store of job inputs, nil without a bucket.
func (a *App) inputs() *jobInputs {
	bucket, ok := a.bucket.(*blobs.S3)
	if !ok {
		return nil
	}
	return &jobInputs{S3: bucket, keys: func() vault.Keys { return a.secrets.Keys }, public: a.Config.PublicURL, now: a.Now}
}

// Lend implements bacalhau.Depot. Error: RuntimeUnavailable.
func (d *jobInputs) Lend(ctx context.Context, name string, content []byte, during time.Duration) (string, error) {
	address, err := d.S3.Lend(ctx, name, content, during)
	if err != nil {
		return "", err
	}
	answers, err := answersHead(ctx, address)
	if answers {
		return address, nil
	}
	if err != nil {
		_ = d.TakeBack(context.WithoutCancel(ctx), name)
		return "", &fault.Error{Code: fault.RuntimeUnavailable, Message: "The S3 server does not answer, so nodes cannot download the input of the job. Try again later.", Err: err}
	}
	err = fault.New(fault.RuntimeUnavailable, "The input is too large for a job, and nodes cannot download it from the bucket: the S3 server refuses HEAD at an address that is signed for GET. Set --public-url to an address of this server that nodes can reach.")
	if d.public != "" {
		if address, err = d.address(permission{name, d.now().Add(during)}); err == nil {
			return address, nil
		}
	}
	_ = d.TakeBack(context.WithoutCancel(ctx), name) // after an error the janitor removes the object after seven days
	return "", err
}

// answersHead reports whether a node can request the size of the object at an address. A refusal by the S3 server is no
// error.
func answersHead(ctx context.Context, address string) (bool, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return false, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false, err
	}
	switch code := answer.StatusCode; {
	case code == 501: // this server never answers HEAD
	case code == 408, code == 429, code/100 == 5:
		err = errors.New("HEAD is answered with " + answer.Status)
	}
	return answer.StatusCode == http.StatusOK && answer.ContentLength >= 0, errors.Join(err, answer.Body.Close())
}

// address returns the address of an object at this server. A node names the file by the end of the address.
func (d *jobInputs) address(p permission) (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	key, sealed, err := d.keys().Seal(text, aboutInput)
	if err != nil {
		return "", err
	}
	return d.public + gate.JobInputsPath + key + "." + hex.EncodeToString(sealed) + "/" + path.Base(p.Name), nil
}

// serve returns the handler of the addresses. It streams the object from the bucket.
func (d *jobInputs) serve(problems problem.Writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := d.permission(chi.URLParam(r, "permission"))
		if err != nil || d.now().After(p.Until) {
			problems.Write(w, r, &fault.Error{Code: fault.NotFound, Message: "The address of this job input is wrong or has expired.", Err: err})
			return
		}
		object, size, err := d.Lent(r.Context(), p.Name)
		if err != nil {
			problems.Write(w, r, err)
			return
		}
		defer object.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		if r.Method != http.MethodHead {
			_, _ = io.Copy(w, object) // after an error the node receives an incomplete answer
		}
	}
}

func (d *jobInputs) permission(text string) (p permission, err error) {
	key, encoded, _ := strings.Cut(text, ".")
	sealed, err := hex.DecodeString(encoded)
	if err == nil {
		sealed, err = d.keys().Open(key, sealed, aboutInput)
	}
	if err == nil {
		err = json.Unmarshal(sealed, &p)
	}
	return p, err
}
