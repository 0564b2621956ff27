package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/access"
)

// credentialsFile is the file in the data directory with the address and the token that the command line uses.
const credentialsFile = "cli-token"

// credentialsName is the name of the command line's token in the list of tokens.
const credentialsName = "command line on the server"

// Credentials holds the server's address and the token for the command line.
type Credentials struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// SignInLink returns a URL with which one browser can sign in as the first administrator. The URL works only once.
func (a *App) SignInLink(ctx context.Context, base string) (string, error) {
	secret, err := a.access.SignInLink(ctx, registry.DefaultUser)
	return base + "/login?link=" + url.QueryEscape(secret), err
}

// WriteCredentials writes DATA/cli-token for the command line. Only the user of this process can read the file. If the
// token of an earlier start is still valid, it is used again.
func (a *App) WriteCredentials(ctx context.Context, listening net.Addr) error {
	path := filepath.Join(a.Config.Data, credentialsFile)
	credentials, err := ReadCredentials(a.Config.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if credentials.Token == "" || !a.opens(ctx, credentials.Token) {
		if credentials.Token, err = a.Token(ctx, credentialsName); err != nil {
			return err
		}
	}
	credentials.URL = localURL(listening)
	text, err := json.Marshal(credentials)
	if err != nil {
		return err
	}
	next := path + ".next"
	if err = os.WriteFile(next, append(text, '\n'), 0o600); err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", credentialsFile, err)
	}
	return nil
}

// Token creates a token with the scope admin for the default workspace.
func (a *App) Token(ctx context.Context, name string) (string, error) {
	secret, _, err := a.access.CreateToken(ctx, access.Host(), access.TokenRequest{Name: name, Scopes: everything()})
	return secret, err
}

func everything() []registry.Scope { return []registry.Scope{registry.AdminScope} }

// opens reports whether a token is still valid and has the scope admin. The command line needs this scope.
func (a *App) opens(ctx context.Context, token string) bool {
	caller, err := a.access.Issued(ctx, token)
	return err == nil && caller.May(everything()...)
}

// ReadCredentials reads the credentials that the server wrote to a data directory. A file that cannot be read counts as
// missing.
func ReadCredentials(data string) (Credentials, error) {
	text, err := os.ReadFile(filepath.Join(data, credentialsFile))
	if err != nil {
		return Credentials{}, err
	}
	var c Credentials
	if !json.Valid(text) {
		return c, nil
	}
	return c, json.Unmarshal(text, &c)
}

// PassingToken creates a token with the scope admin for this process. The token expires after an hour; forget revokes
// it earlier.
func (a *App) PassingToken(ctx context.Context) (secret string, forget func() error, err error) {
	soon := a.Now().Add(time.Hour)
	secret, token, err := a.access.CreateToken(ctx, access.Host(), access.TokenRequest{Name: "command line, this once", Scopes: everything(), ExpiresAt: &soon})
	return secret, func() error {
		return a.access.RevokeToken(context.WithoutCancel(ctx), access.Administrator(), token.ID)
	}, err
}
