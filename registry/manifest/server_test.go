package manifest_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/atelier-run/atelier/registry/manifest"
)

// TestServerOf_FitsTheRegistry checks that a server.json obeys the limits and patterns of server.schema.json.
func TestServerOf_FitsTheRegistry(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	for base, want := range map[string]string{
		"https://studio.example.com/base": "com.example.studio/daily", "http://127.0.0.1:8002": "127.0.0.1/daily", "http://[::1]:8002": "--1/daily",
		"https://" + strings.Repeat("a.", 120) + "example": strings.Repeat("a.", 0) + "example" + strings.Repeat(".a", 46) + "/daily",
	} {
		s := manifest.ServerOf(manifest.Offer{
			Base: base, Path: "/mcp/sets/daily", Name: "daily", Title: strings.Repeat("ä", 150), Description: "Two\nlines " + strings.Repeat("x", 150), Version: "1.2.0",
			Tools: []manifest.ServerTool{{Reference: "weather@1.2.0", Digest: "sha256:1"}},
		})
		if s.Name != want || !name.MatchString(s.Name) || len(s.Name) > 200 {
			t.Errorf("the name is %s, want %s", s.Name, want)
		}
		if utf8.RuneCountInString(s.Title) != 100 || utf8.RuneCountInString(s.Description) != 100 || strings.Contains(s.Description, "\n") {
			t.Errorf("the texts are %q and %q", s.Title, s.Description)
		}
		if s.Remotes[0].URL != base+"/mcp/sets/daily" || !s.Remotes[0].Headers[0].IsRequired {
			t.Errorf("the address is %+v", s.Remotes)
		}
		text, err := json.Marshal(s)
		if err != nil || !strings.Contains(string(text), `"_meta":{"io.modelcontextprotocol.registry/publisher-provided":{"tools":[{"reference":"weather@1.2.0"`) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestServer_ManyTools_FitTheRegistry(t *testing.T) {
	t.Parallel()
	var tools []manifest.ServerTool
	for range 200 {
		tools = append(tools, manifest.ServerTool{Reference: "weather@1.2.0", Digest: "sha256:" + strings.Repeat("0", 64)})
	}
	got := manifest.ServerOf(manifest.Offer{Base: "https://example.com", Name: "daily", Version: "1.0.0", Tools: tools}).Meta.Publisher
	text, err := json.Marshal(got)
	if err != nil || len(text) > 4096 || len(text) < 3900 || len(got.Tools)+got.Omitted != 200 {
		t.Errorf("%d bytes, %d tools and %d omitted, %v", len(text), len(got.Tools), got.Omitted, err)
	}
}
