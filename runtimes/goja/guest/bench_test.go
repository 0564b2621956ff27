package guest_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes/goja/guest"
)

func BenchmarkRun(b *testing.B) {
	for name, job := range map[string]guest.Job{
		"nothing": js("export default (i) => i", `{"name":"Ada"}`),
		"hello":   js("export default ({ name }) => { console.log('hello ' + name); return { greeting: 'Hello, ' + name } }", `{"name":"Ada"}`),
		"url":     js("export default ({ name }) => new URL('https://example.com/' + name).href", `{"name":"Ada"}`),
		"clone":   js("export default (i) => structuredClone(i)", `{"name":"Ada"}`),
	} {
		b.Run(name, func(b *testing.B) {
			s := newServer(b)
			job.Digest = name
			b.ReportAllocs()
			for b.Loop() {
				if a := s.run(job); a.Error != nil {
					b.Fatal(a.Error)
				}
			}
		})
	}
}
