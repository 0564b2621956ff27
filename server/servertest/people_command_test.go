package servertest_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// An operator creates a workspace on the host, gives its first person access with a break-glass token, and manages its
// members.
func TestPeopleOnTheCommandLine(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := servertest.Spawn(t, data)
	on := func(args ...string) string {
		t.Helper()
		said := servertest.Command(t, "", append(args, "--data", data)...)
		if said.Code != 0 {
			t.Fatalf("%v: %+v", args, said)
		}
		return strings.TrimSpace(said.Stdout)
	}
	on("workspace", "create", "acme", "--title", "Acme Ltd")
	if list := on("workspace", "list"); !strings.Contains(list, "Acme Ltd") || !strings.Contains(list, "default") {
		t.Errorf("workspaces:\n%s", list)
	}
	glass := on("break-glass", "--workspace", "acme", "--reason", "nobody is left")
	acme := func(args ...string) string {
		t.Helper()
		return on(append(args, "--server", p.URL, "--token", glass)...)
	}
	link := acme("invite", "create", "developer", "--for", "Grace")
	if list := acme("invite", "list"); !strings.Contains(list, "Grace") || strings.Contains(list, "ati_") {
		t.Errorf("invitations:\n%s", list)
	}
	_, secret, _ := strings.Cut(link, "#")
	answer := p.Want(t, 204, "POST", "/api/v1/invitations/accept", map[string]string{"secret": secret, "name": "grace", "password": password}, anonymous)
	grace := as(cookieOf(t, answer))
	p.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"mine","language":"javascript","code":"export default () => 1"}`, grace)
	acme("member", "role", "grace", "viewer")
	p.Want(t, 403, "POST", "/api/v1/code-agents", `{"name":"yours","language":"javascript","code":"export default () => 1"}`, grace)
	if list := acme("member", "list"); !strings.Contains(list, "grace") || !strings.Contains(list, "viewer") {
		t.Errorf("members:\n%s", list)
	}
	acme("member", "remove", "grace")
	p.Want(t, 401, "GET", "/api/v1/session", nil, grace)
	if list := acme("token", "list"); !strings.Contains(list, "break-glass: nobody is left") {
		t.Errorf("the glass is not recorded:\n%s", list)
	}
	acme("invite", "create", "viewer")
	id := strings.Fields(strings.Split(acme("invite", "list"), "\n")[1])[0]
	acme("invite", "revoke", id)
	on("workspace", "close", "acme")

	for _, wrong := range [][]string{
		{"member", "list", "--server", p.URL, "--token", glass},
		{"member", "role", "nobody", "viewer"}, {"member", "role", "admin", "owner"}, {"member", "remove", "admin"},
		{"invite", "create", "owner"}, {"invite", "create", "viewer", "--expires", "9000h"}, {"invite", "revoke", "nothing"},
		{"workspace", "create", "New Name"}, {"workspace", "close", "default"}, {"workspace", "close", "acme"},
		{"break-glass", "--reason", " "}, {"break-glass", "--reason", "x", "--workspace", "acme"}, {"break-glass", "--reason", "x", "--data", t.TempDir()},
	} {
		args := wrong
		if wrong[len(wrong)-2] != "--data" {
			args = append(args, "--data", data)
		}
		if said := servertest.Command(t, "", args...); said.Code == 0 || said.Stderr == "" || strings.Contains(said.Stderr, "internal") {
			t.Errorf("%v: %+v", wrong, said)
		}
	}
}
