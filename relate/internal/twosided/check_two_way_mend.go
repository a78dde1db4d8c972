package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
)

// repair is the plan that mends half-links.
func (t *TwoWay) repair(found []halfLink) model.Plan {
	var p model.Plan
	given := map[string]bool{} // items that this plan gives to an owner
	for _, h := range found {
		key := bsonval.Key(h.B)
		if t.Ref.Links {
			if h.undecided() && given[key] {
				continue // the next check removes the link
			}
			given[key] = given[key] || h.undecided()
			p.Steps = append(p.Steps, t.mendVersioned(h)...)
			continue
		}
		var w model.Write
		switch {
		case !h.List && (h.Gone || t.TrustLists):
			w = commands.UpdateOne(t.Ref.Docs.Name(), append(commands.ByID(h.B), stmt.Is(t.Ref.Path, h.A)...), stmt.Unset(t.Ref.Path))
		case !h.List:
			w = t.List.unbounded().add(h.A, h.B)
		case h.Gone || h.Kept || !t.TrustLists || given[key]:
			w = t.List.pull(h.A, model.Eq(h.B))
		default: // the item names the owner that lists it, if it still names whom the check saw, or nobody
			given[key] = true
			names := append(slices.Clone(t.none), idref.AsArray(h.Names)...)
			w = commands.UpdateOne(t.Ref.Docs.Name(), append(commands.ByID(h.B), mql.E(t.Ref.Path, stmt.In(names))), stmt.Set(t.Ref.Path, h.A))
		}
		p.Steps = append(p.Steps, stmt.AnyMatch(w)) // somebody may have mended it; the next check tells
	}
	return p
}

// mendVersioned believes the item: a list's link is removed or added, and a link to an owner that is gone is ended, under the version
// and the token that the check saw. For an operation that has not decided, it decides.
func (t *TwoWay) mendVersioned(h halfLink) (steps []model.Step) {
	items, ref := t.Ref.Docs.Name(), t.Ref.Path
	var w model.Write
	switch {
	case h.List && h.undecided():
		w = commands.UpdateOne(items, atVersion(h.B, ref+".v", h.Now), stmt.Set(ref, link(h.A, h.V, h.Op)))
		steps = []model.Step{t.sweep(h.B, h.V)}
	case h.List:
		w = t.List.pull(h.A, exactly(h.B, h.V, h.Op))
	case h.Gone:
		w = commands.UpdateOne(items, append(atVersion(h.B, ref+".v", h.V), mql.E(ref+".op", h.Op)), stmt.Set(ref, ended(h.V+1, h.Op)))
	default:
		w = t.List.unbounded().reserve(h.A, h.B, h.V, h.Op)
	}
	w.Expect, w.Once = model.Any, true
	return append([]model.Step{w}, steps...)
}
