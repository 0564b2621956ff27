package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/vault"
)

const (
	first  = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	second = "f0e0d0c0b0a090807060504030201000f0e0d0c0b0a090807060504030201000"
)

func parse(t *testing.T, text string) vault.Keys {
	t.Helper()
	keys, err := vault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestTextsOpenWhereTheyWereSealedOnly(t *testing.T) {
	t.Parallel()
	keys := parse(t, first)
	id, sealed, err := keys.Seal([]byte("the value"), "acme", "", "KEY")
	if err != nil || strings.Contains(string(sealed), "value") || id != keys.ID() {
		t.Fatalf("%q %s %v", sealed, id, err)
	}
	if text, err := keys.Open(id, sealed, "acme", "", "KEY"); err != nil || string(text) != "the value" {
		t.Errorf("%q, %v", text, err)
	}
	for _, about := range [][]string{{"other", "", "KEY"}, {"acme", "", "KEZ"}, {"acme", "KEY", ""}, {"acme", "KEY"}, {"acme", "", "KEY", ""}, {"acm", "e", "KEY"}} {
		if text, err := keys.Open(id, sealed, about...); err == nil {
			t.Errorf("%v opens it: %q", about, text)
		}
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := keys.Open(id, sealed, "acme", "", "KEY"); err == nil || errors.Is(err, vault.ErrUnknownKey) {
		t.Error("a changed text opens", err)
	}
	if _, again, _ := keys.Seal([]byte("the value"), "acme", "", "KEY"); string(again[12:]) == string(sealed[12:]) {
		t.Error("the same text is sealed the same twice")
	}
}

func TestFormerKeysOpenAndTheFirstSeals(t *testing.T) {
	t.Parallel()
	old := parse(t, second)
	id, sealed, err := old.Seal([]byte("the value"), "x")
	if err != nil {
		t.Fatal(err)
	}
	both := parse(t, "# new\n"+first+"\n\n"+second+"\n")
	if text, err := both.Open(id, sealed, "x"); err != nil || string(text) != "the value" {
		t.Errorf("%q, %v", text, err)
	}
	if both.ID() == id || !both.Has(id) || both.First().Has(id) || both.ID() != parse(t, first+", "+second).ID() {
		t.Errorf("%s seals, %s sealed", both.ID(), id)
	}
	if _, err := parse(t, first).Open(id, sealed, "x"); !errors.Is(err, vault.ErrUnknownKey) {
		t.Error(err)
	}
	fresh, err := old.Fresh()
	if err != nil || fresh.ID() == old.ID() || !fresh.Has(old.ID()) {
		t.Error(fresh.ID(), old.ID(), err)
	}
}

func TestWrongKeysAreRefusedWithoutBeingRepeated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# none\n", "hunter2", first[:40], first + "," + first[:20], strings.Repeat("ab", 16)} {
		_, err := vault.Parse(text)
		if err == nil || !strings.Contains(err.Error(), "openssl rand -base64 32") || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", parse(t, first), parse(t, first), parse(t, first), parse(t, first)); strings.Contains(shown, first) || strings.Contains(shown, "0x") {
		t.Error(shown)
	}
	var none vault.Keys
	if _, _, err := none.Seal([]byte("x")); err == nil || none.ID() != "" {
		t.Error("no key seals", err)
	}
}

func TestFilesOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secrets.key")
	if _, _, err := vault.Read(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	keys, err := parse(t, first).Fresh()
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Write(path); err != nil {
		t.Fatal(err)
	}
	got, open, err := vault.Read(path)
	if err != nil || open || got.ID() != keys.ID() || !got.Has(parse(t, first).ID()) {
		t.Errorf("%v %v %v", got, open, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, open, err := vault.Read(path); err != nil || !open {
		t.Error("nobody says that all may read it", err)
	}
	if info, err := os.ReadDir(filepath.Dir(path)); err != nil || len(info) != 1 {
		t.Errorf("%v is left, %v", info, err)
	}
	for name, text := range map[string]string{"empty": "", "large": strings.Repeat("x", 1<<20), "wrong": "hunter2"} {
		wrong := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := vault.Read(wrong); err == nil || !strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), "hunter2") {
			t.Error(name, err)
		}
	}
	if err := keys.Write(filepath.Join(t.TempDir(), "nowhere", "x")); err == nil {
		t.Error("it is written into no directory")
	}
}
