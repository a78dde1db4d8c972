package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// write unites the filters, Expect, Done and Reasons of the writes.
func (m *merger) write(writes []Write) Write {
	out := Write{Collection: m.collection, Idempotent: true, Index: writes[0].Index, Keyed: writes[0].Keyed}
	filter, equal, err := m.filter(writes)
	if err != nil {
		return Refused(m.collection, err)
	}
	var done []bson.D
	stored := false // a write needs a document that isn't deleted
	for _, w := range writes {
		out.Idempotent = out.Idempotent && w.Idempotent
		if w.Expect == One {
			out.Expect = One
		}
		if w.Done != nil {
			done = append(done, w.Done)
		}
		if w.Index != out.Index {
			out.Index = ""
		}
		out.plain, out.ofStore = out.plain || w.plain, out.ofStore || w.ofStore
		out.asked = joinAsked(out.asked, w.asked)
		out.mixed = out.mixed || w.mixed || w.Deleted != writes[0].Deleted
		stored = stored || w.Expect == One && !w.Deleted && !w.mixed
	}
	if out.Deleted = writes[0].Deleted && !stored; stored {
		out.mixed = false
	}
	switch known := m.known(writes, &out); {
	case known != nil:
		out.Done, out.Token = known, m.token
	case out.prove(writes): // one command applied the others too
	case len(done) == len(writes):
		out.Done = bsondoc.JoinFilters(done...) // one command applies all of them or nothing
	}
	out.Reasons = reasonsOf(writes, equal)
	model := *m.models[0]
	if model.Filter, model.Update, model.ArrayFilters = filter, m.update, m.filters; m.encoded != nil {
		model.Update = m.encoded
	}
	out.Model = &model
	return out
}

// joinAsked returns the techniques that ask for one of two writes.
func joinAsked(a, b string) string {
	var out []string
	for _, name := range strings.Split(a+", "+b, ", ") {
		if name != "" {
			out = appendNew(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// filter unites the filters. It also reports whether all filters are equal.
func (m *merger) filter(writes []Write) (_ bson.D, equal bool, _ error) {
	filters := make([]bson.D, 0, len(m.models))
	equal, exact, alike := true, true, true
	for i, u := range m.models {
		f, ok := u.Filter.(bson.D)
		if !ok {
			return nil, false, m.conflict("filters must be bson.D: " + m.name(i) + " has another type")
		}
		equal = equal && (i == 0 || bsondoc.EqualDocuments(f, filters[0]))
		exact = exact && exacting(writes[i], f)
		alike = alike && (i == 0 || bsondoc.EqualDocuments(m.untokened(f), m.untokened(filters[0])))
		filters = append(filters, f)
	}
	if equal {
		return slices.Clone(filters[0]), true, nil
	}
	id, pinned := bsondoc.IDOf(filters[0])
	for i, f := range filters[1:] {
		if other, ok := bsondoc.IDOf(f); !pinned || !ok || !bsondoc.SameValue(other, id) {
			return nil, false, m.conflict("the writes may be to different documents (" + m.both(0, i+1) +
				"): give each filter the same _id, or " + asSteps)
		}
	}
	if !exact && !alike {
		return nil, false,
			m.conflict("the filters differ, and a write with a condition may match nothing, so its condition would prevent the other's update (" +
				m.swallowed(writes) + "): set its Expect to One, or " + asSteps)
	}
	rest := []bson.D{{filters[0][bsondoc.IndexOfID(filters[0])]}}
	for _, f := range filters {
		if guard := guardOf(f); len(guard) > 0 {
			rest = append(rest, guard)
		}
	}
	return bsondoc.JoinFilters(rest...), false, nil
}

// exacting reports whether a write expects a match, or has no condition but the _id: it
// then matches whenever another write of the same document does.
func exacting(w Write, filter bson.D) bool { return w.Expect == One || len(guardOf(filter)) == 0 }

// swallowed returns the names of the writes whose condition may match nothing.
func (m *merger) swallowed(writes []Write) string {
	var names []string
	for i, w := range writes {
		if f, _ := bsondoc.Document(w.filter()); !exacting(w, f) {
			names = append(names, m.name(i))
		}
	}
	return strings.Join(names, ", ")
}

// guardOf returns a filter without its condition on _id.
func guardOf(filter bson.D) bson.D {
	i := bsondoc.IndexOfID(filter)
	if i < 0 {
		return filter
	}
	return append(append(bson.D(nil), filter[:i]...), filter[i+1:]...)
}

// reasonsOf returns the Reasons of all writes. If the filters differ, each reason gets an
// extra condition: the condition of its own write must be false, or the document must be
// missing if its write has no condition. Writes with a reason that wraps [ErrStale] come
// first.
func reasonsOf(writes []Write, equal bool) []Reason {
	type group struct {
		reasons []Reason
		stale   bool
		text    string
	}
	var groups []group
	for _, w := range writes {
		g := group{}
		filter, _ := bsondoc.Document(w.filter())
		for _, r := range w.Reasons {
			switch guard := guardOf(filter); {
			case equal:
			case len(guard) == 0 && r.If == nil: // the document is missing
				r.If, r.missing = filter, true
			case r.If == nil:
				continue // it applies only if this write failed by itself
			case len(guard) > 0:
				r.If = bsondoc.JoinFilters(r.If, bson.D{{Key: "$nor", Value: bson.A{guard}}})
			}
			g.stale = g.stale || errors.Is(r.Err, ErrStale)
			g.text += r.Err.Error() + shell(r.If)
			g.reasons = append(g.reasons, r)
		}
		if len(g.reasons) > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		if a.stale != b.stale {
			return pick(a.stale, -1, 1)
		}
		return strings.Compare(a.text, b.text)
	})
	var out []Reason
	for _, g := range groups {
		out = append(out, g.reasons...)
	}
	return out
}
