package design

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
)

// graph is a workload with resolved names.
type graph struct {
	Workload
	entities  map[string]*entity
	relations map[string]*relation
	accesses  [][]*access // by operation
}

type entity struct {
	*Entity
	number   int
	parents  []*relation // in which it is the child
	children []*relation // in which it is the parent

	pages *pages // the pages that it represents; nil for an entity of the workload
}

type relation struct {
	*Relation
	number        int
	child, parent *entity
}

// average is the average number of children of a parent.
func (r *relation) average() float64 {
	return float64(r.child.Count*r.each()) / float64(r.parent.Count)
}

// each is the number of parents of a child.
func (r *relation) each() int64 { return max(1, r.Each) }

// many reports whether a relation is many-to-many.
func (r *relation) many() bool { return r.Each > 1 }

// max is the greatest number of children of a parent.
func (r *relation) max() int64 {
	if r.Max > 0 {
		return r.Max
	}
	return max(1, int64(5*r.average()+0.5))
}

// field returns the field with a name, or nil.
func (e *entity) field(name string) *Field {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return &e.Fields[i]
		}
	}
	return nil
}

// parentBy returns the relation with this name in the child.
func (e *entity) parentBy(name string) *relation {
	for _, r := range e.parents {
		if r.Field == name {
			return r
		}
	}
	return nil
}

// listBy returns the relation with this list name in the parent.
func (e *entity) listBy(name string) *relation {
	for _, r := range e.children {
		if r.List == name {
			return r
		}
	}
	return nil
}

// access is an access with resolved paths.
type access struct {
	*Access
	of    *entity
	by    []path
	since *path
	order *path
	shown []path // of fields, those of parents
	sets  []string

	totals []total // of its children
	links  []path  // the many-to-many relations that get one more parent
}

// path is a path of an access: the _id, an own field or relation, or one of a parent.
type path struct {
	rel   *relation // leads to this relation's parent; nil if it stays in the entity
	own   *relation // the last name is a relation, of the entity or of rel's parent
	field *Field    // the last name is a field
	name  string    // the last name; "*" means all
	as    string    // the name of the document
}

func (p path) isID() bool { return p.name == "_id" && p.rel == nil }

func newGraph(w Workload) (*graph, error) {
	g := &graph{Workload: w, entities: map[string]*entity{}, relations: map[string]*relation{}}
	for _, step := range []func() error{g.readEntities, g.readRelations, g.readOperations, g.readServer} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *graph) refuse(field string, value any, reason string) error {
	return &model.ValueError{Collection: g.Name, Field: field, Value: value, Reason: reason}
}

func (g *graph) readEntities() error {
	if len(g.Entities) == 0 {
		return g.refuse("Entities", 0, "must have at least one entity")
	}
	g.Entities = slices.Clone(g.Entities)
	for i := range g.Entities {
		g.Entities[i].Fields = slices.Clone(g.Entities[i].Fields)
		e := &entity{Entity: &g.Entities[i], number: i}
		at := fmt.Sprintf("Entities[%d]", i)
		switch {
		case e.Name == "" || strings.ContainsAny(e.Name, ".$ ="):
			return g.refuse(at+".Name", e.Name, "must be a name without '.', '$', '=' and spaces")
		case g.entities[e.Name] != nil:
			return g.refuse(at+".Name", e.Name, "two entities have this name")
		case e.Count <= 0 || e.Count > 1<<31:
			return g.refuse(at+".Count", e.Count, "must be from 1 to 2^31")
		}
		var names []string
		for j, f := range e.Fields {
			at := fmt.Sprintf("%s.Fields[%d]", at, j)
			switch {
			case f.Name == "" || f.Name == "_id" || f.Name == "*" || strings.ContainsAny(f.Name, ".$ ="):
				return g.refuse(at+".Name", f.Name, "must be a name without '.', '$', '=' and spaces, other than _id")
			case slices.Contains(names, f.Name):
				return g.refuse(at+".Name", f.Name, "two fields have this name")
			case f.Text < 0:
				return g.refuse(at+".Text", f.Text, "is negative: give 0 or more")
			case f.Grows && (f.Text != 0 || f.Values != 0):
				return g.refuse(at+".Grows", true,
					"a field that grows must be a number (Text 0) with a value of its own in each document (Values 0)")
			case f.Values < 0:
				return g.refuse(at+".Values", f.Values, "is negative: give 0 or more")
			}
			names = append(names, f.Name)
			if f.Values == 0 {
				f.Values = e.Count
			}
			if !f.fits() {
				return g.refuse(at+".Text", f.Text, fmt.Sprintf("is too short for %d different values: set Values", f.Values))
			}
			e.Fields[j] = f
		}
		g.entities[e.Name] = e
	}
	return nil
}

