// Package httpapi is the REST API. It translates requests into calls of the services in studio, and the results into
// JSON. It generates the API description as OpenAPI 3.1. Package server/problem converts errors to HTTP, and
// server/gate checks access before a request reaches this package.
package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/approvals"
	"github.com/atelier-run/atelier/studio/archives"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/catalog"
	"github.com/atelier-run/atelier/studio/changes"
	"github.com/atelier-run/atelier/studio/garbage"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/llm"
	"github.com/atelier-run/atelier/studio/oidc"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/policy"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/replay"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/secrets"
	"github.com/atelier-run/atelier/studio/skills"
	"github.com/atelier-run/atelier/studio/tasks"
	"github.com/atelier-run/atelier/studio/tests"
	"github.com/atelier-run/atelier/studio/toolmaker"
	"github.com/atelier-run/atelier/studio/tools"
	"github.com/atelier-run/atelier/studio/usage"
)

// Base is the base path of the API.
const Base = "/api/v1"

// Keys stores the answers to requests with an Idempotency-Key.
type Keys interface {
	ReserveKey(ctx context.Context, key registry.IdempotencyKey) (existing *registry.IdempotencyKey, err error)
	CompleteKey(ctx context.Context, owner, key string, status int, body []byte) error
	ReleaseKey(ctx context.Context, owner, key string) error
}

// StatusProvider returns the version and the state of the server.
type StatusProvider interface {
	Capabilities(ctx context.Context, workspace string) (Capabilities, error)
	Runtimes() RuntimeList
	Health(ctx context.Context) Health
	// Serving returns an error if load balancers should send no requests to this server. This is so if the server is
	// shutting down or cannot record runs.
	Serving() error
}

// Options configures an API.
type Options struct {
	Agents         *agents.Service
	Approvals      *approvals.Service
	Policy         *policy.Service
	Archives       *archives.Service
	Catalog        *catalog.Service
	Changes        *changes.Hub
	Assist         *assist.Service
	Toolmaker      *toolmaker.Service
	Garbage        *garbage.Service
	Models         *llm.Service
	Inference      *infer.Service
	Quotas         *quotas.Service
	Usage          *usage.Service
	Budgets        *budgets.Service
	Replays        *replay.Service
	Tests          *tests.Service
	Runs           *runs.Service
	Routing        *routing.Router
	Secrets        *secrets.Service
	Skills         *skills.Service
	Packages       *packages.Service
	Pins           *pins.Service
	Projects       *projects.Service
	Tasks          *tasks.Service
	Tools          *tools.Service
	Access         *access.Service
	Keys           Keys
	StatusProvider StatusProvider
	Samples        []agents.Sample
	Metrics        http.Handler
	Problems       problem.Writer
	Attempts       *gate.Attempts
	Provider       *oidc.Service // OpenID provider; nil if none is configured
	ProviderName   string
	PublicURL      string // public URL; "" means the address to which a request was sent
	BasePath       string // path under which browsers reach the server; "" means the root
	BodyBytes      int64
	Now            func() time.Time
}

// API is the REST API. Other APIs add their routes to its router.
type API struct {
	Options
	router chi.Router
	huma   huma.API
	bodies *bodyChecks
}

// New returns the API with all its routes.
func New(o Options) *API {
	router := chi.NewRouter()
	a := &API{Options: o, router: router, huma: humachi.New(router, describe(o.BasePath))}
	a.bodies = &bodyChecks{api: a.huma.OpenAPI()}
	router.Use(headAsGet)
	router.Use(a.checkQuery)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		o.Problems.Write(w, r, fault.New(fault.NotFound, "Endpoint not found. /docs lists all endpoints."))
	})
	router.MethodNotAllowed(a.methodNotAllowed)
	a.routes()
	a.finish()
	return a
}

// Router returns the router, to which other APIs add their routes.
func (a *API) Router() chi.Router { return a.router }

func (a *API) routes() {
	a.agentRoutes()
	a.versionRoutes()
	a.packageRoutes()
	a.collectGarbage()
	a.runRoutes()
	a.skillRoutes()
	a.projectRoutes()
	a.taskRoutes()
	a.gateRoutes()
	a.secretRoutes()
	a.statusRoutes()
	a.sessionRoutes()
	a.peopleRoutes()
	a.documentRoutes()
}

