package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/archive"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
)

const id = "0190f0f0-0000-7000-8000-000000000001"

// seen records the contents of an archive.
type seen struct {
	Agents   []archive.Agent
	Versions []registry.Version
}

func (s *seen) Agent(a archive.Agent) error      { s.Agents = append(s.Agents, a); return nil }
func (s *seen) Version(v registry.Version) error { s.Versions = append(s.Versions, v); return nil }

func spec() registry.Spec {
	return registry.Spec{
		Language: runtimes.Python, Runtime: runtimes.PythonEngine, Entrypoint: "main.py",
		Files:       map[string]registry.File{"main.py": registry.File("def main(input): return 1\n"), "lib/a.bin": {0xff, 0, 1}, "lib/é.txt": registry.File("<&>")},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}`), OutputSchema: json.RawMessage(`{}`),
	}
}

func agent() archive.Agent {
	return archive.Agent{
		ID: id, Name: "weather", FormerNames: []string{"old_name"}, Title: "Weather", Tags: []string{"a"}, Metadata: json.RawMessage(`{}`),
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Creator: archive.Actor{ID: "u", Type: registry.UserActor, Name: "Ada"},
		Draft: spec(), Versions: []string{"1.0.0", "1.1.0-rc.1"}, Listed: true,
		Origin: &registry.Origin{AgentID: id, Name: "echo", Version: "2.0.1", Digest: "sha256:" + strings.Repeat("0", 64)},
	}
}

func version(t testing.TB, number string) registry.Version {
	t.Helper()
	v := registry.Version{AgentID: id, Agent: "weather", Version: number, Changelog: "x", Spec: spec(), PublishedAt: agent().CreatedAt, PublishedBy: "u",
		Publisher: registry.Actor{ID: "u", Type: registry.UserActor, Name: "Ada"}}
	v.Files["number.txt"] = registry.File(number)
	sums, err := digest.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	v.Digest, v.ContentDigest, v.CodeDigest = sums.Version, sums.Content, sums.Code
	return v
}

// entry is one file of a hostile archive.
type entry struct {
	header tar.Header
	text   string
}

// good returns a valid archive from which the hostile ones are derived.
func good(t testing.TB) []entry {
	t.Helper()
	var whole bytes.Buffer
	w, err := archive.NewWriter(&whole, []string{"weather"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Agent(agent()); err != nil {
		t.Fatal(err)
	}
	for _, number := range agent().Versions {
		if err := w.Version("weather", version(t, number)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(&whole)
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	in := tar.NewReader(zip)
	for {
		header, err := in.Next()
		if err == io.EOF {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{*header, string(text)})
	}
}

func pack(t testing.TB, entries []entry) []byte {
	t.Helper()
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	for _, e := range entries {
		if e.header.Typeflag == tar.TypeReg {
			e.header.Size = int64(len(e.text))
		}
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped(t, tarred.Bytes())
}

func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var whole bytes.Buffer
	zip := gzip.NewWriter(&whole)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return whole.Bytes()
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var got seen
	if err := archive.Read(bytes.NewReader(pack(t, good(t))), &got); err != nil {
		t.Fatal(err)
	}
	want := seen{Agents: []archive.Agent{agent()}, Versions: []registry.Version{version(t, "1.0.0"), version(t, "1.1.0-rc.1")}}
	ignoreSpelling := cmp.Comparer(func(a, b json.RawMessage) bool { // the writer changes the indentation
		var x, y bytes.Buffer
		return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && x.String() == y.String() || len(a)+len(b) == 0
	})
	if diff := cmp.Diff(want, got, ignoreSpelling, cmp.Comparer(sameNames), cmp.Comparer(sameEnvironment)); diff != "" {
		t.Error(diff)
	}
}

func sameNames(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

func sameEnvironment(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func at(entries []entry, suffix string) int {
	for i, e := range entries {
		if strings.HasSuffix(e.header.Name, suffix) {
			return i
		}
	}
	panic(suffix)
}

func file(name, text string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, text}
}

func insert(entries []entry, where int, more ...entry) []entry {
	return append(append(append([]entry{}, entries[:where]...), more...), entries[where:]...)
}

// TestHostileArchives checks that archives with manipulated content are rejected.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	const draft = "agents/weather/draft/"
	replace := func(suffix, from, to string) func([]entry) []entry {
		return func(e []entry) []entry {
			i := at(e, suffix)
			if !strings.Contains(e[i].text, from) {
				panic(from)
			}
			e[i].text = strings.Replace(e[i].text, from, to, 1)
			return e
		}
	}
	add := func(before string, more ...entry) func([]entry) []entry {
		return func(e []entry) []entry { return insert(e, at(e, before), more...) }
	}
	link := func(kind byte, to string) entry {
		return entry{tar.Header{Typeflag: kind, Name: draft + "aa", Linkname: to}, ""}
	}
	tests := map[string]func([]entry) []entry{
		"climbs out":                add("draft/lib/a.bin", file(draft+"../../../../etc/passwd", "x")),
		"climbs out within":         add("draft/lib/a.bin", file(draft+"a/../../b", "x")),
		"absolute path":             add("draft/lib/a.bin", file("/etc/passwd", "x")),
		"absolute within":           add("draft/lib/a.bin", file(draft+"/etc/passwd", "x")),
		"backslashes":               add("draft/lib/a.bin", file(draft+`..\..\x`, "x")),
		"drive":                     add("draft/lib/a.bin", file(draft+`C:x`, "x")),
		"dot part":                  add("draft/lib/a.bin", file(draft+`./a`, "x")),
		"empty part":                add("draft/lib/a.bin", file(draft+`a//b`, "x")),
		"control character":         add("draft/lib/a.bin", file(draft+"a\x1bb", "x")),
		"turned text":               add("draft/lib/a.bin", file(draft+"a\u202eb", "x")),
		"not UTF-8":                 add("draft/lib/a.bin", entry{tar.Header{Typeflag: tar.TypeReg, Name: draft + "a\xff", Format: tar.FormatGNU}, "x"}),
		"long path":                 add("draft/lib/a.bin", file(draft+strings.Repeat("a", 256), "x")),
		"very long path":            add("draft/lib/a.bin", file(draft+strings.Repeat("a/", 50_000)+"b", "x")),
		"symbolic link":             add("draft/lib/a.bin", link(tar.TypeSymlink, "/etc/passwd")),
		"hard link":                 add("draft/lib/a.bin", link(tar.TypeLink, "atelier.json")),
		"device":                    add("draft/lib/a.bin", link(tar.TypeChar, "")),
		"pipe":                      add("draft/lib/a.bin", link(tar.TypeFifo, "")),
		"folder":                    add("draft/lib/a.bin", entry{tar.Header{Typeflag: tar.TypeDir, Name: draft + "aa/"}, ""}),
		"duplicate file":            add("draft/main.py", file(draft+"lib/é.txt", "other")),
		"out of order":              add("draft/main.py", file(draft+"a", "x")),
		"case collision":            add("draft/lib/é.txt", file(draft+"lib/É.txt", "x")),
		"case collision of folders": add("draft/lib/a.bin", file(draft+"LIB/A.bin", "x")),
		"file within a file":        add("draft/lib/é.txt", file(draft+"lib/a.bin/x", "x")),
		"unannounced file":          add("versions/1.0.0/version.json", file("agents/weather/notes.txt", "x")),
		"file at the end":           func(e []entry) []entry { return append(e, file("z", "x")) },
		"file at the start":         func(e []entry) []entry { return insert(e, 0, file("a", "x")) },
		"duplicate document":        func(e []entry) []entry { return insert(e, at(e, "/agent.json"), e[at(e, "/agent.json")]) },
		"duplicate version":         replace("/agent.json", `"1.1.0-rc.1"`, `"1.0.0"`),
		"agent twice":               replace("atelier.json", `"weather"`, `"weather","weather"`),
		"agent that is missing":     replace("atelier.json", `"weather"`, `"weather","other"`),
		"agent not announced":       replace("atelier.json", `"weather"`, ``),
		"other form":                replace("atelier.json", `archive/1`, `archive/2`),
		"former name is another's":  replace("/agent.json", `"old_name"`, `"weather"`),
		"former name is invalid":    replace("/agent.json", `"old_name"`, `"../x"`),
		"name is invalid":           replace("/agent.json", `"name": "weather"`, `"name": "Weather"`),
		"ID is invalid":             replace("/agent.json", id, "x"),
		"origin with another name":  replace("/agent.json", `"echo"`, `"../x"`),
		"origin without a version":  replace("/agent.json", `"2.0.1"`, `"latest"`),
		"origin without a digest":   replace("/agent.json", `"sha256:000`, `"sha256:xxx`),
		"files in the document":     replace("/agent.json", `"files": null`, `"files": {"a":"b"}`),
		"unknown member":            replace("/agent.json", `"title"`, `"admin": true, "title"`),
		"document has extra data":   func(e []entry) []entry { e[at(e, "/agent.json")].text += "{}"; return e },
		"document is not JSON":      func(e []entry) []entry { e[at(e, "/agent.json")].text = "\x00"; return e },
		"deep document":             func(e []entry) []entry { e[at(e, "/agent.json")].text = strings.Repeat("[", 1_000_000); return e },
		"version is invalid":        replace("/agent.json", `"1.0.0"`, `"1.0"`),
		"version climbs out":        replace("/agent.json", `"1.0.0"`, `"../../1.0.0"`),
		"wrong digest":              replace("1.0.0/version.json", `"digest": "sha256:`, `"digest": "sha256:0`),
		"wrong code digest":         replace("1.0.0/version.json", `"codeDigest": "sha256:`, `"codeDigest": "sha256:0`),
		"changed code":              replace("1.0.0/files/main.py", "return 1", "return 2"),
		"changed schema":            replace("1.0.0/version.json", "12345678901234567890", "12345678901234567891"),
		"changed changelog":         replace("1.0.0/version.json", `"changelog": "x"`, `"changelog": "y"`),
		"added file":                add("1.0.0/files/number.txt", file("agents/weather/versions/1.0.0/files/n", "x")),
		"removed file":              func(e []entry) []entry { i := at(e, "1.0.0/files/number.txt"); return append(e[:i:i], e[i+1:]...) },
		"version of another agent":  replace("1.0.0/version.json", `"agent": "weather"`, `"agent": "other"`),
		"version with another name": replace("1.0.0/version.json", `"version": "1.0.0"`, `"version": "9.0.0"`),
		"publisher with a bell":     replace("1.0.0/version.json", `"name": "Ada"`, `"name": "A\u0007"`),
		"cut at a file":             func(e []entry) []entry { return e[:len(e)-3] },
		"cut after the agent":       func(e []entry) []entry { return e[:at(e, "1.0.0/version.json")] },
		"nothing":                   func([]entry) []entry { return nil },
		"too many files": func(e []entry) []entry {
			var more []entry
			for i := range archive.MaxFiles + 1 {
				more = append(more, file(fmt.Sprintf(draft+"a%04d", i), ""))
			}
			return insert(e, at(e, "draft/lib/a.bin"), more...)
		},
		"bomb": func(e []entry) []entry {
			return insert(e, at(e, "draft/lib/a.bin"), file(draft+"a", strings.Repeat("\x00", 33<<20)))
		},
		"many files that are too large": func(e []entry) []entry {
			return insert(e, at(e, "draft/lib/a.bin"), file(draft+"a", strings.Repeat("\x00", 17<<20)), file(draft+"b", strings.Repeat("\x00", 17<<20)))
		},
		"large document": func(e []entry) []entry {
			e[at(e, "/agent.json")].text = strings.Repeat(" ", 9<<20)
			return e
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, pack(t, change(good(t))))
		})
	}
	t.Logf("%d hostile archives", len(tests))
}

