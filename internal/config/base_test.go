package config_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/config"
)

// The path of the public URL and the base path agree, whichever is set.
func TestBasePath(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ public, base, wantPublic, wantBase, fault string }{
		"neither":            {"", "", "", "", ""},
		"base alone":         {"", "/atelier", "", "/atelier", ""},
		"slash at the end":   {"", "/tools/atelier/", "", "/tools/atelier", ""},
		"the root":           {"", "/", "", "", ""},
		"public alone":       {"https://example.com/atelier/", "", "https://example.com/atelier", "/atelier", ""},
		"public without":     {"https://example.com", "/atelier", "https://example.com/atelier", "/atelier", ""},
		"both alike":         {"https://example.com/atelier", "/atelier", "https://example.com/atelier", "/atelier", ""},
		"both, not alike":    {"https://example.com/a", "/b", "", "", "base-path is /b, but the path of --public-url is /a; set only one of them"},
		"no slash":           {"", "atelier", "", "", " must be a path of letters"},
		"dots":               {"", "/../atelier", "", "", " must be a path of letters"},
		"markup":             {"", `/"><script>`, "", "", " must be a path of letters"},
		"another host":       {"", "//example.com", "", "", " must be a path of letters"},
		"markup in public":   {"https://example.com/a;b", "", "", "", "base-path is taken from --public-url (/a;b) and must be a path"},
		"longer than a path": {"", "/" + strings.Repeat("a", 300), "", "", " must be a path of letters"},
	}
	for name, tt := range tests {
		flags := map[string]string{}
		if tt.public != "" {
			flags["public-url"] = tt.public
		}
		if tt.base != "" {
			flags["base-path"] = tt.base
		}
		c, err := config.Load(config.Sources{File: empty(t), Getenv: env(nil), Flags: flags})
		switch {
		case tt.fault == "" && (err != nil || c.PublicURL != tt.wantPublic || c.BasePath != tt.wantBase):
			t.Errorf("%s: %q and %q, %v", name, c.PublicURL, c.BasePath, err)
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
