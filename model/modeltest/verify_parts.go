package modeltest

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testserver"
)

// parts runs the subtests of a way.
func (w *way) parts(t *testing.T) {
	for _, o := range w.Operations {
		w.part(t, o.Name+" alone", func(t *testing.T, p *part) { p.runAlone(t, o, false) })
	}
	for _, o := range w.Reads {
		w.part(t, o.Name+" alone", func(t *testing.T, p *part) { p.runAlone(t, o, true) })
	}
	for _, o := range slices.Concat(w.Operations, w.Reads) {
		w.part(t, o.Name+" indexes", func(t *testing.T, p *part) {
			if p.backend.plain != nil {
				p.leave("indexes: the plans of this server for a few documents say nothing")
				t.Skip(testserver.Lacks + "plans that tell of a few documents")
			}
			p.runIndexes(t, o)
		})
	}
	type long struct {
		name string
		run  func(t *testing.T, p *part)
	}
	var list []long
	accepted := w.accepted(t)
	for _, o := range accepted {
		list = append(list, long{o.Name + " cut", func(t *testing.T, p *part) { p.runCut(t, o) }})
	}
	for i, a := range accepted {
		for _, b := range accepted[i:] {
			list = append(list, long{a.Name + " and " + b.Name, func(t *testing.T, p *part) {
				if !p.share(p.ran(t, a), p.ran(t, b)) && a.ofStore {
					return
				}
				if !p.share(p.ran(t, a), p.ran(t, b)) {
					p.leave("%s: neither writes to a collection that the other uses", p.name)
					return
				}
				p.runPair(t, a, b)
			}})
		}
	}
	chosen := list
	if w.backend.plain != nil {
		chosen = sample(list, w.Sample)
	}
	for _, l := range list {
		if !slices.ContainsFunc(chosen, func(c long) bool { return c.name == l.name }) {
			w.leave("all but %d of the cut and interleaved operations in each way: a server takes its time", len(chosen))
			w.part(t, l.name, func(t *testing.T, _ *part) { t.Skip(testserver.Lacks + "time for every part of Verify") })
			continue
		}
		w.part(t, l.name, l.run)
	}
}

// part runs a subtest, and reports its findings.
func (w *way) part(t *testing.T, name string, f func(t *testing.T, p *part)) {
	w.verification.run(t, name, func(t *testing.T) {
		p := &part{way: w, name: name}
		defer p.report(t)
		f(t, p)
	})
}
