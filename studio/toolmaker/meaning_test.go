package toolmaker_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/toolmaker"
)

// shelf is a list of published agents with their latest versions. It contains no drafts.
type shelf map[string]registry.Version

func (s shelf) List(_ context.Context, _ registry.Actor, f registry.AgentFilter) (registry.AgentPage, error) {
	var page registry.AgentPage
	for name, v := range s {
		if f.State == "published" && (f.Query == "" || strings.Contains(strings.ToLower(name+v.Description), f.Query)) {
			page.Items = append(page.Items, registry.Agent{ID: name, Name: name, Description: v.Description})
		}
	}
	return page, nil
}

func (shelf) Get(context.Context, registry.Actor, string) (registry.Agent, error) {
	return registry.Agent{}, fault.New(fault.NotFound, "none")
}

func (s shelf) Resolve(_ context.Context, _ string, ref registry.Reference) (registry.Version, error) {
	return s[ref.Agent], nil
}

func (shelf) Browse(context.Context, registry.AgentFilter) (registry.AgentPage, error) {
	return registry.AgentPage{}, nil
}

func (shelf) Version(context.Context, string, string, string) (registry.Version, error) {
	return registry.Version{}, fault.New(fault.NotFound, "none")
}

// lenient is a validator that accepts every document except "bad".
type lenient struct{}

func (lenient) Validate(_, document json.RawMessage) ([]fault.Detail, error) {
	if string(document) == `"bad"` {
		return []fault.Detail{{}}, nil
	}
	return nil, nil
}

var errWrites = errors.New("the model was asked to write a tool")

type noWriter struct{}

func (noWriter) Generate(context.Context, registry.Actor, assist.Wish, func(assist.Attempt)) (assist.Program, error) {
	return assist.Program{}, errWrites
}

// meaning returns one of two vectors: one for texts about counting, and one for all others.
type meaning struct {
	asked []string
	err   error // error that is returned after the first vectors
	most  int   // number of vectors that are returned together with the error
	off   error
}

func (*meaning) Embedding() string { return "vectors" }

func (m *meaning) Check(context.Context, string) error { return m.off }

func (m *meaning) Embed(_ context.Context, _ string, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		vector := []float32{0, 1}
		if strings.Contains(text, "ount") || strings.Contains(text, "How many") {
			vector = []float32{1, 0}
		}
		vectors = append(vectors, vector)
	}
	m.asked = append(m.asked, texts...)
	if m.err != nil {
		return vectors[:min(len(vectors), m.most)], m.err
	}
	return vectors, nil
}

// A search must find a published tool that has no word in common with the task. It must request the vector of each tool
// only once. Without vectors, it must compare words.
func TestFind_ByMeaning(t *testing.T) {
	t.Parallel()
	m := &meaning{}
	tools := shelf{
		"tally": {Version: "1.0.0", Spec: registry.Spec{}, Description: "Counts words."},
		"paint": {Version: "1.0.0", Spec: registry.Spec{}, Description: "Mixes colours."},
	}
	s := toolmaker.New(toolmaker.Options{Agents: tools, Catalog: tools, Versions: tools, Validator: lenient{}, Writer: noWriter{}, Meaning: m, Likeness: 0.7, Log: slog.New(slog.DiscardHandler)})
	find := func(task, example string) (toolmaker.Tool, error) {
		return s.Find(t.Context(), registry.Actor{Workspace: "w"}, toolmaker.Request{Task: task, InputExample: json.RawMessage(example)}, nil)
	}
	const task = "How many terms does this sentence contain?"
	for range 2 {
		if tool, err := find(task, `"good"`); err != nil || tool.Outcome != toolmaker.Found || tool.Name != "tally" || !strings.Contains(tool.Reason, "by the model vectors: similarity 1.00. The example") {
			t.Errorf("%+v, %v", tool, err)
		}
	}
	if len(m.asked) != 4 || m.asked[0] != task || m.asked[3] != task || !slices.ContainsFunc(m.asked, func(one string) bool { return strings.Contains(one, "Mixes colours.") }) {
		t.Errorf("the model got %q", m.asked)
	}
	if tool, err := find(task, `"bad"`); !errors.Is(err, errWrites) {
		t.Errorf("a tool that refuses the example: %+v, %v", tool, err)
	}
	if tool, err := find("Mixing colours", ""); err != nil || tool.Name != "paint" {
		t.Errorf("%+v, %v", tool, err)
	}
	m.err = fault.New(fault.ModelUnavailable, "busy")
	if tool, err := find("Count words", ""); err != nil || tool.Name != "tally" || !strings.Contains(tool.Reason, "2 of 2 words") {
		t.Errorf("%+v, %v", tool, err)
	}
	if tool, err := find(task, ""); !errors.Is(err, errWrites) {
		t.Errorf("without vectors: %+v, %v", tool, err)
	}
}

// A search requests only the vectors that an earlier failed search did not get. A workspace that may not use the model
// requests none.
func TestFind_VectorsOfAFailedSearch_AreKept(t *testing.T) {
	t.Parallel()
	m := &meaning{err: fault.New(fault.ModelUnavailable, "busy"), most: 2}
	tools := shelf{"tally": {Version: "1.0.0", Description: "Counts words."}, "paint": {Version: "1.0.0", Description: "Mixes colours."}}
	s := toolmaker.New(toolmaker.Options{Agents: tools, Catalog: tools, Versions: tools, Validator: lenient{}, Writer: noWriter{}, Meaning: m, Likeness: 0.7, Log: slog.New(slog.DiscardHandler)})
	asks := func() int {
		t.Helper()
		m.asked = nil
		_, err := s.Find(t.Context(), registry.Actor{Workspace: "w"}, toolmaker.Request{Task: "How many terms does this sentence contain?"}, nil)
		if err != nil && !errors.Is(err, errWrites) {
			t.Fatal(err)
		}
		return len(m.asked)
	}
	if first, second := asks(), asks(); first != 3 || second != 2 {
		t.Errorf("the first search asked for %d vectors, the second for %d", first, second)
	}
	m.err, m.off = nil, fault.New(fault.ModelUnavailable, "off")
	if n := asks(); n != 0 {
		t.Errorf("a workspace without the model asked for %d vectors", n)
	}
}
