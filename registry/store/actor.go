package store

import "github.com/atelier-run/atelier/registry"

// identified returns the actor. If the stored actor has no ID, the result has the given ID.
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
