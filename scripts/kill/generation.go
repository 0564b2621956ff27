package main

import "github.com/atelier-run/atelier/scripts/load"

// generation is the processes of one server, each with the time of its start: numbers are given again.
type generation map[int]string

func generationOf(pid int) generation {
	g := generation{}
	for _, pid := range load.LookAt(pid).Pids {
		g[pid] = load.Born(pid)
	}
	return g
}

// alive lists who is still there.
func (g generation) alive() []int {
	var pids []int
	for pid, born := range g {
		if born != "" && load.Born(pid) == born {
			pids = append(pids, pid)
		}
	}
	return pids
}
