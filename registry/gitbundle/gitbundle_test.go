package gitbundle_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/gitbundle"
)

// read returns the files of a bundle by path: the content of plain files, and the kind of other entries in parentheses.
func read(bundle []byte, limit int64) (map[string]string, *gitbundle.Bundle, error) {
	files := map[string]string{}
	b, err := gitbundle.Open(bytes.NewReader(bundle), limit)
	if err != nil {
		return nil, nil, err
	}
	err = b.Files(func(e gitbundle.Entry) error {
		switch {
		case !e.Plain:
			files[e.Path] = "(link)"
		case e.Large:
			files[e.Path] = "(large)"
		default:
			files[e.Path] = string(e.Content)
		}
		return nil
	})
	return files, b, err
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	bundle, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

// TestBundle_FilesOfHead reads shop.bundle. It has two commits, some files of which are deltas, a link, an executable
// file and a tag.
func TestBundle_FilesOfHead(t *testing.T) {
	t.Parallel()
	files, b, err := read(fixture(t, "shop.bundle"), 1<<20)
	if err != nil || b.Ref != "HEAD" || b.Commit != "f02a2afc9540578cc81c58dd44ca6cc93bbb3740" || len(files) != 4 {
		t.Fatalf("%v %+v %v", err, b, files)
	}
	if files["README.md"] != "# Shop\n\nSells.\n" || files["src/main.sh"] != "echo hi\n" || files["link"] != "(link)" || !strings.Contains(files["src/deep/long.txt"], "line two hundred\nline 201\n") {
		t.Errorf("%v", files)
	}
	if files, _, err = read(fixture(t, "shop.bundle"), 200); err != nil || files["src/deep/long.txt"] != "(large)" || files["README.md"] != "# Shop\n\nSells.\n" {
		t.Errorf("with a small limit: %v %v", err, files)
	}
}

// TestBundle_TagAndEarlierCommit checks that the files of a tag's commit, and of an earlier commit whose files are
// deltas, can be read.
func TestBundle_TagAndEarlierCommit(t *testing.T) {
	t.Parallel()
	bundle := fixture(t, "shop.bundle")
	_, rest, _ := bytes.Cut(bundle, []byte("\n\n"))
	tag := append([]byte("# v3 git bundle\n@object-format=sha1\n4238e52cfbbeb04670b094ca0b7d6c6887de65a1 refs/tags/v1\n\n"), rest...)
	if files, b, err := read(tag, 1<<20); err != nil || b.Ref != "refs/tags/v1" || len(files) != 4 {
		t.Errorf("%v %v", err, files)
	}
	first := append([]byte("# v2 git bundle\nf2b80ef932a088a6498c5e2cf750dc1775de689f refs/heads/old\n\n"), rest...)
	if files, _, err := read(first, 1<<20); err != nil || !strings.Contains(files["src/deep/long.txt"], "line 200\n") {
		t.Errorf("%v %v", err, files)
	}
}

func TestBundle_Refusals(t *testing.T) {
	t.Parallel()
	_, rest, _ := bytes.Cut(fixture(t, "shop.bundle"), []byte("\n\n"))
	const id = "f02a2afc9540578cc81c58dd44ca6cc93bbb3740"
	for name, tt := range map[string]struct {
		header, want string
	}{
		"version":    {"# v9 git bundle\n\n", "unknown version"},
		"no end":     {"# v2 git bundle\n" + id + " HEAD\n", "without an end"},
		"no ref":     {"# v2 git bundle\n\n", "neither HEAD"},
		"two refs":   {"# v2 git bundle\n" + id + " refs/heads/a\n" + id + " refs/heads/b\n\n", "neither HEAD"},
		"malformed":  {"# v2 git bundle\nxyz HEAD\n\n", "malformed header"},
		"capability": {"# v3 git bundle\n@filter=blob:none\n" + id + " HEAD\n\n", "filter=blob:none"},
		"absent":     {"# v2 git bundle\n" + strings.Repeat("1", 40) + " HEAD\n\n", "is missing the object"},
		"a blob":     {"# v2 git bundle\n640fd82e11e9a51d59f54d3844312928219dd537 HEAD\n\n", "not a commit"},
	} {
		pack := rest
		if name == "no end" {
			pack = nil
		}
		if _, _, err := read(append([]byte(tt.header), pack...), 1<<20); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := read(fixture(t, "part.bundle"), 1<<20); err == nil || !strings.Contains(err.Error(), "part of the history") {
		t.Errorf("part: %v", err)
	}
}

// TestBundle_Damaged checks that no damaged bundle causes a panic.
func TestBundle_Damaged(t *testing.T) {
	t.Parallel()
	bundle := fixture(t, "shop.bundle")
	for n := range bundle {
		_, _, _ = read(bundle[:n], 1<<20)
		for _, bit := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(bundle)
			damaged[n] ^= bit
			_, _, _ = read(damaged, 1<<20)
		}
	}
}

func FuzzBundle(f *testing.F) {
	for _, name := range []string{"shop.bundle", "part.bundle"} {
		bundle, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bundle)
	}
	f.Fuzz(func(_ *testing.T, bundle []byte) { _, _, _ = read(bundle, 1<<16) })
}
