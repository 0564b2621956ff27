package gate

import (
	"maps"
	"slices"

	"github.com/atelier-run/atelier/registry"
)

// subject is the kind of resource on which a route acts. It matters for callers with restricted access.
type subject int

const (
	workspace subject = iota // the whole workspace; tokens that are restricted to agents are excluded
	agent                    // the agent that the path parameter {agent} names
	run                      // the run that the path parameter {run} names; a caller without the scope read may only access the caller's own runs
	nothing                  // no stored resource; for example the caller itself, the server's capabilities or a syntax check
)

// need is the permission that a route requires. The caller must have one of the scopes for the resource that subject
// names.
type need struct {
	anyOf   []registry.Scope
	subject subject
}

// needs lists the permission that each guarded route requires, by method and pattern. If a route is missing here, it
// requires admin, and a test fails. Permissions that depend on the body are checked by the handler with Require.
func needs() map[string]need {
	var (
		read    = []registry.Scope{registry.ReadScope}
		use     = []registry.Scope{registry.ReadScope, registry.RunScope} // for information that is needed to call tools
		execute = []registry.Scope{registry.RunScope}
		write   = []registry.Scope{registry.WriteScope}
		approve = []registry.Scope{registry.ApproveScope} // for changes of code that other people call
		admin   = []registry.Scope{registry.AdminScope}
		types   = []registry.Scope{registry.RunScope, registry.WriteScope} // for reading the types of a program, because the program is loaded for this
		anyone  = registry.Scopes()
	)
	const (
		api     = "/api/v1"
		agents  = api + "/code-agents"
		one     = agents + "/{agent}"
		version = one + "/versions/{version}"
		save    = one + "/draft/history/{revision}"
		listed  = agents + "/registry/{publisher}/{name}"
		oneRun  = api + "/runs/{run}"
		project = api + "/projects/{project}"
		task    = api + "/tasks/{task}"
	)
	return map[string]need{
		"GET " + agents:                                  {read, workspace},
		"POST " + agents:                                 {write, workspace},
		"GET " + agents + "/registry":                    {read, workspace},
		"GET " + listed:                                  {read, workspace},
		"GET " + listed + "/versions/{version}":          {read, workspace},
		"POST " + agents + "/registry/{id}/copy":         {write, workspace},
		"POST " + agents + "/import-tool":                {write, workspace},
		"GET " + one:                                     {read, agent},
		"PUT " + one:                                     {write, agent},
		"PATCH " + one:                                   {write, agent},
		"DELETE " + one:                                  {write, agent},     // The handler also requires approve if the agent is a skill.
		"POST " + one + "/copy":                          {write, workspace}, // The scope applies to the workspace, because the copy is a new agent.
		"GET " + one + "/diff":                           {read, agent},
		"POST " + one + "/draft":                         {write, agent},
		"GET " + one + "/events":                         {read, agent},
		"GET " + one + "/draft/history":                  {read, agent},
		"GET " + save:                                    {read, agent},
		"PATCH " + save:                                  {write, agent},
		"POST " + save + "/restore":                      {write, agent},
		"POST " + one + "/execute":                       {execute, agent},
		"POST " + one + "/export-tool":                   {use, agent}, // The handler also requires write if the request publishes a version.
		"GET " + one + "/pins":                           {read, agent},
		"POST " + one + "/publish":                       {write, agent},
		"POST " + one + "/replay":                        {execute, agent},
		"POST " + one + "/tests/generate":                {execute, agent},
		"POST " + one + "/tests/run":                     {execute, agent},
		"POST " + one + "/restore":                       {write, agent}, // The handler also requires approve if the agent is a skill.
		"GET " + one + "/runtime":                        {read, agent},
		"GET " + one + "/schemas-from-runs":              {read, agent},
		"GET " + one + "/verdict":                        {read, agent},
		"GET " + one + "/versions":                       {read, agent},
		"POST " + one + "/versions":                      {write, agent}, // The handler also requires approve if the agent is a skill.
		"GET " + version:                                 {read, agent},
		"PATCH " + version:                               {write, agent}, // The handler also requires approve if the agent is a skill.
		"GET " + version + "/diff/{other}":               {read, agent},
		"GET " + version + "/manifest":                   {use, agent},
		"GET " + api + "/archive":                        {read, workspace},
		"POST " + api + "/archive":                       {approve, workspace}, // requires approve, because it imports published versions, including those of skills
		"GET " + api + "/pins":                           {read, workspace},
		"PUT " + api + "/pins":                           {write, workspace},
		"DELETE " + api + "/pins":                        {write, workspace},
		"GET " + api + "/tool-sets":                      {use, workspace},
		"GET " + api + "/tool-sets/{set}":                {use, workspace},
		"PUT " + api + "/tool-sets/{set}":                {write, workspace},
		"DELETE " + api + "/tool-sets/{set}":             {write, workspace},
		"GET " + api + "/server.json":                    {use, workspace},
		"GET /mcp":                                       {execute, nothing}, // lists the tools that the caller may use
		"POST /mcp":                                      {execute, nothing},
		"DELETE /mcp":                                    {execute, nothing},
		"GET /mcp/{reference}":                           {execute, nothing},
		"POST /mcp/{reference}":                          {execute, nothing},
		"DELETE /mcp/{reference}":                        {execute, nothing},
		"GET /mcp/sets/{set}":                            {execute, nothing},
		"POST /mcp/sets/{set}":                           {execute, nothing},
		"DELETE /mcp/sets/{set}":                         {execute, nothing},
		"POST " + api + "/references/resolve":            {use, workspace},
		"POST " + api + "/execute":                       {execute, workspace},
		"GET " + api + "/runs":                           {read, workspace},
		"GET " + oneRun:                                  {use, run},
		"GET " + oneRun + "/events":                      {use, run},
		"GET " + oneRun + "/stream":                      {use, run},
		"POST " + oneRun + "/cancel":                     {execute, run},
		"GET " + api + "/capabilities":                   {anyone, nothing},
		"GET " + api + "/runtimes":                       {anyone, nothing},
		"GET " + api + "/samples":                        {anyone, nothing},
		"POST " + api + "/validate":                      {anyone, nothing},
		"POST " + api + "/format":                        {anyone, nothing},
		"POST " + api + "/assist/fix":                    {write, workspace}, // The handler also requires run.
		"POST " + api + "/assist/generate":               {write, workspace}, // The handler also requires run.
		"POST " + api + "/assist/tools":                  {write, workspace}, // The handler also requires run.
		"POST " + api + "/assist/change":                 {write, workspace}, // The handler also requires run.
		"POST " + api + "/assist/explain":                {write, workspace},
		"POST " + api + "/assist/complete":               {write, workspace},
		"GET " + api + "/language-model":                 {read, workspace},
		"PUT " + api + "/language-model":                 {admin, workspace},
		"POST " + api + "/assist/review":                 {write, workspace},
		"POST " + api + "/infer":                         {types, workspace},
		"GET " + api + "/openapi.json":                   {anyone, nothing},
		"GET " + api + "/session":                        {anyone, nothing},
		"DELETE " + api + "/session":                     {anyone, nothing},
		"GET " + api + "/sessions":                       {admin, workspace},
		"DELETE " + api + "/sessions/{session}":          {admin, workspace},
		"GET " + api + "/tokens":                         {admin, workspace},
		"POST " + api + "/tokens":                        {admin, workspace},
		"DELETE " + api + "/tokens/{token}":              {admin, workspace},
		"GET " + api + "/workspaces":                     {anyone, nothing},
		"POST " + api + "/workspaces":                    {admin, workspace}, // The service requires admin of the default workspace.
		"PATCH " + api + "/workspaces/{workspace}":       {admin, workspace},
		"DELETE " + api + "/workspaces/{workspace}":      {admin, workspace}, // The service requires admin of the default workspace.
		"GET " + api + "/members":                        {read, workspace},
		"PATCH " + api + "/members/{user}":               {admin, workspace},
		"DELETE " + api + "/members/{user}":              {admin, workspace},
		"GET " + api + "/skills":                         {read, workspace},
		"POST " + api + "/skills":                        {approve, workspace},
		"POST " + api + "/skills/{name}/promote":         {approve, workspace},
		"DELETE " + api + "/skills/{name}":               {approve, workspace},
		"GET " + api + "/approvals":                      {read, workspace},
		"GET " + api + "/approvals/{approval}":           {read, workspace},
		"GET " + api + "/approvals/{approval}/diff":      {read, workspace},
		"POST " + api + "/approvals/{approval}":          {approve, workspace},
		"GET " + api + "/approval-deliveries":            {read, workspace},
		"GET " + api + "/blocked":                        {read, workspace},
		"POST " + api + "/blocked/{request}":             {approve, workspace},
		"GET " + api + "/gate":                           {read, workspace},
		"PUT " + api + "/gate":                           {admin, workspace},
		"POST " + api + "/gate/try":                      {read, workspace},
		"GET " + api + "/router":                         {read, workspace},
		"POST " + api + "/router/explain":                {read, workspace},
		"GET " + api + "/rule-packs":                     {read, workspace},
		"PUT " + api + "/rule-packs/{pack}":              {admin, workspace},
		"DELETE " + api + "/rule-packs/{pack}":           {admin, workspace},
		"GET " + api + "/projects":                       {read, workspace},
		"GET " + project:                                 {read, workspace},
		"DELETE " + project:                              {write, workspace},
		"POST " + project + "/import":                    {write, workspace},
		"GET " + project + "/file":                       {read, workspace},
		"GET " + project + "/changes":                    {read, workspace},
		"GET " + project + "/overlays":                   {read, workspace},
		"GET " + project + "/overlays/{overlay}/diff":    {read, workspace},
		"GET " + project + "/overlays/{overlay}/archive": {read, workspace},
		"PUT " + project + "/overlays/{overlay}/archive": {write, workspace},
		"POST " + project + "/overlays/{overlay}/accept": {write, workspace},
		"POST " + project + "/overlays/{overlay}/reject": {write, workspace},
		"GET " + api + "/usage":                          {read, workspace},
		"GET " + api + "/tasks":                          {read, workspace},
		"POST " + api + "/tasks":                         {execute, workspace},
		"GET " + task:                                    {read, workspace},
		"GET " + task + "/events":                        {read, workspace},
		"GET " + task + "/diff":                          {read, workspace},
		"POST " + task + "/accept":                       {write, workspace},
		"POST " + task + "/reject":                       {write, workspace},
		"POST " + task + "/cancel":                       {execute, workspace},
		"POST " + task + "/retry":                        {execute, workspace},
		"GET " + api + "/budgets":                        {read, workspace},
		"PUT " + api + "/budgets/{budget}":               {admin, workspace},
		"DELETE " + api + "/budgets/{budget}":            {admin, workspace},
		"GET " + api + "/quotas":                         {read, workspace},
		"GET " + api + "/quotas/{workspace}":             {admin, workspace}, // The service requires admin of the default workspace.
		"PUT " + api + "/quotas/{workspace}":             {admin, workspace}, // The service requires admin of the default workspace.
		"GET " + api + "/secrets":                        {read, workspace},
		"PUT " + api + "/secrets/{name}":                 {write, workspace},
		"DELETE " + api + "/secrets/{name}":              {write, workspace},
		"GET " + api + "/secrets/{name}/uses":            {read, workspace},
		"GET /skills/list":                               {use, workspace},
		"GET /skills/{id}":                               {use, workspace},
		"GET /skills/{id}/schema":                        {use, workspace},
		"POST /skills/execute":                           {execute, workspace},
		"POST /skills/register":                          {approve, workspace},
		"GET /v1/skills":                                 {use, workspace},
		"POST /v1/skills/create":                         {write, workspace},
		"POST /v1/skills/run":                            {execute, workspace},
		"POST /v1/skills/install":                        {approve, workspace},
		"POST /v1/skills/uninstall":                      {approve, workspace},
		"POST /v1/skills/promote":                        {approve, workspace},
		"POST /v1/skills/autonomous_skill_task":          {write, workspace}, // The handler also requires run.
		"POST /v1/validation/code":                       {anyone, nothing},
		"POST /v1/context/priors":                        {anyone, nothing},
		"GET /v1/packages":                               {anyone, nothing},
		"GET /v1/packages/installed":                     {use, workspace},
		"GET " + api + "/packages/installed":             {read, workspace},
		"GET " + api + "/packages/search":                {read, workspace},
		"GET " + api + "/packages/versions":              {read, workspace},
		"GET " + api + "/packages/dependencies":          {read, workspace},
		"GET " + one + "/packages/types":                 {read, agent},
		"POST " + api + "/gc":                            {admin, workspace},
		"POST " + api + "/packages/gc":                   {admin, workspace},
		"POST " + one + "/packages/resolve":              {write, agent},
		"GET " + one + "/versions/{version}/sbom":        {read, agent},
		"GET " + api + "/invitations":                    {admin, workspace},
		"POST " + api + "/invitations":                   {admin, workspace},
		"DELETE " + api + "/invitations/{invitation}":    {admin, workspace},
		"PUT " + api + "/me/password":                    {anyone, nothing},
		"GET " + api + "/me/sessions":                    {anyone, nothing},
		"DELETE " + api + "/me/sessions/{session}":       {anyone, nothing},
	}
}

// Security describes the permission of a route in OpenAPI terms. It lists the scopes of which a caller needs one. If
// any credential suffices, it returns nil. If no credential is needed, it returns one empty requirement.
func Security(method, pattern string) []map[string][]string {
	scopes := needs()[method+" "+pattern].anyOf
	switch {
	case !guardedPath(method, pattern):
		return []map[string][]string{{}}
	case len(scopes) == len(registry.Scopes()):
		return nil
	}
	var ways []map[string][]string
	for _, scheme := range []string{"token", "session"} {
		for _, scope := range scopes {
			ways = append(ways, map[string][]string{scheme: {string(scope)}})
		}
	}
	return ways
}

// Guarded lists the routes that need a caller, by method and pattern.
func Guarded() []string { return slices.Sorted(maps.Keys(needs())) }
