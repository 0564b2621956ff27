package store

import "github.com/atelier-run/atelier/registry"

// identified returns the actor, with the given ID if its own ID was not stored.
func identified(a registry.Actor, id string) registry.Actor {
	if a.ID == "" {
		a.ID = id
	}
	return a
}

func actor(workspace, id, kind, name string) registry.Actor {
	if id == "" {
		return registry.Actor{}
	}
	return registry.Actor{ID: id, Type: registry.ActorType(kind), Name: name, Workspace: workspace}
}
