package app

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/streamapi"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/approvals"
	"github.com/atelier-run/atelier/studio/archives"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/catalog"
	"github.com/atelier-run/atelier/studio/changes"
	"github.com/atelier-run/atelier/studio/garbage"
	"github.com/atelier-run/atelier/studio/llm"
	"github.com/atelier-run/atelier/studio/opa"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/policy"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/replay"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/tasks"
	"github.com/atelier-run/atelier/studio/tests"
	"github.com/atelier-run/atelier/studio/toolmaker"
	"github.com/atelier-run/atelier/studio/tools"
	"github.com/atelier-run/atelier/studio/usage"
)

// openStudio opens the services of the studio layer and connects them.
func (a *App) openStudio(context.Context) error {
	resolver := references.New(a.store, a.Now)
	a.resolver = resolver
	a.access = access.New(access.Options{
		Tokens: a.store, Sessions: a.store, Agents: a.store, Users: a.store, Members: a.store, Invitations: a.store, Workspaces: a.store,
		Identities: a.store, Groups: a.groupRoles(), Provider: a.tokenProvider(), Audiences: a.Config.OIDC.Audiences, Admin: a.Config.Token, Cost: a.Cost, Now: a.now, NewID: a.newID,
	})
	a.pins = pins.New(a.store, a.store, resolver, a.now)
	a.tools = tools.New(tools.Options{Store: a.store, Resolver: resolver, Pins: a.pins, Now: a.now, NewID: a.newID})
	a.quotas = quotas.New(quotas.Options{
		Store: a.store, Ledger: a.store, Workspaces: a.store, Defaults: registry.Quota(a.Config.Quotas), Now: a.now,
	})
	a.usage = usage.New(usage.Options{Store: a.store, Storage: a.quotas, Prices: prices(a.Config.Usage), Currency: a.Config.Usage.Currency, Now: a.now})
	a.budgets = budgets.New(budgets.Options{
		Store: a.store, Warnings: a.store, Usage: a.store, Prices: a.usage.Prices, Currency: a.usage.Currency, Notice: a.budgetNotice(), Log: a.Log, Now: a.now,
	})
	a.archives = archives.New(archives.Options{
		Agents: a.store, Names: a.store, Versions: a.store, Resolver: resolver, Quotas: a.quotas, Specs: a.engines.Specs, Now: a.now, NewID: a.newID,
	})
	a.catalog = catalog.New(catalog.Options{Listings: a.store, Pages: a.store, Agents: a.store, Resolver: resolver, Quotas: a.quotas, Specs: a.engines.Specs, Now: a.now, NewID: a.newID})
	models, err := a.modelsFor()
	if err != nil {
		return err
	}
	if a.policy, err = policy.New(policy.Options{
		Store: a.store, Packs: a.store, Inspector: a.engines.Inspector, Rules: a.engines.Specs, ApproveEffects: a.Config.ApproveSideEffects, Now: a.now,
	}); err != nil {
		return err
	}
	a.approvals = approvals.New(approvals.Options{
		Requests: a.store, Reader: a.store, Finder: a.store, Grants: a.store, Sent: a.store, Members: a.store, Notice: a.approvalNotice(), Policy: a.policy, Asker: a.policyService(), Keep: a.Config.Policy.Keep, Log: a.Log, Now: a.now, NewID: a.newID,
	})
	choose := a.engines.chooser(a.store)
	a.routing = a.engines.routing(choose, a.store)
	a.projects = projects.New(projects.Options{
		Store: a.store, Changes: a.store, Overlays: a.store, Decisions: a.store, Contents: a.store, Garbage: a.store, Quotas: a.quotas, Keep: a.Config.KeepOverlays, Dir: a.Config.Data, Now: a.now, NewID: a.newID,
	})
	a.engines.Packages.UseSources(packages.Sources{Secrets: a.secrets})
	a.packages = a.engines.packages(a.store, a.store, a.now)
	a.models = a.newModels()
	a.runs = runs.New(runs.Options{
		Model: a.models, ModelTokens: a.Config.LLM.TokensPerRun,
		Gate: a.approvals, Journal: a.store, Later: a.store, Archive: a.store, RemoteJobs: a.store, Drafts: a.store, Resolver: resolver, Specs: a.engines.Specs, Routing: a.routing, Secrets: a.secrets, Packages: a.packages, Projects: a.projects, Quotas: a.quotas, Budgets: a.budgets, Validator: a.engines.Validator,
		Router: a.engines.Router, Meter: meter{a.metrics}, Tracer: a.Traces.Tracer("studio/runs"), Log: a.Log,
		Ceilings: a.Config.Ceilings, Models: models, Keys: a.secrets.Keys, Server: a.store.ServerID(), Others: a.others(), Level: a.engines.Level().String(), Now: a.Now, NewID: a.newID,
	})
	a.garbage = garbage.New(garbage.Options{Store: a.store, Contents: a.projects, Packages: a.packages, Now: a.now})
	a.changes = changes.New(a.now)
	a.inference = a.engines.inference(a.quotas, a.packages, choose)
	a.replays = replay.New(a.runs, resolver)
	a.tests = tests.New(tests.Options{Runs: a.runs, Agents: a.store, Resolver: resolver, Validator: a.engines.Validator})
	a.agents = agents.New(agents.Options{
		Agents: a.store, Histories: a.store, Changes: a.changes, Versions: a.store, Numbers: a.store, Resolver: resolver, Pins: a.pins, Replays: a.replays, Tests: a.tests, Quotas: a.quotas, Gate: a.approvals, Inspector: a.engines.Inspector, Inference: a.inference, Packages: a.packages, Validator: a.engines.Validator, Specs: a.engines.Specs, Engines: choose,
		Now: a.now, NewID: a.newID,
	})
	a.assistant = a.newAssistant()
	a.toolmaker = toolmaker.New(toolmaker.Options{Agents: a.agents, Drafts: a.agents, Catalog: a.catalog, Versions: resolver, Validator: a.engines.Validator, Writer: a.assistant, Meaning: a.models, Likeness: a.Config.LLM.Likeness, Log: a.Log})
	a.tasks = tasks.New(tasks.Options{
		Store: a.store, Progress: a.store, Reader: a.store, Resolver: resolver, Runs: a.runs, Projects: a.projects, Writer: a.assistant, Concurrent: a.Config.Tasks, Log: a.Log, Now: a.now, NewID: a.newID,
	})
	a.approvals.Connect(a.runs, a.agents, a.agents)
	a.closers.add("changes", func() error { a.changes.Close(); return nil })
	a.closers.add("runs", func() error { a.runs.Close(); return nil })
	return nil
}

