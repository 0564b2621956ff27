// Package budgets limits the resources that workspaces use in a calendar month (UTC). A budget warns at 50, 80 and 100
// percent. A budget that is used up refuses nothing, new runs at remote services, or all new runs, depending on its
// setting.
package budgets

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	// most is the maximum number of budgets of a workspace.
	most = 50
	// readEvery is the interval at which all budgets are read again, because other servers may have changed them.
	readEvery = 5 * time.Second
	// allEvery is the interval at which the budgets of all workspaces are compared with their usage.
	allEvery = time.Minute
)

// Store stores budgets and their warnings.
type Store interface {
	Budgets(ctx context.Context, workspace string) ([]registry.Budget, error)
	PutBudget(ctx context.Context, b registry.Budget, most int) error
	DeleteBudget(ctx context.Context, workspace, name string) error
}

// Warnings stores warnings about budgets. It stores the same warning only once.
type Warnings interface {
	BudgetWarnings(ctx context.Context, workspace string, month registry.Month) ([]registry.BudgetWarning, error)
	WarnBudget(ctx context.Context, w registry.BudgetWarning, webhook *registry.Delivery) (isNew bool, err error)
}

// Usage returns the usage of a workspace.
type Usage interface {
	Usage(ctx context.Context, workspace string, first, last registry.Month) ([]registry.Use, error)
}

// Notice returns the webhook message for a warning.
type Notice func(b Balance, w registry.BudgetWarning) registry.Delivery

// Options configures a Service.
type Options struct {
	Store    Store
	Warnings Warnings
	Usage    Usage
	Prices   registry.Prices
	Currency string
	Notice   Notice // nil if the server sends no webhooks
	Log      *slog.Logger
	Now      func() time.Time
}

// Service manages budgets. It is safe for concurrent use.
type Service struct {
	Options

	mu       sync.Mutex
	accounts map[string]*account
	changes  int             // number of budget changes by this server
	used     map[string]bool // workspaces whose usage grew since the last comparison
	read     time.Time       // when all budgets were last read
	compared time.Time       // when the budgets of all workspaces were last compared with their usage
}

// account holds the budgets of a workspace in memory, and its active runs on this server.
type account struct {
	budgets []registry.Budget
	known   bool  // whether budgets were read from the database
	active  int64 // number of admitted runs that the usage does not include yet
}

// New returns the service.
func New(o Options) *Service {
	return &Service{Options: o, accounts: map[string]*account{}, used: map[string]bool{}}
}

// Balance is a budget with its usage in the current month.
type Balance struct {
	registry.Budget
	Unit     string                   `json:"unit"`
	Used     float64                  `json:"used"`
	Percent  float64                  `json:"percent"`
	Month    registry.Month           `json:"month"`
	Until    time.Time                `json:"until" doc:"End of the month, when the use starts again at 0."`
	Exceeded bool                     `json:"exceeded" doc:"true if the budget is used up."`
	Warnings []registry.BudgetWarning `json:"warnings" doc:"Warnings sent this month."`
}

