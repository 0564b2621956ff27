package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/studio/access"
)

// breakGlassFor is the lifetime of an emergency token that BreakGlass creates.
const breakGlassFor = time.Hour

// BreakGlass creates an administrator token for a workspace whose administrators have lost access. It writes directly
// to the database, so it does not matter whether a server is running. The workspace's list of tokens shows the token
// with the reason.
func BreakGlass(ctx context.Context, c config.Config, log *slog.Logger, workspace, reason string) (secret string, err error) {
	if strings.TrimSpace(reason) == "" {
		return "", errors.New("--reason must not be empty; it is stored with the token")
	}
	address := DatabaseURL(c)
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("no database found; set its directory with --data: %w", err)
		}
	}
	files, err := openBlobs(ctx, c)
	if err != nil {
		return "", err
	}
	s, err := store.Open(ctx, store.Options{URL: address, Blobs: files, Log: log, NoMigrate: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := s.Workspace(ctx, workspace)
	if err != nil {
		return "", err
	}
	expires := time.Now().Add(breakGlassFor)
	host := registry.Caller{Actor: registry.Actor{ID: "host", Type: registry.SystemActor, Name: "break-glass on the host", Workspace: w.ID}}
	service := access.New(access.Options{Tokens: s, Agents: s, Now: time.Now, NewID: newID})
	secret, _, err = service.CreateToken(ctx, host, access.TokenRequest{Name: "break-glass: " + strings.TrimSpace(reason), Scopes: everything(), ExpiresAt: &expires})
	return secret, err
}
