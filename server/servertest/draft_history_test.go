package servertest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const historyPath = stalePath + "/draft/history"

type savedDraft struct {
	Revision int64
	SavedAt  string
	SavedBy  struct{ ID, Name string }
	Label    string
	Files    []string
	Settings bool
}

func history(t *testing.T, s *servertest.Server, query string) (items []savedDraft, next string) {
	t.Helper()
	var page struct {
		Items      []savedDraft
		NextCursor string
	}
	s.Want(t, 200, "GET", historyPath+query, nil).Into(t, &page)
	return page.Items, page.NextCursor
}

func TestDraftHistory_EachSave_ListedAndRestorable(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	save(t, s, "2", map[string]any{"inputSchema": schemaOf("city", "string"), "files": map[string]any{
		"main.py": "def main(input): return 3\n", "logo.png": map[string]string{"base64": "/wD+"},
	}})
	items, next := history(t, s, "")
	if len(items) != 3 || next != "" || items[0].Revision != 3 || items[2].Revision != 1 {
		t.Fatalf("listed %+v, next %q", items, next)
	}
	if !slices.Equal(items[0].Files, []string{"logo.png", "main.py"}) || !items[0].Settings || !slices.Equal(items[1].Files, []string{"main.py"}) || items[1].Settings {
		t.Errorf("the entries say that this changed: %+v", items)
	}
	if items[0].SavedAt == "" || items[0].SavedBy.ID == "" || items[0].SavedBy.Name == "" {
		t.Errorf("the entry does not say who saved it and when: %+v", items[0])
	}

	first, next := history(t, s, "?limit=2")
	rest, end := history(t, s, "?limit=2&cursor="+next)
	if len(first) != 2 || len(rest) != 1 || end != "" || rest[0].Revision != 1 || !slices.Equal(rest[0].Files, []string{"main.py"}) {
		t.Errorf("pages %+v and %+v", first, rest)
	}

	var draft struct {
		Revision int64
		Files    map[string]any
	}
	s.Want(t, 200, "GET", historyPath+"/1", nil).Into(t, &draft)
	if draft.Revision != 1 || len(draft.Files) != 1 || draft.Files["main.py"] != "def main(input): return {'by': 'first'}\n" {
		t.Errorf("revision 1 is %+v", draft)
	}
	s.Want(t, 404, "GET", historyPath+"/9", nil)

	s.Want(t, 428, "POST", historyPath+"/1/restore", nil)
	s.Want(t, 409, "POST", historyPath+"/1/restore", nil, servertest.Headers{"If-Match": `"2"`})
	var restored struct {
		Draft struct {
			Revision int64
			Files    map[string]any
		}
	}
	s.Want(t, 200, "POST", historyPath+"/1/restore", nil, servertest.Headers{"If-Match": `"3"`}).Into(t, &restored)
	if restored.Draft.Revision != 4 || restored.Draft.Files["main.py"] != draft.Files["main.py"] || len(restored.Draft.Files) != 1 {
		t.Errorf("restored %+v", restored)
	}
	if items, _ := history(t, s, ""); len(items) != 4 {
		t.Errorf("restoring lost an entry: %+v", items)
	}
	s.Want(t, 200, "POST", historyPath+"/3/restore", nil, servertest.Headers{"If-Match": `"4"`}).Into(t, &restored)
	if len(restored.Draft.Files) != 2 {
		t.Errorf("restored %+v", restored)
	}
}

// TestDraftHistory_ManySaves_KeepsTheLast50AndLabels checks that labelled entries remain in addition to the last 50.
func TestDraftHistory_ManySaves_KeepsTheLast50AndLabels(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	s.Want(t, 204, "PATCH", historyPath+"/1", map[string]any{"label": "before the rewrite"})
	s.Want(t, 404, "PATCH", historyPath+"/9", map[string]any{"label": "x"})
	for revision := 2; revision < 60; revision++ {
		save(t, s, fmt.Sprint(revision), map[string]any{"code": fmt.Sprintf("def main(input): return %d\n", revision)})
	}
	items, _ := history(t, s, "?limit=200")
	if len(items) != 51 || items[0].Revision != 60 || items[49].Revision != 11 || items[50].Revision != 1 || items[50].Label != "before the rewrite" {
		t.Errorf("%d entries, the last are %+v", len(items), items[max(0, len(items)-2):])
	}
	s.Want(t, 200, "GET", historyPath+"/1", nil)
	s.Want(t, 200, "GET", historyPath+"/11", nil)
	s.Want(t, 404, "GET", historyPath+"/10", nil)
}

// TestDraftHistory_AutosavesOfOneSession_ShareAnEntry checks that a labelled entry and a save of another client between
// autosaves are kept.
func TestDraftHistory_AutosavesOfOneSession_ShareAnEntry(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	b := join(t, s, "ada", invite(t, s, "developer"))
	match := func(revision string) servertest.Headers { return servertest.Headers{"If-Match": `"` + revision + `"`} }
	auto := func(revision, title string) {
		t.Helper()
		b.want(t, 200, "PUT", stalePath, map[string]any{"code": "def main(input): return '" + title + "'\n"}, match(revision))
	}
	auto("2", "a")
	auto("3", "b")
	auto("4", "c")
	s.Want(t, 204, "PATCH", historyPath+"/5", map[string]any{"label": "kept"})
	auto("5", "d")
	save(t, s, "6", map[string]any{"code": "def main(input): return 'by a token'\n"})
	auto("7", "e")
	items, _ := history(t, s, "")
	var revisions []int64
	for _, item := range items {
		revisions = append(revisions, item.Revision)
	}
	if !slices.Equal(revisions, []int64{8, 7, 6, 5, 2, 1}) {
		t.Errorf("entries %v", revisions)
	}
}
