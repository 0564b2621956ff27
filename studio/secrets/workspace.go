package secrets

import (
	"context"
	"log/slog"

	"github.com/atelier-run/atelier/internal/fault"
)

// Values decrypts secrets of the workspace, by name, for use by the server itself. It omits missing secrets. It also
// omits secrets that are bound to a host, because such a value may only be sent in requests of programs to that host.
func (s *Service) Values(ctx context.Context, workspace string, names ...string) (map[string]string, error) {
	found, err := s.Store.SecretsOf(ctx, workspace, "", names)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, one := range found {
		if one.AgentID != "" || one.Binding != nil {
			continue
		}
		text, err := s.Keys.Open(one.KeyID, one.Sealed, about(one)...)
		if err != nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "open secret", slog.String("workspace", workspace), slog.String("secret", one.Name), slog.String("key_id", one.KeyID), slog.Any("error", err))
			return nil, fault.New(fault.SecretMissing, "The secret %s cannot be decrypted. Set it again.", one.Name)
		}
		values[one.Name] = string(text)
	}
	return values, nil
}
