package store

import "github.com/atelier-run/atelier/registry"

// identified sets the ID of an actor of whom only the ID is known.
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
