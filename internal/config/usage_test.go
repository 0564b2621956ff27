package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/config"
)

func TestUsage_Prices(t *testing.T) {
	t.Parallel()
	load := func(environment map[string]string) (config.Config, error) {
		empty := filepath.Join(t.TempDir(), "atelier.yaml")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return config.Load(config.Sources{File: empty, Getenv: func(name string) string { return environment[name] }})
	}
	c, err := load(map[string]string{"ATELIER_CURRENCY": "CHF", "ATELIER_PRICE_GPU_MINUTES": "0.05", "ATELIER_PRICE_TOKENS": "3"})
	if want := (config.Usage{Currency: "CHF", GPUMinute: 0.05, Tokens: 3}); err != nil || c.Usage != want {
		t.Errorf("%+v, %v", c.Usage, err)
	}
	if c, err := load(nil); err != nil || c.Usage != (config.Usage{Currency: "EUR"}) {
		t.Errorf("by default: %+v, %v", c.Usage, err)
	}
	for name, value := range map[string]string{"ATELIER_CURRENCY": "euro", "ATELIER_PRICE_RUNS": "-1", "ATELIER_PRICE_EGRESS": "NaN", "ATELIER_PRICE_STORAGE": "1e99", "ATELIER_PRICE_CPU_SECONDS": "free"} {
		if _, err := load(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
