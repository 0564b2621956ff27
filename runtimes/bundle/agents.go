package bundle

import "github.com/evanw/esbuild/pkg/api"

// AgentsModule is the module whose exports call other agents: import { summarise } from "agents".
const AgentsModule = "agents"

// AgentsName is the global that the guests of both engines define as the exports of AgentsModule.
const AgentsName = "__atelier_agents__"

// calls is the esbuild namespace of AgentsModule.
const calls = "agents"

func loadAgents(api.OnLoadArgs) (api.OnLoadResult, error) {
	contents := "module.exports = " + AgentsName + ";"
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
}
