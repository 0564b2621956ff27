package toolmaker

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	mostVectors = 4096             // maximum number of cached vectors; a vector has at most 4096 numbers
	patience    = 10 * time.Second // maximum time for computing all vectors of a search; after this time, only words are compared
	mostText    = 4 << 10          // maximum size in bytes of a text for which a vector is computed
)

// vectorKey identifies the vector that a model has computed for a text. The text contains the title of the agent, so a
// new title gives a new key.
type vectorKey struct {
	model string
	text  [sha256.Size]byte
}

// vectors caches the vectors of published tools, so that a search computes only new vectors.
type vectors struct {
	mu    sync.Mutex
	known map[vectorKey][]float32
}

func (v *vectors) get(k vectorKey) []float32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known[k]
}

func (v *vectors) put(k vectorKey, vector []float32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= mostVectors {
		for old := range v.known { // Remove any entry: its vector can be computed again.
			delete(v.known, old)
			break
		}
	}
	v.known[k] = vector
}

// meant reports whether meanings are compared for a workspace. This is not done if the workspace may not use the
// language model.
func (s *Service) meant(ctx context.Context, workspace string) bool {
	return s.Meaning.Embedding() != "" && s.Meaning.Check(ctx, workspace) == nil
}

// likenesses returns the similarity of meaning between a task and each option. If the model does not answer, it returns
// nil.
func (s *Service) likenesses(ctx context.Context, workspace, task string, options []option) []float64 {
	if len(options) == 0 {
		return nil
	}
	model := s.Meaning.Embedding()
	asked, keys, found := []string{cut(task)}, []vectorKey{}, make([][]float32, len(options))
	at := []int{} // indexes of the options whose vectors are not cached
	for i, o := range options {
		text := described(o)
		key := vectorKey{model, sha256.Sum256([]byte(text))}
		if found[i] = s.vectors.get(key); found[i] == nil {
			asked, keys, at = append(asked, text), append(keys, key), append(at, i)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := s.Meaning.Embed(ctx, workspace, asked)
	for n, i := range at[:max(0, min(len(at), len(answer)-1))] {
		found[i] = answer[n+1]
		s.vectors.put(keys[n], answer[n+1])
	}
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "compare a task with tools by meaning; words are compared instead", slog.Any("error", err))
		return nil
	}
	likenesses := make([]float64, len(options))
	for i := range options {
		likenesses[i] = cosine(answer[0], found[i])
	}
	return likenesses
}

// described returns the text of an option from which its vector is computed.
func described(o option) string {
	parts := append([]string{o.Name + ":", o.tool.Title, o.tool.Description}, o.Tags...)
	return cut(strings.Join(append(parts, properties(o.tool.InputSchema, o.tool.OutputSchema)...), " "))
}

func cut(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "")
}

// cosine returns the similarity of two unit vectors. If their lengths differ, they come from different models with the
// same name, and cosine returns 0.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
