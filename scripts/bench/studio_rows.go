package main

import "fmt"

// journey describes a row of the Studio's section.
type journey struct {
	name, what string
	bar        bar
	floor, of  string // floor is the journey for the comparison, and of is its name in the table; both are "" if there is none
}

// journeys returns the rows in order, with their targets.
func journeys(took timings) []journey {
	ms := func(must, aim float64) bar { return bar{must: must, aim: aim, unit: "ms"} }
	const blank, frame = "the blank page", "the blank page's worst frame"
	return []journey{
		{name: "blank", what: "blank page: a line of text (/health), first paint, cold"},
		{name: "paint", what: "first contentful paint, cold", bar: ms(500, 0), floor: "blank", of: blank},
		{name: "editor-cold", what: "editor ready, cold", bar: ms(900, 500), floor: "blank", of: blank},
		{name: "editor-warm", what: "editor ready, warm", bar: ms(300, 0), floor: "blank", of: blank},
		{name: "blank-slow", what: "blank page with a processor 4 × slower, 10 Mbit/s, 40 ms"},
		{name: "paint-slow", what: "first contentful paint, cold, likewise slow", floor: "blank-slow", of: blank},
		{name: "editor-slow", what: "editor ready, cold, likewise slow", bar: ms(2500, 0), floor: "blank-slow", of: blank},
		{name: "ts-first", what: "TypeScript, first completion once the editor is ready", bar: ms(1500, 0)},
		{name: "ts-next", what: "TypeScript, next completion", bar: ms(300, 0)},
		{name: "python-diagnostics", what: "Python, from its tab to the first diagnostics, cold", bar: ms(2000, 0)},
		{name: "python-completion", what: "Python, completion, warm", bar: ms(150, 0)},
		{name: "run-api", what: "hello in JavaScript by the API, its draft"},
		{name: "run-line", what: "the same, from Run to its first line on the screen", bar: bar{must: took.median("run-api") + 60, unit: "ms", of: "API + 60"}, floor: "run-api", of: "API"},
		{name: "frame-blank", what: "blank page of the same browser, worst frame in 2 s"},
		{name: "key-p50", what: "from key to paint in a file of 2,000 lines, p50", bar: ms(16, 0), floor: "frame-blank", of: frame},
		{name: "key-p95", what: "from key to paint in a file of 2,000 lines, p95", bar: ms(32, 0), floor: "frame-blank", of: frame},
		{name: "frame-worst", what: "100,000 coloured lines in a page that had one run, worst frame", bar: ms(50, 17), floor: "frame-blank", of: frame},
		{name: "flood-whole", what: "100,000 coloured lines in a page that had one run, from Run to the end"},
		{name: "agents", what: "list of 1,000 agents, from the click", bar: ms(200, 0)},
		{name: "memory-ts", what: "memory of the page's process, RSS, with TypeScript", bar: bar{must: 300, unit: "MB"}},
		{name: "memory-python", what: "memory of the page's process, RSS, with Python too", bar: bar{must: 600, unit: "MB"}},
	}
}

// row returns the row of a journey with the median, the best and the worst value. If a target is missed, the row also
// shows the load of other processes, because this load may have slowed down the browser.
func (j journey) row(took timings, others float64) row {
	values := took[j.name]
	if len(values) == 0 {
		return row{what: j.what, measured: "not measured"}
	}
	unit := "ms"
	if j.bar.unit != "" {
		unit = j.bar.unit
	}
	got := took.median(j.name)
	r := row{what: j.what, measured: fmt.Sprintf("%s %s (%s to %s)", short(got), unit, short(values[0]), short(values[len(values)-1]))}
	why := fmt.Sprintf("others used %.1f cores", others)
	if floor := took.median(j.floor); floor > 0 {
		r.floor = fmt.Sprintf("%.1f × %s", got/floor, j.of)
		why += fmt.Sprintf("; %s took %s ms", j.of, short(floor))
	}
	if j.bar.must == 0 {
		return r
	}
	return j.bar.judge(r, got, why)
}
