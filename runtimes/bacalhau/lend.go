package bacalhau

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"
)

// Depot stores inputs that are too large to be part of a job. Nodes download them from there.
type Depot interface {
	// Lend stores content under a name and returns a URL. Until the duration has passed, anybody who has the URL can read
	// the content.
	Lend(ctx context.Context, name string, content []byte, during time.Duration) (address string, err error)
	// TakeBack removes the content that is stored under a name.
	TakeBack(ctx context.Context, name string) error
	// TakeBackIf removes each content for which useless returns true. at is the time at which that content was stored.
	TakeBackIf(ctx context.Context, useless func(name string, at time.Time) bool) error
}

// longestLoan is the maximum validity of a presigned URL of a bucket. Content in the depot that is older can no longer
// be downloaded.
const longestLoan = 7 * 24 * time.Hour

// Lend sets the depot for inputs that are too large for a job. It must be called before the first run.
func (e *Engine) Lend(d Depot) { e.depot = d }

// lend stores the inputs of a job in the depot and returns input sources with their URLs.
func (r *run) lend(ctx context.Context, job string, files map[string][]byte) ([]any, error) {
	list := []any{}
	during := min(r.time()+startup+r.engine.options.Queued, longestLoan)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		address, err := r.engine.depot.Lend(ctx, job+"/"+path, files[path], during)
		if err != nil {
			return nil, err
		}
		list = append(list, source(path, "urlDownload", address))
		r.lent = append(r.lent, job+"/"+path)
	}
	return list, nil
}

// takeBack removes the inputs of an ended job from the depot.
func (r *run) takeBack(ctx context.Context) {
	for _, name := range r.lent {
		if err := r.engine.depot.TakeBack(ctx, name); err != nil {
			r.engine.Log.Warn("remove an input of a job of Bacalhau", "object", name, "run_id", r.job.RunID, "error", err)
		}
	}
}

// takeBackLost removes the inputs of this server's ended jobs if no run will remove them. It also removes content that
// is too old to be downloaded.
func (e *Engine) takeBackLost(ctx context.Context, jobs []jobView, spared map[string]bool) error {
	ended := map[string]bool{}
	for _, one := range jobs {
		ended[one.Name] = one.State.StateType.ended() && !e.Uses(one.Name) && !spared[one.Labels[labelRun]]
	}
	oldest := time.Now().Add(-longestLoan)
	return e.depot.TakeBackIf(ctx, func(name string, at time.Time) bool {
		job, _, _ := strings.Cut(name, "/")
		return ended[job] || at.Before(oldest)
	})
}

// inline returns input sources that contain the files themselves, as data URLs.
func inline(files map[string][]byte) []any {
	list := []any{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		list = append(list, source(path, "inline", data("application/octet-stream", files[path])))
	}
	return list
}

func data(kind string, content []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content)
}

func source(path, kind, address string) any {
	return map[string]any{"Target": inputs + "/" + path, "Source": map[string]any{"Type": kind, "Params": map[string]string{"URL": address}}}
}
