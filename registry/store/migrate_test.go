package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func each(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Helper()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			test(t, storetest.Options(t, d))
		})
	}
}

// fill inserts a row into every table.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	a := create(t, s, agent("weather"))
	publish(t, s, a, "1.0.0")
	pin := registry.Pin{AgentID: a.ID, Reference: "^1", CreatedAt: start}
	set := registry.ToolSet{ID: newID(), Workspace: ws, Name: newID(), Tools: []registry.SetTool{{AgentID: a.ID, Version: "1.0.0"}}, CreatedAt: start, UpdatedAt: start}
	if err := s.PutPackageLock(t.Context(), registry.PackageLock{Workspace: registry.DefaultWorkspace, List: "sha256:1", CreatedAt: start, UsedAt: start}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutToolSet(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := s.ReplacePins(t.Context(), ws, newID(), []registry.Pin{pin}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutSkill(t.Context(), registry.Skill{AgentID: a.ID, Workspace: ws, Origin: registry.FolderSkill, InstalledAt: start, Installer: ada}); err != nil {
		t.Fatal(err)
	}
	run := finished()
	run.AgentID = a.ID
	finish(t, s, run, events(1, 3)...)
	token := registry.Token{ID: newID(), Workspace: ws, Hash: newID(), CreatedAt: start}
	session := registry.Session{Hash: newID(), Actor: ada, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
	federate(t, s, newID())
	secret := registry.Secret{Workspace: ws, Name: "S" + newID()[:8], KeyID: "k", Sealed: []byte{1}, SetAt: start, SetBy: ada}
	use := registry.SecretUse{Workspace: ws, RunID: run.ID, Name: secret.Name, RunAgentID: a.ID, At: start}
	_, stale := s.Settle(t.Context())
	_, err := s.ReserveKey(t.Context(), registry.IdempotencyKey{Owner: "o", Key: newID(), ExpiresAt: start})
	_, lost := s.PutSession(t.Context(), session, 100)
	_, unasked := s.InsertApproval(t.Context(), registry.Approval{ID: "approval", Workspace: ws, Status: registry.ApprovalPending, Request: []byte("{}")}, deliveryOf)
	_, unset := s.PutGateSettings(t.Context(), ws, registry.GateSettings{})
	project := registry.Project{ID: newID(), Workspace: ws, Name: "p", Change: 1}
	unkept := errors.Join(s.CreateProject(t.Context(), project, registry.ProjectChange{Workspace: ws, ProjectID: project.ID, Number: 1}),
		s.InsertOverlay(t.Context(), registry.Overlay{ID: newID(), Workspace: ws, ProjectID: project.ID, Status: registry.OverlayOpen}),
		s.InsertTask(t.Context(), registry.Task{ID: newID(), Workspace: ws, ProjectID: project.ID, Status: registry.TaskQueued}, 1),
		s.PutContents(t.Context(), ws, []registry.Content{{Digest: "d", Bytes: []byte("x")}}, start))
	if err := errors.Join(err, stale, lost, unasked, unset, unkept, s.PutToken(t.Context(), token), s.PutSignInLink(t.Context(), newID(), registry.DefaultUser, start),
		s.PutInvitation(t.Context(), registry.Invitation{ID: newID(), Hash: newID(), Workspace: registry.DefaultWorkspace, Role: registry.Viewer, CreatedAt: start, ExpiresAt: start}, ""),
		s.PutSecret(t.Context(), secret, 100), s.NoteSecretUses(t.Context(), []registry.SecretUse{use}), s.PutQuota(t.Context(), ws, registry.OwnQuota{}), s.PutBudget(t.Context(), registry.Budget{Workspace: ws, Name: "b", Amount: 1, UpdatedAt: start}, 10),
		s.PutRulePack(t.Context(), registry.RulePack{Workspace: ws, Name: "p"}),
		s.PutSignInFailures(t.Context(), registry.SignInFailures{Source: newID(), Count: 1, Until: start})); err != nil {
		t.Fatal(err)
	}
	_, unwarned := s.WarnBudget(t.Context(), registry.BudgetWarning{Workspace: ws, Budget: "b", Month: "2026-11", Percent: 50, At: start}, nil)
	if err := errors.Join(unwarned, s.ChooseModel(t.Context(), ws, registry.ModelChoice{Off: true}), s.AddModelUse(t.Context(), ws, "2026-11", registry.Tokens{Input: 1}), s.AskToCancel(t.Context(), ws, begin(t, s, queued()).ID), s.KeepRemoteJob(t.Context(), registry.RemoteJob{RunID: run.ID, Workspace: ws, Request: []byte("{}")}), s.ShareUse(t.Context(), []registry.ServerUse{{Workspace: ws, Day: start}})); err != nil {
		t.Fatal(err)
	}
	empty, err := s.EmptyTables(t.Context())
	if err != nil || len(empty) != 0 {
		t.Fatalf("tables without rows: %v, %v", empty, err)
	}
}

func TestMigrationsGoUpDownAndUpWithRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		all, err := s.MigrationStatus(t.Context())
		if err != nil || len(all) == 0 {
			t.Fatalf("%v, %v", all, err)
		}
		for _, one := range all {
			if one.AppliedAt == nil || one.AppliedAt.IsZero() {
				t.Errorf("%s is pending after Open", one.Name)
			}
		}
		for range 2 {
			fill(t, s)
			if n, err := s.Rollback(t.Context()); err != nil || n != len(all) {
				t.Fatalf("took %d back, %v", n, err)
			}
			if left, err := s.Tables(t.Context()); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			applied, err := s.Migrate(t.Context())
			if err != nil || len(applied) != len(all) || applied[0] != all[0].Name {
				t.Fatalf("applied %v, %v", applied, err)
			}
		}
		fill(t, s)
		if applied, err := s.Migrate(t.Context()); err != nil || len(applied) != 0 {
			t.Errorf("applied again: %v, %v", applied, err)
		}
	})
}

func TestOpen_UnknownMigration_Refused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ migration, want string }{
		"newer":                    {"29990101000000", "newer Atelier"},
		"before the first release": {"20261123191500", "use an empty database"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, o store.Options) {
				s := storetest.Reopen(t, o)
				if err := s.Exec(t.Context(), "INSERT INTO bun_migrations (name, group_id) VALUES ('"+tt.migration+"', 9)"); err != nil {
					t.Fatal(err)
				}
				for _, leave := range []bool{false, true} {
					o.NoMigrate = leave
					_, err := store.Open(t.Context(), o)
					if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.migration) {
						t.Errorf("%v", err)
					}
				}
			})
		})
	}
}

func TestNoMigrateLeavesTheSchema(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		o.NoMigrate = true
		s := storetest.Reopen(t, o)
		all, err := s.MigrationStatus(t.Context())
		if err != nil || len(all) == 0 || all[0].AppliedAt != nil {
			t.Errorf("%v, %v", all, err)
		}
		if s.FinishRun(t.Context(), finished(), nil) == nil {
			t.Error("a run was stored without a table")
		}
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		finish(t, s, finished())
	})
}

func TestServersThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.Postgres)
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			s, err := store.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
