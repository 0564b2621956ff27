package packages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
)

// TestVersionsIn reads the versions from answers in all supported forms, and checks that it stops early in hostile answers.
func TestVersionsIn(t *testing.T) {
	t.Parallel()
	many := func(form string) string {
		var text strings.Builder
		for i := range 2 * maxListed {
			fmt.Fprintf(&text, form, i)
		}
		return text.String()
	}
	for name, tt := range map[string]struct {
		ecosystem  runtimes.Ecosystem
		kind, body string
		most       int
		want       string
	}{
		"npm":        {runtimes.NPM, "json", `{"name":"x","time":{"a":[1]},"versions":{"1.0.0":{"a":{}},"bad/1":1,"2.0.0":null}}`, 0, "2.0.0 1.0.0"},
		"npm many":   {runtimes.NPM, "json", `{"versions":{` + many(`"1.0.%d":{},`) + `"2.0.0":{}}}`, maxListed, ""},
		"npm other":  {runtimes.NPM, "json", `[[1]]`, 0, ""},
		"json":       {runtimes.PyPI, "json", `{"meta":{},"versions":["1.0"],"files":[{"filename":"x-1.1-py3-none-any.whl","size":1},{"filename":"x-1.2.tar.gz"}]}`, 0, "1.1 1.0"},
		"json many":  {runtimes.PyPI, "json", `{"files":[` + many(`{"filename":"x-1.%d-py3-none-any.whl"},`) + `{}]}`, maxListed, ""},
		"json empty": {runtimes.PyPI, "json", `{"versions":null,"files":7}`, 0, ""},
		"html":       {runtimes.PyPI, "html", `<a href="y">x-1.1-py3-none-any.whl</a><br/><A href='z'> x-1.0-py3-none-any.whl</A>`, 0, "1.1 1.0"},
		"html many":  {runtimes.PyPI, "html", many("<a href=''>x-1.%d-py3-none-any.whl</a>"), maxListed, ""},
	} {
		got := versionsIn(tt.ecosystem, "x", []byte(tt.body), tt.kind)
		if tt.most > 0 && (len(got) > tt.most || len(got) < tt.most-2) || tt.most == 0 && strings.Join(newest(got), " ") != tt.want {
			t.Errorf("%s: %d %.200v", name, len(got), got)
		}
	}
	if got := foundIn([]byte(`{"objects":[` + strings.Repeat(`{},`, maxListed) + `{"package":{"name":"late"}}]}`)); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	if got := foundIn([]byte(`{"total":1,"objects":[{"score":{},"package":{"name":"zod","version":"4.0.0","description":"d"}}]}`)); len(got) != 1 || got[0] != (Found{"zod", "4.0.0", "d"}) {
		t.Errorf("found %v", got)
	}
}

// TestNewest_ZerosBefore_Equal checks that 01 and 1 are the same number, so that the next part of the version decides.
func TestNewest_ZerosBefore_Equal(t *testing.T) {
	t.Parallel()
	got := newest([]string{"2024.1.5", "2024.01.7", "2024.01.6", "10.0", "9.0"})
	if want := []string{"2024.01.7", "2024.01.6", "2024.1.5", "10.0", "9.0"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestVersions_Concurrent checks that only a few answers of indexes are read at the same time.
func TestVersions_Concurrent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var all, now, most int
	enough := make(chan struct{}) // is closed when as many requests as possible have come
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		all, now = all+1, now+1
		most = max(most, now)
		if all == listings {
			close(enough)
		}
		mu.Unlock()
		<-enough
		_, _ = w.Write([]byte("<a href='x'>x-1.0-py3-none-any.whl</a>")) // is sent when the handler returns
		mu.Lock()
		now--
		mu.Unlock()
	}))
	defer index.Close()
	m := New(Options{Python: "/usr/bin/python3", UV: "/bin/true", Indexes: map[runtimes.Ecosystem]string{runtimes.PyPI: index.URL}})
	defer m.Close()
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if got, err := m.Versions(t.Context(), "default", runtimes.PyPI, "x"); err != nil || len(got) != 1 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	callers.Wait()
	if most > listings {
		t.Errorf("%d answers at the same time", most)
	}
}