// reattachEvery is the interval at which a server looks for runs to continue. These are runs at remote services whose
// server process has ended.
const reattachEvery = 3 * time.Second

// work starts the processing of tasks. On shutdown, the processing stops before runs are interrupted.
func (a *App) work(ctx context.Context) error {
	a.tasks.Begin(ctx)
	a.again(ctx, "runs elsewhere", reattachEvery, a.runs.Reattach, func() error { return nil })
	a.closers.add("tasks", func() error { a.tasks.Close(); return nil })
	return nil
}

// policyService returns the external policy service, or nil if none is configured.
func (a *App) policyService() approvals.Asker {
	p := a.Config.Policy
	if p.URL == "" {
		return nil
	}
	service := opa.New(opa.Options{URL: p.URL, Path: p.Path, TTL: p.TTL, Now: a.Now})
	a.closers.add("policy service", func() error { service.Close(); return nil })
	return service
}

// newModels returns the service through which workspaces use the language model. If no model is configured, the service
// refuses requests.
func (a *App) newModels() *llm.Service {
	c := a.Config.LLM
	o := llm.Options{Name: c.Model, Allowed: c.Workspaces, PerMonth: c.TokensPerMonth, Store: a.store, Ledger: a.store, Workspaces: a.store, Budgets: a.budgets, Now: a.now}
	if c.BaseURL != "" && c.Model != "" {
		named := func(name string) *llm.Model {
			model := llm.NewModel(llm.ModelOptions{BaseURL: c.BaseURL, Name: name, Key: c.Key, Timeout: c.Timeout, Delay: c.FirstDelay, LongDelay: c.LongDelay})
			a.closers.add("language model "+name, func() error { model.Close(); return nil })
			return model
		}
		o.Model, o.Others = named(c.Model), map[string]llm.Asker{}
		for _, name := range c.Models {
			if name != c.Model {
				o.Others[name] = named(name)
			}
		}
		if c.ProgramModel != "" {
			o.Programs = named(c.ProgramModel)
		}
		if c.EmbeddingModel != "" {
			o.Vectors, o.Embedder = c.EmbeddingModel, named(c.EmbeddingModel)
		}
		if c.CompletionModel != "" {
			o.Completer = named(c.CompletionModel)
		}
	}
	return llm.New(o)
}

// newAssistant returns the service that proposes programs and changes.
func (a *App) newAssistant() *assist.Service {
	c := a.Config.LLM
	return assist.New(assist.Options{
		Model: a.models, Attempts: c.Attempts, FirstDelay: c.FirstDelay, Factor: c.Factor, LongDelay: c.LongDelay,
		Drafts: a.store, Runs: a.runs, Specs: a.engines.Specs, Judge: a.approvals, Secrets: a.secrets, Inspector: a.engines.Inspector,
	})
}

// follow returns a reader of a run's events for the WebSocket.
func (a *App) follow(ctx context.Context, actor registry.Actor, run string, from int64) (streamapi.Follower, error) {
	f, err := a.runs.Follow(ctx, actor, run, from)
	if err != nil {
		return nil, err // Do not return f here: an interface that contains a nil *Follower is not nil.
	}
	return f, nil
}

// meter counts ended runs in the metrics.
type meter struct{ metrics *telemetry.Metrics }

// RunFinished implements runs.Meter.
func (m meter) RunFinished(run registry.Run) {
	m.metrics.Run(string(run.Runtime), string(run.Status), milliseconds(run.Metrics.QueuedMs), milliseconds(run.Metrics.TotalMs))
}

// RunUnrecorded implements runs.Meter.
func (m meter) RunUnrecorded(run registry.Run) { m.metrics.RunUnrecorded(string(run.Runtime)) }

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
