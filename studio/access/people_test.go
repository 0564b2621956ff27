package access_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/access"
)

// town is a server with two workspaces. The person grace administers one of them.
type town struct {
	*access.Service
	db    *store.Store
	grace registry.User
	acme  registry.Workspace
}

func newTown(t *testing.T) town {
	t.Helper()
	db := storetest.Open(t, storetest.SQLite)
	ids := make(chan string, 100)
	for i := range cap(ids) {
		ids <- "id-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	s := access.New(access.Options{
		Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Invitations: db, Workspaces: db, Now: time.Now, NewID: func() string { return <-ids },
	})
	w := town{Service: s, db: db, grace: registry.User{ID: "u-grace", Name: "grace", Title: "Grace", CreatedAt: time.Now()}}
	if err := db.CreateUser(t.Context(), w.grace); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.acme, err = s.CreateWorkspace(t.Context(), access.Host(), "acme", ""); err != nil {
		t.Fatal(err)
	}
	w.put(t, w.acme.ID, w.grace.ID, registry.Administrator)
	return w
}

func (w town) put(t *testing.T, workspace, user string, role registry.Role) {
	t.Helper()
	if err := w.db.PutMember(t.Context(), workspace, user, role, time.Now()); err != nil {
		t.Fatal(err)
	}
}