func (a *API) agentRoutes() {
	a.createAgent()
	a.importTool()
	a.listAgents()
	a.getAgent()
	a.saveAgent()
	a.patchAgent()
	a.deleteAgent()
	a.redraftAgent()
	a.followAgent()
	a.listDraftHistory()
	a.getDraftSave()
	a.labelDraftSave()
	a.restoreDraftSave()
	a.copyAgent()
	a.restoreAgent()
	a.exportTool()
	a.listInRegistry()
	a.browseRegistry()
	a.getListedAgent()
	a.getListedVersion()
	a.copyFromRegistry()
	a.exportArchive()
	a.importArchive()
	a.listSamples()
	a.validate()
	a.format()
	a.infer()
	a.inferFromRuns()
	a.assist()
	a.languageModel()
	a.getDraftRuntime()
}

func (a *API) versionRoutes() {
	a.publishVersion()
	a.listVersions()
	a.getVersion()
	a.deprecateVersion()
	a.getManifest()
	a.resolveReferences()
	a.diffAgent()
	a.diffVersions()
	a.putPins()
	a.listOwnedPins()
	a.deletePins()
	a.listPins()
	a.listToolSets()
	a.getToolSet()
	a.putToolSet()
	a.deleteToolSet()
	a.getServerJSON()
}

func (a *API) runRoutes() {
	a.executeAgent()
	a.executeInline()
	a.replayDraft()
	a.runTests()
	a.generateTests()
	a.listRuns()
	a.getRun()
	a.listRunEvents()
	a.cancelRun()
	a.describeStream()
}

func (a *API) projectRoutes() {
	a.listProjects()
	a.getProject()
	a.deleteProject()
	a.importProject()
	a.getProjectFile()
	a.listProjectChanges()
	a.listOverlays()
	a.diffOverlay()
	a.materializeOverlay()
	a.readBackOverlay()
	a.acceptOverlay()
	a.rejectOverlay()
}

func (a *API) taskRoutes() {
	a.submitTask()
	a.listTasks()
	a.getTask()
	a.listTaskEvents()
	a.diffTask()
	a.acceptTask()
	a.rejectTask()
	a.cancelTask()
	a.retryTask()
}

func (a *API) gateRoutes() {
	a.listApprovals()
	a.getApproval()
	a.diffApproval()
	a.decideApproval()
	a.listDeliveries()
	a.listBlocked()
	a.decideBlocked()
	a.getGate()
	a.setGate()
	a.tryRules()
	a.listRulePacks()
	a.putRulePack()
	a.deleteRulePack()
	a.getDraftVerdict()
}

func (a *API) skillRoutes() {
	a.listSkills()
	a.installSkill()
	a.promoteSkill()
	a.uninstallSkill()
}

func (a *API) statusRoutes() {
	a.getCapabilities()
	a.listRuntimes()
	a.getRouter()
	a.explainRoute()
	a.getHealth()
	a.getReady()
	a.getUsage()
	a.listBudgets()
	a.putBudget()
	a.deleteBudget()
	a.getQuotas()
	a.getQuotasOf()
	a.setQuotas()
	a.getMetrics()
	a.getRoot()
}

func (a *API) sessionRoutes() {
	a.openSession()
	a.getSession()
	a.closeSession()
	a.listSessions()
	a.endSession()
	a.followSignInLink()
	a.listSignInMethods()
	a.signInAtProvider()
	a.createToken()
	a.listTokens()
	a.revokeToken()
}

func (a *API) peopleRoutes() {
	a.listWorkspaces()
	a.createWorkspace()
	a.describeWorkspace()
	a.closeWorkspace()
	a.listMembers()
	a.setRole()
	a.removeMember()
	a.createInvitation()
	a.listInvitations()
	a.revokeInvitation()
	a.readInvitation()
	a.acceptInvitation()
	a.changePassword()
	a.listOwnSessions()
	a.endOwnSession()
}

func (a *API) documentRoutes() {
	a.getOpenAPI()
	a.getDocs()
	a.getManifestSchema()
	a.getRulePackSchema()
	a.getRouterSchema()
}

// methodNotAllowed answers with an error that lists the methods of the path.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", gate.Allow(a.router, r))
	a.Problems.Write(w, r, fault.New(fault.MethodNotAllowed, "This method is not allowed here. The Allow header lists the allowed methods."))
}
