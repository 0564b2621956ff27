package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// TestFormat formats a script over HTTP. Code that cannot be formatted is returned unchanged or rejected.
func TestFormat(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	type report struct {
		Code   string
		Errors []struct{ Line int }
	}
	ask := func(code string) (got report) {
		s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/format", map[string]any{"language": "bash", "code": code}).Into(t, &got)
		return got
	}
	if got := ask("if true;then\necho 1\nfi"); got.Code != "if true; then\n  echo 1\nfi\n" || len(got.Errors) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask("echo 1\nif true; then\n"); got.Code != "echo 1\nif true; then\n" || len(got.Errors) != 1 || got.Errors[0].Line != 2 {
		t.Errorf("%+v", got)
	}
	refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/format", map[string]any{"language": "python", "code": "x=1"})
	if !strings.Contains(string(refused.Body), "must be bash") {
		t.Errorf("%s", refused.Body)
	}
}