// signIn returns the cookie of a new session of a user.
func (w town) signIn(t *testing.T, user string) string {
	t.Helper()
	cookie, _, err := w.OpenSession(t.Context(), user, registry.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

// caller returns the caller of a user in the workspace acme, with a new session.
func (w town) caller(t *testing.T, user string) registry.Caller {
	t.Helper()
	c, err := w.Session(t.Context(), w.signIn(t, user), "acme")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestASessionChoosesItsWorkspace(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	admin, grace := w.signIn(t, registry.DefaultUser), w.signIn(t, w.grace.ID)
	for name, tt := range map[string]struct{ cookie, asked, got string }{
		"the default one comes first": {admin, "", registry.DefaultWorkspace},
		"by name":                     {admin, "acme", w.acme.ID},
		"by ID":                       {admin, w.acme.ID, w.acme.ID},
		"the only one":                {grace, "", w.acme.ID},
	} {
		c, err := w.Session(t.Context(), tt.cookie, tt.asked)
		if err != nil || c.Actor.Workspace != tt.got || c.Workspace.ID != tt.got || c.Role != registry.Administrator {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	_, foreign := w.Session(t.Context(), grace, registry.DefaultWorkspace)
	_, none := w.Session(t.Context(), grace, "nowhere")
	if !fault.Is(foreign, fault.NoWorkspace) || !fault.Is(none, fault.NoWorkspace) {
		t.Errorf("a foreign workspace: %v, none: %v", foreign, none)
	}
}

// A new role takes effect immediately, for sessions and for tokens.
func TestARoleCountsAtOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	alan := registry.User{ID: "u-alan", Name: "alan", Title: "Alan", CreatedAt: time.Now()}
	if err := w.db.CreateUser(t.Context(), alan); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.OpenSession(t.Context(), alan.ID, registry.Device{})
	wantUnauthenticated(t, "a member of nothing", err)
	w.put(t, w.acme.ID, alan.ID, registry.Administrator)
	cookie := w.signIn(t, alan.ID)
	secret, token, err := w.CreateToken(t.Context(), w.caller(t, alan.ID), access.TokenRequest{Name: "ci", Scopes: []registry.Scope{registry.RunScope, registry.ApproveScope}})
	if err != nil || token.User != alan.ID {
		t.Fatalf("%+v, %v", token, err)
	}
	grace := w.caller(t, w.grace.ID).Actor
	for role, want := range map[registry.Role]struct{ session, token []registry.Scope }{
		registry.Viewer:        {[]registry.Scope{registry.ReadScope}, nil},
		registry.Developer:     {[]registry.Scope{registry.ReadScope, registry.RunScope, registry.WriteScope}, []registry.Scope{registry.RunScope}},
		registry.Approver:      {[]registry.Scope{registry.ReadScope, registry.RunScope, registry.WriteScope, registry.ApproveScope}, []registry.Scope{registry.RunScope, registry.ApproveScope}},
		registry.Administrator: {[]registry.Scope{registry.AdminScope}, []registry.Scope{registry.RunScope, registry.ApproveScope}},
	} {
		changed := w.Changed()
		if err := w.SetRole(t.Context(), grace, alan.ID, role); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		default:
			t.Errorf("%s: nobody is told", role)
		}
		session, err := w.Session(t.Context(), cookie, "")
		if err != nil || session.Role != role || !slices.Equal(session.Scopes, want.session) {
			t.Errorf("session as %s: %+v, %v", role, session, err)
		}
		bearer, err := w.Issued(t.Context(), secret)
		if err != nil || !slices.Equal(bearer.Scopes, want.token) {
			t.Errorf("token of %s: %+v, %v", role, bearer, err)
		}
	}
	if err := w.SetRole(t.Context(), grace, alan.ID, "owner"); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a role that is none: %v", err)
	}
	if err := w.RemoveMember(t.Context(), grace, alan.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.Session(t.Context(), cookie, "")
	wantUnauthenticated(t, "the session of somebody who was removed", err)
	_, err = w.Issued(t.Context(), secret)
	wantUnauthenticated(t, "their token", err)
	w.put(t, w.acme.ID, alan.ID, registry.Viewer)
	_, err = w.Issued(t.Context(), secret)
	wantUnauthenticated(t, "their token when they are back", err)
}

func TestWorkspacesAreMadeAndClosedByWhoRunsTheServer(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	grace := w.caller(t, w.grace.ID)
	_, err := w.CreateWorkspace(t.Context(), grace, "mine", "")
	if !fault.Is(err, fault.Forbidden) || !fault.Is(w.CloseWorkspace(t.Context(), grace, "acme"), fault.Forbidden) {
		t.Errorf("an administrator of another workspace: %v", err)
	}
	for name, title := range map[string]string{"Acme": "", "new": "", "acme2": "\u202egnp", "": "x"} {
		if _, err := w.CreateWorkspace(t.Context(), access.Host(), name, title); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q %q: %v", name, title, err)
		}
	}
	if _, err := w.DescribeWorkspace(t.Context(), grace, registry.DefaultWorkspace, "Mine"); !fault.Is(err, fault.NoWorkspace) {
		t.Errorf("another's title: %v", err)
	}
	if got, err := w.DescribeWorkspace(t.Context(), grace, "acme", "Acme Ltd"); err != nil || got.Title != "Acme Ltd" {
		t.Errorf("%+v, %v", got, err)
	}
	for who, want := range map[*registry.Caller]int{&grace: 1, ptr(access.Host()): 2} {
		if all, err := w.ListWorkspaces(t.Context(), *who); err != nil || len(all) != want {
			t.Errorf("%s knows %+v, %v", who.Actor.Name, all, err)
		}
	}
	host, _, err := w.CreateToken(t.Context(), registry.Caller{Actor: registry.Actor{ID: "host", Workspace: w.acme.ID}}, access.TokenRequest{Name: "host"})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := w.Issued(t.Context(), host); err != nil || c.Workspace.ID != w.acme.ID || c.User != "" {
		t.Errorf("%+v, %v", c, err)
	}
	cookie := w.signIn(t, w.grace.ID)
	if err := w.CloseWorkspace(t.Context(), access.Host(), registry.DefaultWorkspace); !fault.Is(err, fault.Conflict) {
		t.Errorf("the server's own: %v", err)
	}
	if err := w.CloseWorkspace(t.Context(), access.Host(), "acme"); err != nil {
		t.Fatal(err)
	}
	_, err = w.Session(t.Context(), cookie, "")
	wantUnauthenticated(t, "a session of a closed workspace", err)
	_, err = w.Issued(t.Context(), host)
	wantUnauthenticated(t, "a token of it", err)
}

func ptr[T any](v T) *T { return &v }

// A password must be hashed at the configured cost. A stored hash with another cost must still match.
func TestCostOfAPassword(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite)
	service := func(cost access.Cost) *access.Service {
		return access.New(access.Options{
			Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Invitations: db, Workspaces: db, Now: time.Now, Cost: cost, NewID: uuid.NewString,
		})
	}
	low, high := service(access.Cost{Time: 1, Memory: 64, Threads: 1}), service(access.Cost{Time: 2, Memory: 128, Threads: 2})
	secret, _, err := low.Invite(t.Context(), access.Host(), access.InvitationRequest{Role: registry.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	const password = "correct horse battery"
	if _, _, err := low.Accept(t.Context(), secret, access.Acceptance{Name: "ada", Password: password}, registry.Device{}); err != nil {
		t.Fatal(err)
	}
	if ada, err := db.UserByName(t.Context(), "ada"); err != nil || !strings.HasPrefix(ada.Password, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("kept as %q %v", ada.Password, err)
	}
	if _, _, err := high.SignInByPassword(t.Context(), "ada", password, registry.Device{}); err != nil {
		t.Errorf("the cost of another time: %v", err)
	}
	if _, _, err := high.SignInByPassword(t.Context(), "ada", password+"!", registry.Device{}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("another password: %v", err)
	}
}

// An expiry in any time zone must be returned in UTC.
func TestExpiriesAreToldAsListsTellThem(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	there := clock.now.In(time.FixedZone("there", 2*60*60)).Add(time.Hour)
	_, invitation, err := s.Invite(t.Context(), access.Host(), access.InvitationRequest{Role: registry.Viewer, ExpiresAt: &there})
	if err != nil || invitation.ExpiresAt != there.UTC() {
		t.Errorf("the invitation expires at %v, %v", invitation.ExpiresAt, err)
	}
	_, token, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "t", ExpiresAt: &there})
	if err != nil || *token.ExpiresAt != there.UTC() {
		t.Errorf("the token expires at %v, %v", token.ExpiresAt, err)
	}
}
