package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/studio/secrets"
)

// keysFile is the file in the data directory with the encryption keys of secrets.
const keysFile = "secrets.key"

// openSecrets loads the encryption keys of secrets. If the keys cannot decrypt the stored secrets, it returns an error
// and the server does not start. Otherwise the agents that use these secrets would fail one by one.
func (a *App) openSecrets(ctx context.Context) error {
	sealed, err := a.store.SecretKeys(ctx)
	if err != nil {
		return err
	}
	keys, err := keysOf(ctx, a.Config, a.Log, sealed)
	if err != nil {
		return err
	}
	a.secrets = secrets.New(secrets.Options{Store: a.store, Uses: a.store, Agents: a.store, Keys: keys, Log: a.Log, Now: a.now})
	return nil
}

// now returns the current time with the precision of both databases, so that a time in a response equals the stored
// time.
func (a *App) now() time.Time { return a.Now().UTC().Truncate(time.Microsecond) }

// keysOf returns the configured encryption keys. It returns an error if they cannot decrypt the stored secrets. sealed is
// the number of secrets by key ID. If there are neither keys nor secrets, it creates a key.
func keysOf(ctx context.Context, c config.Config, log *slog.Logger, sealed map[string]int) (vault.Keys, error) {
	keys, from := c.SecretsKeys, "secrets-key (ATELIER_SECRETS_KEY)"
	if keys.ID() == "" {
		path, own := keysPath(c)
		var open bool
		var err error
		keys, open, err = vault.Read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && own && len(sealed) == 0:
			return freshKeys(path)
		case errors.Is(err, fs.ErrNotExist) && own:
			return keys, fmt.Errorf("the database contains %s, but the key file %s does not exist; restore it from your backup, or set --secrets-key-file (ATELIER_SECRETS_KEY_FILE) or ATELIER_SECRETS_KEY", described(sealed), path)
		case errors.Is(err, fs.ErrNotExist):
			return keys, fmt.Errorf("secrets-key-file (ATELIER_SECRETS_KEY_FILE): %s does not exist; restore it from your backup, or for a new server create one with: (umask 077; openssl rand -base64 32 > %s)", path, path)
		case err != nil:
			return keys, fmt.Errorf("secrets-key-file (ATELIER_SECRETS_KEY_FILE): %w", err)
		case open:
			if err := os.Chmod(path, 0o600); err != nil {
				return keys, fmt.Errorf("other users can read the secrets key file %s, and its mode cannot be changed; run chmod 600 on it: %w", path, err)
			}
			log.LogAttrs(ctx, slog.LevelWarn, "other users could read the secrets key file; its mode is 600 now", slog.String("file", path))
		}
		from = "secrets-key-file (ATELIER_SECRETS_KEY_FILE, " + path + ")"
	}
	unread := map[string]int{}
	for id, count := range sealed {
		if !keys.Has(id) {
			unread[id] = count
		}
	}
	if len(unread) > 0 {
		return keys, fmt.Errorf("%s does not contain the key of %s; add the key that encrypted them after the existing key", from, described(unread))
	}
	return keys, nil
}

func keysPath(c config.Config) (path string, own bool) {
	if c.SecretsFile != "" {
		return c.SecretsFile, false
	}
	return filepath.Join(c.Data, keysFile), true
}

func freshKeys(path string) (vault.Keys, error) {
	keys, err := vault.Keys{}.Fresh()
	if err != nil {
		return keys, err
	}
	if err := keys.Write(path); err != nil {
		return keys, fmt.Errorf("create the secrets key: %w", err)
	}
	return keys, nil
}

// described describes the total number of secrets and the IDs of their keys. It is used in error messages.
func described(sealed map[string]int) string {
	total, ids := 0, []string{}
	for id, count := range sealed {
		total += count
		ids = append(ids, id)
	}
	return fmt.Sprintf("%d secrets encrypted with the key %s", total, strings.Join(ids, ", "))
}

// Rotation is the result of a rotation of the encryption keys.
type Rotation struct {
	Secrets int    // number of secrets that were re-encrypted
	Key     string // ID of the new key
	File    string // path of the key file; "" if the keys come from ATELIER_SECRETS_KEY
}

// RotateSecrets re-encrypts every secret. If the keys are in a file, it adds a new key to the file. Otherwise it uses
// the first of the given keys. The server must not be running. The new key is stored first; then all secrets change in
// one transaction; the old keys are removed last. Therefore the file can decrypt every secret even after an
// interruption.
func RotateSecrets(ctx context.Context, c config.Config, log *slog.Logger) (done Rotation, err error) {
	err = withStore(ctx, c, log, func(s *store.Store) error {
		if _, err := s.MigrationStatus(ctx); err != nil {
			return err
		}
		sealed, err := s.SecretKeys(ctx)
		if err != nil {
			return err
		}
		keys, err := keysOf(ctx, c, log, sealed)
		if err != nil {
			return err
		}
		if c.SecretsKeys.ID() == "" {
			done.File, _ = keysPath(c)
			if keys, err = keys.Fresh(); err != nil {
				return err
			}
			if err := keys.Write(done.File); err != nil {
				return fmt.Errorf("write the new key: %w", err)
			}
		}
		done.Key = keys.ID()
		if done.Secrets, err = s.ResealSecrets(ctx, secrets.Reseal(keys)); err != nil || done.File == "" {
			return err
		}
		return keys.First().Write(done.File)
	})
	return done, err
}
