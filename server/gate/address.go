package gate

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// secret matches the tokens and invitations that this server issues.
var secret = regexp.MustCompile(`at[li]_[A-Za-z0-9_-]{20,}`)

// checkAddress rejects a request whose URL contains a credential, because URLs are stored in logs and histories and are
// forwarded. The sign-in link is allowed, because it works only once. The secret of an invitation is no problem: it
// follows the #, and browsers do not send this part of a URL.
func (g *Gate) checkAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if shown(r.URL) {
			g.Refuse.Write(w, r, fault.New(fault.BadRequest,
				"Credentials are not accepted in URLs, because others can see them. Revoke this one, create a new one, and send it as Authorization: Bearer TOKEN."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func shown(address *url.URL) bool {
	if secret.MatchString(address.Path) {
		return true
	}
	if address.RawQuery == "" {
		return false
	}
	query := address.Query()
	for _, name := range []string{"token", "access_token", "api_key", "apikey", "bearer", "authorization", "password"} {
		if query.Has(name) {
			return true
		}
	}
	for _, values := range query {
		for _, value := range values {
			if secret.MatchString(value) {
				return true
			}
		}
	}
	return false
}

// JobInputsPath is the beginning of the paths of inputs of jobs. The rest is a permission to read one of them.
const JobInputsPath = "/job-inputs/"

// masked returns a path with its secrets redacted for the log.
func masked(path string) string {
	if strings.HasPrefix(path, JobInputsPath) {
		return JobInputsPath + "…"
	}
	return secret.ReplaceAllString(path, "…")
}
