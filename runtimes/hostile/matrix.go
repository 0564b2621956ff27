package hostile

import (
	"fmt"
	"io"
	"sync"

	"github.com/atelier-run/atelier/runtimes"
)

// Matrix counts the results of attacks by class and language. It is safe for concurrent use.
type Matrix struct {
	mu        sync.Mutex
	cells     map[cell]*tally
	ordinary  map[Class]*tally
	egress    map[Class]*tally
	controls  map[Class]*tally
	behaved   map[runtimes.Language]*tally
	survivors []string
}

type cell struct {
	class    Class
	language runtimes.Language
}

type tally struct{ all, bad int }

func (t *tally) add(good bool) {
	t.all++
	if !good {
		t.bad++
	}
}

func (t *tally) String() string {
	switch {
	case t == nil || t.all == 0:
		return "-"
	case t.bad > 0:
		return fmt.Sprintf("%d (%d BAD)", t.all, t.bad)
	}
	return fmt.Sprint(t.all)
}

// NewMatrix returns an empty matrix.
func NewMatrix() *Matrix {
	return &Matrix{
		cells: map[cell]*tally{}, ordinary: map[Class]*tally{}, egress: map[Class]*tally{}, controls: map[Class]*tally{}, behaved: map[runtimes.Language]*tally{},
	}
}

// Case counts an attack by a program. held is true if the attack ended as required and the next run worked.
func (m *Matrix) Case(class Class, language runtimes.Language, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(m.cells, cell{class, language}).add(held)
}

// Ordinary counts an attack on a server that does not run as root.
func (m *Matrix) Ordinary(class Class, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(m.ordinary, class).add(held)
}

// Egress counts an attack that consists of requests or documents instead of a program.
func (m *Matrix) Egress(class Class, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(m.egress, class).add(held)
}

// Control counts an attack for which the protection was switched off. through is true if the attack succeeded, as it
// must.
func (m *Matrix) Control(class Class, through bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(m.controls, class).add(through)
}

// Behaved counts a harmless program. passed is true if the program ran as usual.
func (m *Matrix) Behaved(language runtimes.Language, passed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(m.behaved, language).add(passed)
}

// Survivor records a process, file or other object that an attack left behind.
func (m *Matrix) Survivor(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.survivors = append(m.survivors, what)
}

func count[K comparable](all map[K]*tally, key K) *tally {
	if all[key] == nil {
		all[key] = &tally{}
	}
	return all[key]
}

// Empty reports whether nothing was counted.
func (m *Matrix) Empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.cells)+len(m.ordinary)+len(m.egress)+len(m.controls)+len(m.behaved)+len(m.survivors) == 0
}

// Survivors returns the number of objects left behind.
func (m *Matrix) Survivors() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.survivors)
}

var languages = []runtimes.Language{runtimes.JavaScript, runtimes.TypeScript, Node, runtimes.Python, runtimes.Bash}

// Print writes the matrix and the totals. The control column counts attacks without the protection; these must succeed.
func (m *Matrix) Print(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const line = "%-24s %12s %12s %12s %12s %12s %14s %10s\n"
	var cases, controls, behaved tally
	fmt.Fprintf(w, line, "hostile programs", languages[0], languages[1], languages[2], languages[3], languages[4], "ordinary user", "control")
	for _, class := range Classes() {
		row := []any{string(class)}
		for _, language := range languages {
			one := m.cells[cell{class, language}]
			row = append(row, one.String())
			cases.join(one)
		}
		fmt.Fprintf(w, line, append(row, m.ordinary[class].String(), m.controls[class].String())...)
		cases.join(m.ordinary[class])
		controls.join(m.controls[class])
	}
	row := []any{"well behaved"}
	for _, language := range languages {
		row = append(row, m.behaved[language].String())
		behaved.join(m.behaved[language])
	}
	fmt.Fprintf(w, line, append(row, "", "")...)
	fmt.Fprintf(w, "%-24s %12s %10s\n", "hostile requests", "cases", "control")
	for _, class := range EgressClasses() {
		fmt.Fprintf(w, "%-24s %12s %10s\n", class, m.egress[class], m.controls[class])
		cases.join(m.egress[class])
		controls.join(m.controls[class])
	}
	fmt.Fprintf(w, "%d cases, %d escapes, %d survivors; %d controls, %d of them stopped; %d well-behaved programs, %d of them refused\n",
		cases.all, cases.bad, len(m.survivors), controls.all, controls.bad, behaved.all, behaved.bad)
	for _, what := range m.survivors {
		fmt.Fprintln(w, "survivor:", what)
	}
}

func (t *tally) join(other *tally) {
	if other != nil {
		t.all += other.all
		t.bad += other.bad
	}
}