func (g *graph) readRelations() error {
	for i := range g.Relations {
		r := &relation{Relation: &g.Relations[i], number: i}
		r.child, r.parent = g.entities[r.Child], g.entities[r.Parent]
		at := fmt.Sprintf("Relations[%d]", i)
		switch {
		case r.child == nil:
			return g.refuse(at+".Child", r.Child, "no entity has this name")
		case r.parent == nil:
			return g.refuse(at+".Parent", r.Parent, "no entity has this name")
		case r.Field == "" || strings.ContainsAny(r.Field, ".$ =") || r.child.field(r.Field) != nil ||
			r.child.parentBy(r.Field) != nil || r.Field == "_id":
			return g.refuse(at+".Field", r.Field, "must be a name that no other field or relation of the child has")
		case r.List == "" || strings.ContainsAny(r.List, ".$ =") || r.parent.field(r.List) != nil || r.List == "_id" ||
			slices.ContainsFunc(r.parent.children, func(o *relation) bool { return o.List == r.List }):
			return g.refuse(at+".List", r.List, "must be a name that no other field or relation of the parent has")
		case r.Each < 0 || r.Each > r.parent.Count:
			return g.refuse(at+".Each", r.Each, "must be from 0 to the number of parents")
		case r.many() && r.Ordered:
			return g.refuse(at+".Ordered", true,
				"needs a relation with one parent for each child; make the links of an ordered many-to-many relation an entity")
		case r.Max < 0 || r.Max > 0 && float64(r.Max) < r.average():
			return g.refuse(at+".Max", r.Max, fmt.Sprintf("must not be less than the average of %.4g children", r.average()))
		case r.Fixed && r.Max == 0:
			return g.refuse(at+".Fixed", true, "needs Max")
		}
		r.child.parents = append(r.child.parents, r)
		r.parent.children = append(r.parent.children, r)
		g.relations[r.name()] = r
	}
	return nil
}

func (g *graph) readServer() error {
	s := g.Server
	if s.Shards < 0 {
		return g.refuse("Server.Shards", s.Shards, "is negative: give 0 or more")
	}
	if s.Memory < 0 {
		return g.refuse("Server.Memory", s.Memory, "is negative: give 0 or more")
	}
	costs := []struct {
		name string
		cost *time.Duration
		own  time.Duration
	}{
		{"Command", &g.Server.Costs.Command, DefaultCosts.Command}, {"Shard", &g.Server.Costs.Shard, DefaultCosts.Shard},
		{"Read", &g.Server.Costs.Read, DefaultCosts.Read}, {"Written", &g.Server.Costs.Written, DefaultCosts.Written},
		{"Entry", &g.Server.Costs.Entry, DefaultCosts.Entry}, {"Scanned", &g.Server.Costs.Scanned, DefaultCosts.Scanned},
		{"Kilobyte", &g.Server.Costs.Kilobyte, DefaultCosts.Kilobyte},
		{"Loaded", &g.Server.Costs.Loaded, DefaultCosts.Loaded}, {"Disk", &g.Server.Costs.Disk, DefaultCosts.Disk},
	}
	for _, c := range costs {
		if *c.cost < 0 {
			return g.refuse("Server.Costs."+c.name, *c.cost, "is negative: give 0 or more")
		}
		if *c.cost == 0 {
			*c.cost = c.own
		}
	}
	g.Server.Shards = max(1, s.Shards)
	return nil
}