// List returns the budgets of the actor's workspace by name.
func (s *Service) List(ctx context.Context, actor registry.Actor) ([]Balance, error) {
	all, err := s.Store.Budgets(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	month := registry.MonthOf(s.Now())
	warnings, err := s.Warnings.BudgetWarnings(ctx, actor.Workspace, month)
	if err != nil {
		return nil, err
	}
	states, err := s.states(ctx, actor.Workspace, all, month)
	for i := range states {
		states[i].Warnings = []registry.BudgetWarning{}
		for _, w := range warnings {
			if w.Budget == states[i].Name {
				states[i].Warnings = append(states[i].Warnings, w)
			}
		}
	}
	return states, err
}

// Set creates a budget, or replaces the budget with the same name.
func (s *Service) Set(ctx context.Context, actor registry.Actor, b registry.Budget) (Balance, error) {
	if err := check(b); err != nil {
		return Balance{}, err
	}
	b.Workspace, b.UpdatedAt, b.UpdatedBy = actor.Workspace, s.Now(), actor.Name
	if err := s.Store.PutBudget(ctx, b, most); err != nil {
		return Balance{}, err
	}
	if err := s.readAgain(ctx, actor.Workspace); err != nil {
		return Balance{}, err
	}
	states, err := s.states(ctx, actor.Workspace, []registry.Budget{b}, registry.MonthOf(s.Now()))
	if err != nil {
		return Balance{}, err
	}
	states[0].Warnings = []registry.BudgetWarning{}
	return states[0], nil
}

func check(b registry.Budget) error {
	if err := registry.CheckName(b.Name); err != nil {
		return err
	}
	if !slices.Contains(registry.Meters(), b.Meter) && b.Meter != registry.CostMeter {
		return fault.Invalid("/meter", "must be a meter of GET /api/v1/usage, or cost.")
	}
	if math.IsNaN(b.Amount) || b.Amount <= 0 || b.Amount > 1e15 {
		return fault.Invalid("/amount", "must be above 0 and at most 1000000000000000.")
	}
	if !slices.Contains([]registry.Refusal{registry.RefuseRemote, registry.RefuseAll, registry.RefuseNothing}, b.Refuse) {
		return fault.Invalid("/refuse", "must be remote, all or none.")
	}
	return nil
}

// Remove removes a budget. Error: NotFound.
func (s *Service) Remove(ctx context.Context, actor registry.Actor, name string) error {
	if err := s.Store.DeleteBudget(ctx, actor.Workspace, name); err != nil {
		return err
	}
	return s.readAgain(ctx, actor.Workspace)
}

// readAgain reads the budgets of a workspace again, after this server has changed them.
func (s *Service) readAgain(ctx context.Context, workspace string) error {
	s.mu.Lock()
	s.used[workspace] = true
	s.changes++
	s.account(workspace).known = false
	s.mu.Unlock()
	_, err := s.budgets(ctx, workspace)
	return err
}

// Place represents an admitted run that the usage does not include yet. Its method Done must be called once. The zero
// value represents no run.
type Place struct {
	service   *Service
	workspace string
}

// Admit refuses a run if a budget of its workspace is used up. remote states that the run executes at a remote service.
// Error: BudgetExceeded.
func (s *Service) Admit(ctx context.Context, workspace string, remote bool) (Place, error) {
	err := s.enforce(ctx, workspace, func(b registry.Budget) bool {
		return b.Refuse == registry.RefuseAll || b.Refuse == registry.RefuseRemote && remote
	}, true)
	if err != nil {
		return Place{}, err
	}
	return Place{s, workspace}, nil
}

// Done removes the run from the active runs. Afterwards the caller records the run, so that the usage includes it. Done
// is also called if no run was created.
func (p Place) Done() {
	if p.service == nil {
		return
	}
	s := p.service
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[p.workspace].active--
	s.used[p.workspace] = true
}

// CheckTokens refuses a request to the language model if a budget of the workspace is used up. Error: BudgetExceeded.
func (s *Service) CheckTokens(ctx context.Context, workspace string) error {
	s.mu.Lock()
	s.used[workspace] = true // The request is going to use tokens, so the usage must be compared with the budgets.
	s.mu.Unlock()
	return s.enforce(ctx, workspace, func(b registry.Budget) bool {
		paid := b.Meter == registry.TokensMeter || b.Meter == registry.CostMeter
		return b.Refuse == registry.RefuseAll || b.Refuse == registry.RefuseRemote && paid
	}, false)
}

// enforce returns an error if one of the selected budgets is used up. It queries the database only if the workspace has
// such a budget.
//
// With admits, enforce also counts a new run as active, and adds the active runs of this server to the usage of budgets
// that count runs. Other budgets ignore active runs, because the resources that a run uses are known only at its end.
// Without admits, an active run makes the request. Active runs are then not added, because this would count the run
// twice.
func (s *Service) enforce(ctx context.Context, workspace string, selected func(registry.Budget) bool, admits bool) error {
	all, err := s.budgets(ctx, workspace)
	if err != nil {
		return err
	}
	var refusing []registry.Budget
	for _, b := range all {
		if selected(b) {
			refusing = append(refusing, b)
		}
	}
	var states []Balance
	if len(refusing) > 0 {
		if states, err = s.states(ctx, workspace, refusing, registry.MonthOf(s.Now())); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(workspace)
	for _, b := range states {
		if admits && b.Meter == registry.RunsMeter {
			b.Used += float64(a.active)
		}
		if b.Used >= b.Amount {
			return s.exceeded(b)
		}
	}
	if admits {
		a.active++
	}
	return nil
}

// account returns the account of a workspace. s.mu must be held.
func (s *Service) account(workspace string) *account {
	a := s.accounts[workspace]
	if a == nil {
		a = &account{known: !s.read.IsZero()} // If all budgets have been read, the workspace has none, because its account would exist.
		s.accounts[workspace] = a
	}
	return a
}

// budgets returns the budgets of a workspace. Warn regularly reads the budgets of all workspaces, so that runs need no
// query. Before the first call of Warn, a run must read the budgets of its workspace.
func (s *Service) budgets(ctx context.Context, workspace string) ([]registry.Budget, error) {
	s.mu.Lock()
	a, changes := s.account(workspace), s.changes
	known, all := a.known, a.budgets
	s.mu.Unlock()
	if known {
		return all, nil
	}
	all, err := s.Store.Budgets(ctx, workspace)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == changes {
		a.budgets, a.known = all, true
	}
	return all, nil
}

// readAll reads the budgets of all workspaces and stores them in memory. If this server changed a budget during the
// read, readAll discards the result.
func (s *Service) readAll(ctx context.Context) ([]registry.Budget, error) {
	now := s.Now()
	s.mu.Lock()
	changes := s.changes
	s.mu.Unlock()
	all, err := s.Store.Budgets(ctx, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes != changes {
		return all, nil // The budgets changed during the read; the next call reads them again.
	}
	s.read = now
	for _, a := range s.accounts {
		a.budgets, a.known = nil, true
	}
	for _, b := range all {
		a := s.account(b.Workspace)
		a.budgets, a.known = append(a.budgets, b), true
	}
	return all, nil
}

// states returns the balances of budgets for a month.
func (s *Service) states(ctx context.Context, workspace string, all []registry.Budget, month registry.Month) ([]Balance, error) {
	uses, err := s.Usage.Usage(ctx, workspace, month, month)
	if err != nil {
		return nil, err
	}
	amounts := map[registry.Meter]float64{}
	for _, u := range uses {
		amounts[u.Meter] = u.Amount
		amounts[registry.CostMeter] += s.Prices.Cost(u.Meter, u.Amount)
	}
	states := make([]Balance, 0, len(all))
	for _, b := range all {
		used := amounts[b.Meter]
		states = append(states, Balance{Budget: b, Unit: s.unit(b.Meter), Used: used, Percent: 100 * used / b.Amount, Month: month, Until: month.End(), Exceeded: used >= b.Amount})
	}
	return states, nil
}

func (s *Service) unit(m registry.Meter) string {
	if m == registry.CostMeter || m == registry.RemoteCostMeter {
		return s.Currency
	}
	return m.Unit()
}

func (s *Service) exceeded(b Balance) error {
	return &fault.Error{
		Code: fault.BudgetExceeded, Extra: map[string]any{"budget": b.Name, "meter": b.Meter, "amount": b.Amount, "used": b.Used, "unit": b.Unit, "until": b.Until},
		Message: fmt.Sprintf("The budget %s of this workspace is used up: %s of %s %s in %s. An administrator can raise it with `atelier budget set %s --meter %s --refuse %s --amount AMOUNT`. It starts again at 0 on %s.",
			b.Name, shown(b.Used), shown(b.Amount), b.Unit, b.Month, b.Name, b.Meter, b.Refuse, b.Until.Format(time.DateOnly)),
	}
}

// shown formats an amount with at most three decimals.
func shown(n float64) string { return strconv.FormatFloat(math.Round(n*1000)/1000, 'f', -1, 64) }

// Warn records warnings for workspaces whose usage grew on this server. Once a minute it checks all workspaces, because
// other servers add usage too.
func (s *Service) Warn(ctx context.Context) {
	s.mu.Lock()
	used := s.used
	s.used = map[string]bool{}
	all, old := s.Now().Sub(s.compared) >= allEvery, s.Now().Sub(s.read) >= readEvery
	s.mu.Unlock()
	if len(used) == 0 && !all && !old {
		return
	}
	if err := s.warn(ctx, func(workspace string) bool { return all || used[workspace] }); err != nil {
		if ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "compare budgets with usage", slog.Any("error", err))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for workspace := range used {
			s.used[workspace] = true
		}
		return
	}
	if all {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.compared = s.Now()
	}
}

func (s *Service) warn(ctx context.Context, selected func(workspace string) bool) error {
	all, err := s.readAll(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(b registry.Budget) bool { return !selected(b.Workspace) })
	for len(all) > 0 { // The budgets are sorted by workspace.
		end := slices.IndexFunc(all, func(b registry.Budget) bool { return b.Workspace != all[0].Workspace })
		if end < 0 {
			end = len(all)
		}
		if err := s.warnWorkspace(ctx, all[:end]); err != nil {
			return err
		}
		all = all[end:]
	}
	return nil
}

// warnWorkspace records the warnings of one workspace that are due and that are not recorded yet.
func (s *Service) warnWorkspace(ctx context.Context, all []registry.Budget) error {
	workspace, now := all[0].Workspace, s.Now()
	month := registry.MonthOf(now)
	states, err := s.states(ctx, workspace, all, month)
	if err != nil {
		return err
	}
	warned, err := s.Warnings.BudgetWarnings(ctx, workspace, month)
	if err != nil {
		return err
	}
	for _, b := range states {
		for _, percent := range registry.WarningPercents() {
			if b.Percent < float64(percent) || slices.ContainsFunc(warned, func(w registry.BudgetWarning) bool { return w.Budget == b.Name && w.Percent == percent }) {
				continue
			}
			w := registry.BudgetWarning{Workspace: workspace, Budget: b.Name, Month: month, Percent: percent, At: now}
			var webhook *registry.Delivery
			if s.Notice != nil {
				d := s.Notice(b, w)
				webhook = &d
			}
			isNew, err := s.Warnings.WarnBudget(ctx, w, webhook)
			if err != nil {
				return err
			}
			if isNew {
				s.Log.LogAttrs(ctx, slog.LevelWarn, "budget used", slog.String("workspace", workspace), slog.String("budget", b.Name), slog.Int("percent", percent),
					slog.String("used", shown(b.Used)), slog.String("amount", shown(b.Amount)), slog.String("unit", b.Unit))
			}
		}
	}
	return nil
}