func refused(t *testing.T, text []byte) {
	t.Helper()
	err := archive.Read(bytes.NewReader(text), &seen{})
	if !fault.Is(err, fault.InvalidInput) {
		t.Fatalf("got %v", err)
	}
	if message := fmt.Sprint(err); strings.ContainsAny(message, "\x00\x1b\u202e") || len(message) > 600 {
		t.Errorf("%q", message)
	}
}

// TestHostileStreams checks that truncated archives and archives with changed bytes are rejected.
func TestHostileStreams(t *testing.T) {
	t.Parallel()
	whole := pack(t, good(t))
	count := 0
	for n := 0; n < len(whole); n += 7 {
		refused(t, whole[:n])
		count++
	}
	for _, more := range [][]byte{{0}, whole, []byte("PK\x03\x04")} {
		refused(t, append(append([]byte{}, whole...), more...))
		count++
	}
	refused(t, zipped(t, bytes.Repeat([]byte("x"), 4096)))
	refused(t, zipped(t, whole))
	accepted := 0
	for n := range whole {
		changed := bytes.Clone(whole)
		changed[n] ^= 0x55
		var got seen
		if archive.Read(bytes.NewReader(changed), &got) == nil {
			accepted++ // a byte of the gzip header that does not affect the content
			if len(got.Versions) != 2 || got.Versions[0].Digest != version(t, "1.0.0").Digest {
				t.Errorf("byte %d: other content", n)
			}
		}
		count++
	}
	if accepted > 10 {
		t.Errorf("%d changed archives were accepted", accepted)
	}
	t.Logf("%d broken streams, of which %d differ only in the gzip header", count+2, accepted)
}

