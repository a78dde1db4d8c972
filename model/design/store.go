package design

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	doc  = bson.D
	id   = bson.ObjectID
	docs = model.Collection[doc, id]
)

// store is a workload under a layout: the techniques that store it.
type store struct {
	*graph
	layout Layout
	own    map[*entity]*docs     // the entities with a collection
	home   map[*entity]*relation // the relation that embeds each other entity
	refs   map[*relation]*parentref.ParentRef[doc, id, doc, id]
	lists  map[*relation]*embed.Embedded[doc, id, doc]
	orders map[*relation]*childrefs.ChildRefs[doc, id, doc, id] // of parents that list their children
	links  map[*relation]*childrefs.ChildRefs[doc, id, doc, id] // of children that list their parents
	newest map[*relation]*subset.Subset[doc, id, doc, id]
	pushed map[*relation]*bounded.Bounded[doc, id] // the newest of paged children
	counts map[*relation]*counter.Counter[doc, id, doc, id]
	stores map[*relation]*model.Store[doc, id] // of the children that a parent shows or counts
	copies map[*relation]*copies.Copy[doc, id, id]
	pages  map[*relation]*pages // by the relation that embeds the children in their pages

	lookups map[*access]lookup
	sizes   map[*entity]size // of the documents of each collection
	model   *model.Model
	indexes map[string][]model.Index // by collection, without the one on _id
	more    map[string][]model.Index // those of indexes that no technique declares

	orderOf  map[*relation]string // the order of a reference's index
	listSpec map[*relation]string // the spec of an embedded list, in Go
}

func newStore(g *graph, l Layout) (*store, error) {
	s := &store{
		graph: g, layout: l, own: map[*entity]*docs{}, home: map[*entity]*relation{},
		refs:   map[*relation]*parentref.ParentRef[doc, id, doc, id]{},
		lists:  map[*relation]*embed.Embedded[doc, id, doc]{},
		orders: map[*relation]*childrefs.ChildRefs[doc, id, doc, id]{},
		links:  map[*relation]*childrefs.ChildRefs[doc, id, doc, id]{},
		newest: map[*relation]*subset.Subset[doc, id, doc, id]{},
		counts: map[*relation]*counter.Counter[doc, id, doc, id]{}, copies: map[*relation]*copies.Copy[doc, id, id]{},
		pages: map[*relation]*pages{}, pushed: map[*relation]*bounded.Bounded[doc, id]{},
		stores: map[*relation]*model.Store[doc, id]{}, lookups: map[*access]lookup{}, sizes: map[*entity]size{},
		indexes: map[string][]model.Index{}, more: map[string][]model.Index{}, orderOf: map[*relation]string{},
		listSpec: map[*relation]string{},
	}
	if err := s.place(); err != nil {
		return nil, err
	}
	for e := range s.own {
		if e.pages != nil {
			continue
		}
		z, err := s.sizeOf(e)
		if err != nil {
			return nil, err
		}
		if z.largest > model.MaxDocument {
			return nil, s.refuse("Stored", l.String(), "a document of "+e.Name+" can grow beyond 16 MB")
		}
		s.sizes[e] = z
	}
	for _, p := range s.pages {
		if err := s.sizePages(p); err != nil {
			return nil, err
		}
	}
	for _, list := range g.accesses {
		for _, a := range list {
			if a.Do == Read {
				s.lookups[a] = s.lookup(a)
			}
		}
	}
	s.declare()
	return s, nil
}

// place decides which entities have a collection, and refuses invalid layouts.
func (s *store) place() error {
	for name, st := range s.layout.Stored {
		r := s.relations[name]
		if r == nil {
			return s.refuse("Stored", name, "no relation has this name")
		}
		at := fmt.Sprintf("Stored[%q]", name)
		if int(st.As) >= len(structureNames) {
			return s.refuse(at+".As", st.As, "must be Reference, Embedded or Paged")
		}
		if st.As != Reference {
			if s.home[r.child] != nil {
				return s.refuse(at+".As", st.As.text(),
					fmt.Sprintf("%s are already stored by another relation", r.Child))
			}
			s.home[r.child] = r
			if st.As == Paged {
				if st.Page < 1 || st.Page > 100_000 {
					return s.refuse(at+".Page", st.Page, "must be from 1 to 100,000")
				}
				s.home[r.child] = s.newPages(r, st.Page)
			}
		}
		for _, f := range st.Copy {
			if r.parent.field(f) == nil && r.parent.parentBy(f) == nil {
				return s.refuse(at+".Copy", f, fmt.Sprintf("%s have no field and no relation of this name", r.Parent))
			}
		}
	}
	for name, r := range s.relations {
		if err := s.placeMore(r, s.storage(r), fmt.Sprintf("Stored[%q]", name)); err != nil {
			return err
		}
	}
	for _, e := range s.entities {
		if home := s.home[e]; home == nil {
			s.own[e] = model.NewCollection[doc, id](e.Name)
		} else if s.paged(home) {
			s.own[home.parent] = model.NewCollection[doc, id](e.Name)
			s.own[home.parent].Docs().MakeKeyed() // as the bucket's own value
		}
	}
	return nil
}

