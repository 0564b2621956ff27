package quotas

import (
	"context"

	"github.com/atelier-run/atelier/registry"
)

// Others stores the counts of this server and reads the counts of the other servers.
type Others interface {
	ShareUse(ctx context.Context, all []registry.ServerUse) error
	OthersUse(ctx context.Context) ([]registry.ServerUse, error)
}

// Share exchanges counts with the other servers. Between two exchanges a server does not know which runs the other
// servers admit. Quotas may be exceeded by the number of these runs.
func (s *Service) Share(ctx context.Context, others Others) error {
	accounts := s.all()
	changed := []registry.ServerUse{}
	for _, a := range accounts {
		if own, is := s.share(a); is {
			changed = append(changed, own)
		}
	}
	if err := others.ShareUse(ctx, changed); err != nil {
		return err
	}
	all, err := others.OthersUse(ctx)
	if err != nil {
		return err
	}
	byWorkspace := map[string][]registry.ServerUse{}
	for _, one := range all {
		byWorkspace[one.Workspace] = append(byWorkspace[one.Workspace], one)
	}
	for _, a := range accounts {
		if !s.add(a, byWorkspace[a.workspace]) {
			continue
		}
		if err := s.recount(ctx, a); err != nil {
			return err
		}
	}
	for _, own := range changed {
		a := s.account(own.Workspace)
		a.mu.Lock()
		a.shared = own
		a.mu.Unlock()
	}
	return nil
}

func (s *Service) all() []*account {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*account, 0, len(s.accounts))
	for _, a := range s.accounts {
		all = append(all, a)
	}
	return all
}

// share returns the counts of this server for a workspace, and whether they must be stored. The counts of a workspace
// with active runs are stored every time. Otherwise the other servers would remove them when the lease of this server
// has expired.
func (s *Service) share(a *account) (registry.ServerUse, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		return registry.ServerUse{}, false
	}
	s.turn(a)
	own := registry.ServerUse{Workspace: a.workspace, Day: a.day, Live: a.live, Used: a.own}
	return own, own != a.shared || own.Live > 0
}

// add adds the usage that other servers counted since the last call. The first count of a server is only a start value,
// because the usage from the database already includes its runs. ended reports whether a server has stopped. Such a
// server may have counted runs that it never recorded.
func (s *Service) add(a *account, others []registry.ServerUse) (ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		return false
	}
	s.turn(a)
	a.others = 0
	seen := make(map[string]registry.DayUse, len(others))
	for _, one := range others {
		a.others += one.Live
		if !one.Day.Equal(a.day) {
			continue
		}
		if before, ok := a.seen[one.Server]; ok && one.Used.Runs >= before.Runs {
			a.used.Runs += one.Used.Runs - before.Runs
			a.used.CPUMs += max(0, one.Used.CPUMs-before.CPUMs)
		}
		seen[one.Server] = one.Used
	}
	for server, before := range a.seen {
		if after, ok := seen[server]; !ok || after.Runs < before.Runs {
			a.recount = true // recount stays true until a recount succeeds.
		}
	}
	a.seen = seen
	return a.recount
}

// recount reads the number of today's recorded runs from the database. It removes runs that a stopped server counted
// but never recorded. Runs of active servers may not be recorded yet, so these remain counted.
func (s *Service) recount(ctx context.Context, a *account) error {
	a.mu.Lock()
	day, before, live := a.day, a.used.Runs, a.live+a.others
	a.mu.Unlock()
	recorded, err := s.Ledger.RunsSince(ctx, a.workspace, day)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recount = false; a.day.Equal(day) {
		a.used.Runs -= max(0, before-recorded.Runs-live)
	}
	return nil
}

// Forget makes the service read the quotas from the database again. It is called when another server has changed
// quotas.
func (s *Service) Forget() {
	for _, a := range s.all() {
		a.mu.Lock()
		a.outdated = true
		a.mu.Unlock()
	}
}
