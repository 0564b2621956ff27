package main

import "github.com/atelier-run/atelier/scripts/load"

// generation holds the processes of one server. It maps process IDs to start times, because the kernel reuses process
// IDs.
type generation map[int]string

func generationOf(pid int) generation {
	g := generation{}
	for _, pid := range load.LookAt(pid).Pids {
		g[pid] = load.Born(pid)
	}
	return g
}

// alive returns the processes of the generation that still exist.
func (g generation) alive() []int {
	var pids []int
	for pid, born := range g {
		if born != "" && load.Born(pid) == born {
			pids = append(pids, pid)
		}
	}
	return pids
}