// placeMore refuses additions that a relation's structure doesn't allow.
func (s *store) placeMore(r *relation, st Storage, at string) error {
	apart := st.As == Reference && s.home[r.child] == nil && s.home[r.parent] == nil
	home := s.home[r.child]
	switch {
	case r.many() && (st.As != Reference || st.Newest != 0 || st.Totals):
		return s.refuse(at, st.text(), "a many-to-many relation must be a Reference, without Newest and Totals")
	case r.many() && home != nil:
		return s.refuse(at, st.text(),
			fmt.Sprintf("%s must have a collection of their own, because they list several %s", r.Child, r.Parent))
	case home != nil && s.paged(home) && (len(st.Copy) > 0 || s.writes(r.child, Update, Delete)):
		return s.refuse(at, st.text(),
			fmt.Sprintf("%s are Paged: they can't hold copies, and the workload must not update or delete them", r.Child))
	case st.As == Paged && (s.home[r.parent] != nil || r.parent == r.child || r.Ordered):
		return s.refuse(at+".As", st.As,
			"Paged needs parents with a collection of their own, and a relation that is not Ordered")
	case st.Page != 0 && st.As != Paged:
		return s.refuse(at+".Page", st.Page, "needs Paged")
	case st.As == Embedded && (s.home[r.parent] != nil || r.parent == r.child):
		return s.refuse(at+".As", st.As,
			fmt.Sprintf("%s have no collection of their own, so nothing can be embedded in them", r.Parent))
	case st.As == Reference && r.Ordered && (s.home[r.child] != nil || s.home[r.parent] != nil):
		return s.refuse(at+".As", st.As,
			"a reference of an Ordered relation needs collections of their own for both entities")
	case len(st.Copy) > 0 && (st.As == Embedded || s.home[r.parent] != nil || r.Ordered):
		return s.refuse(at+".Copy", st.Copy,
			"Copy needs a Reference, a relation that is not Ordered, and a parent with a collection of its own")
	case st.Newest != 0 && st.As == Paged && s.home[r.parent] == nil && !st.Totals:
		return s.placeNewest(r, st, at)
	case (st.Newest != 0 || st.Totals) && (!apart || r.Ordered):
		what := "Newest"
		if st.Totals {
			what = "Totals"
		}
		return s.refuse(at+"."+what, st.text(),
			fmt.Sprintf("%s needs %s and %s in collections of their own, and the parent's _id in the child",
				what, r.Child, r.Parent))
	case st.Totals && len(s.totals(r)) == 0:
		return s.refuse(at+".Totals", true, "no operation shows a total of this relation")
	case st.Totals && s.leaves(r):
		return s.refuse(at+".Totals", true,
			fmt.Sprintf("the workload updates or deletes %s that a min or max is made of, which can't be priced", r.Child))
	case st.Newest > 0 && s.writes(r.child, Update, Delete):
		return s.refuse(at+".Newest", st.Newest,
			fmt.Sprintf("the workload updates or deletes %s, which can't be priced with Newest", r.Child))
	}
	if err := s.placeNewest(r, st, at); err != nil {
		return err
	}
	if st.Newest > 0 || st.Totals {
		for _, o := range r.child.parents {
			if other := s.storage(o); o != r && (other.Newest > 0 || other.Totals) || other.Newest > 0 && other.Totals {
				return s.refuse(at, st.text(),
					fmt.Sprintf("only one Newest or Totals of the same %s can be priced", r.Child))
			}
		}
	}
	return nil
}

// leaves reports whether a child with a smallest or greatest value can leave its parent.
func (g *graph) leaves(r *relation) bool {
	extremes := slices.DeleteFunc(g.totals(r), func(t total) bool { return t.op == "count" || t.op == "sum" })
	return len(extremes) > 0 &&
		(g.writes(r.child, Delete) ||
			slices.ContainsFunc(extremes, func(t total) bool { return g.changes(r.child, t.field.Name) }))
}

// changes reports whether an operation updates a field of an entity.
func (g *graph) changes(e *entity, field string) bool {
	for _, list := range g.accesses {
		for _, a := range list {
			if a.of == e && slices.Contains(a.sets, field) {
				return true
			}
		}
	}
	return false
}

func (s *store) placeNewest(r *relation, st Storage, at string) error {
	switch {
	case st.Newest < 0 || (st.Newest > 0) != (st.By != ""):
		return s.refuse(at+".Newest", st.Newest, "must not be negative, and Newest and By must be set together")
	case st.By != "" && r.child.field(st.By) == nil:
		return s.refuse(at+".By", st.By, fmt.Sprintf("%s have no field of this name", r.Child))
	}
	return nil
}

// writes reports whether an operation does one of the actions on an entity's documents.
func (g *graph) writes(e *entity, actions ...Action) bool {
	for _, list := range g.accesses {
		for _, a := range list {
			if a.of == e && slices.Contains(actions, a.Do) {
				return true
			}
		}
	}
	return false
}

func (s *store) storage(r *relation) Storage { return s.layout.Stored[r.name()] }

// host returns the entity whose collection contains e's documents.
func (s *store) host(e *entity) *entity {
	if home := s.home[e]; home != nil {
		return home.parent
	}
	return e
}

// prefix is the path prefix of an entity in its collection's documents.
func (s *store) prefix(e *entity) string {
	if home := s.home[e]; home != nil {
		return home.List + "."
	}
	return ""
}

// listed reports whether the parent lists its children's _ids.
func (s *store) listed(r *relation) bool { return r.Ordered && s.storage(r).As == Reference }

// key is the path of a relation within its child.
func (s *store) key(r *relation) string {
	if len(s.storage(r).Copy) > 0 {
		return r.Field + "._id"
	}
	return r.Field
}

// copied is the path within a child of the copy of a parent's field, or "".
func (s *store) copied(r *relation, name string) string {
	if slices.Contains(s.storage(r).Copy, name) {
		return r.Field + "." + name
	}
	return ""
}

// source is the path in a parent of a field or relation.
func (s *store) source(e *entity, name string) string {
	if r := e.parentBy(name); r != nil {
		return s.key(r)
	}
	return name
}