// TestHostileSparse checks that an archive with a sparse file, which has fewer bytes than its size, is rejected.
func TestHostileSparse(t *testing.T) {
	t.Parallel()
	e := good(t)
	i := at(e, "draft/lib/a.bin")
	e[i].header.Format = tar.FormatPAX
	e[i].header.PAXRecords = map[string]string{"ATELIER.note": "1"}
	if err := archive.Read(bytes.NewReader(pack(t, e)), &seen{}); err != nil {
		t.Fatalf("an unknown PAX record is rejected: %v", err)
	}
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	for _, one := range e[:i] {
		one.header.Size = int64(len(one.text))
		if err := w.WriteHeader(&one.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, one.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	tarred.Write(sparseEntry(e[i].header.Name))
	refused(t, zipped(t, tarred.Bytes()))
}

// sparseEntry returns a GNU sparse file (1.0, in PAX records) of 1 MiB without data. tar.Writer cannot write one.
func sparseEntry(name string) []byte {
	record := func(key, value string) string {
		for n := len(key) + len(value) + 3; ; n++ {
			if text := fmt.Sprintf("%d %s=%s\n", n, key, value); len(text) == n {
				return text
			}
		}
	}
	records := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", name) + record("GNU.sparse.realsize", "1048576")
	var out bytes.Buffer
	out.Write(block("x", 'x', len(records)))
	out.WriteString(records + strings.Repeat("\x00", 512-len(records)))
	out.Write(block(name, '0', 512))
	out.WriteString("0\n" + strings.Repeat("\x00", 510))
	out.Write(make([]byte, 1024))
	return out.Bytes()
}

func block(name string, kind byte, size int) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "00000000000\x00")
	copy(b[148:], "        ")
	b[156] = kind
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, good(f)), []byte(nil))
	f.Add([]byte(nil), []byte("atelier.json"))
	f.Add(pack(f, good(f)[:2]), sparseEntry("atelier.json"))
	f.Fuzz(func(t *testing.T, zip, plain []byte) {
		for _, text := range [][]byte{zip, zipped(t, plain)} {
			var got seen
			if err := archive.Read(bytes.NewReader(text), &got); err != nil {
				if !fault.Is(err, fault.InvalidInput) {
					t.Fatalf("%v", err)
				}
				continue
			}
			for _, v := range got.Versions {
				sums, err := digest.Of(v)
				if err != nil || sums.Version != v.Digest {
					t.Fatalf("%s has another digest: %v", v.Reference(), err)
				}
			}
		}
	})
}
