package skills

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
)

// Call is a request to run a skill's latest version.
type Call struct {
	Name   string
	Args   json.RawMessage // parameters as a JSON object
	Action string          // action to run; used only with ByAction
	// RequestID is the client's own ID for the call. After a call had to wait for an approval, the client repeats the call
	// with the same ID to get the result.
	RequestID string
	Claimed   registry.Claim // the actor on whose behalf the client says that it acts
	// ByAction is set if the caller names an action. A skill whose input is {action, args} then gets both. Any other skill
	// gets only the args.
	ByAction bool
}

// Run runs a skill. If no version was found, the returned version is zero.
func (s *Service) Run(ctx context.Context, actor registry.Actor, call Call) (registry.Run, registry.Version, error) {
	if err := s.ready(ctx); err != nil {
		return registry.Run{}, registry.Version{}, err
	}
	v, err := s.version(ctx, actor, call.Name)
	if err != nil {
		return registry.Run{}, v, err
	}
	input := call.Args
	if call.ByAction {
		if input, err = byAction(v, call); err != nil {
			return registry.Run{}, v, err
		}
	}
	run, err := s.Runs.Execute(ctx, actor, runs.Request{Of: &v, Agent: v.AgentID, Version: v.Version, Input: input, Trigger: registry.TriggerSkill, RequestID: call.RequestID, Claimed: call.Claimed})
	return run.Run, v, err
}

// version returns the latest version of a skill. The cached index of agent IDs saves a query in each call.
func (s *Service) version(ctx context.Context, actor registry.Actor, name string) (registry.Version, error) {
	key := actor.Workspace + "/" + registry.NameKey(name)
	s.mu.RLock()
	id := s.index[key]
	s.mu.RUnlock()
	if id == "" {
		skill, err := s.find(ctx, actor, name)
		if err != nil {
			return registry.Version{}, err
		}
		id = skill.AgentID
		s.mu.Lock()
		s.index[key] = id
		s.mu.Unlock()
	}
	v, err := s.Agents.Version(ctx, actor, id, registry.Latest)
	if err == nil {
		return v, nil
	}
	s.forget()
	if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.NoVersion) {
		return registry.Version{}, err
	}
	if skill, findErr := s.find(ctx, actor, name); findErr == nil && skill.Drafted {
		return registry.Version{}, fault.New(fault.NotFound, "Skill '%s' is a draft. Promote it with POST /v1/skills/promote.", skill.Name)
	}
	return registry.Version{}, unknown(name)
}

// Forget clears the index of agent IDs. It is called when another server has changed skills.
func (s *Service) Forget() { s.forget() }

// forget clears the index of agent IDs.
func (s *Service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.index)
}

// byAction returns the input of a skill for a call that names an action.
func byAction(v registry.Version, call Call) (json.RawMessage, error) {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(v.InputSchema, &schema); err != nil {
		return nil, err
	}
	_, hasAction := schema.Properties["action"]
	args, hasArgs := schema.Properties["args"]
	if !hasAction || !hasArgs || len(schema.Properties) != 2 {
		if call.Action != "" && call.Action != "run" {
			return nil, fault.Invalid("/action", "must be run; %s has no other action.", v.Agent)
		}
		return call.Args, nil
	}
	given := call.Args
	if len(args.Default) > 0 {
		given = laidOver(args.Default, given)
	}
	action := call.Action
	if action == "" {
		action = "run"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Action string          `json:"action"`
		Args   json.RawMessage `json:"args"`
	}{action, given})
	return out.Bytes(), err
}

// laidOver returns base with the members of over, which replace members with the same name. If one of the two is not an
// object, it returns over.
func laidOver(base, over json.RawMessage) json.RawMessage {
	var low, high map[string]json.RawMessage
	if json.Unmarshal(base, &low) != nil || json.Unmarshal(over, &high) != nil || low == nil || high == nil {
		return over
	}
	for name, value := range high {
		low[name] = value
	}
	text, err := json.Marshal(low)
	if err != nil {
		return over
	}
	return text
}
