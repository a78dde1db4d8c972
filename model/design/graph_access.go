package design

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

func (g *graph) readOperations() error {
	if len(g.Operations) == 0 {
		return g.refuse("Operations", 0, "must have at least one operation")
	}
	var names []string
	for i := range g.Operations {
		o := &g.Operations[i]
		at := fmt.Sprintf("Operations[%d]", i)
		switch {
		case o.Name == "" || slices.Contains(names, o.Name):
			return g.refuse(at+".Name", o.Name, "must be a name that no other operation has")
		case !(o.Rate > 0) || math.IsInf(o.Rate, 0):
			return g.refuse(at+".Rate", o.Rate, "must be greater than 0")
		case len(o.Accesses) == 0:
			return g.refuse(at+".Accesses", 0, "must have at least one access")
		case o.Within < 0:
			return g.refuse(at+".Within", o.Within, "is negative: give 0 or more")
		}
		names = append(names, o.Name)
		var list []*access
		for j := range o.Accesses {
			a, err := g.readAccess(&o.Accesses[j], fmt.Sprintf("%s.Accesses[%d]", at, j))
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		g.accesses = append(g.accesses, list)
	}
	return nil
}

func (g *graph) readAccess(from *Access, at string) (*access, error) {
	a := &access{Access: from, of: g.entities[from.Of]}
	if a.of == nil {
		return nil, g.refuse(at+".Of", a.Of, "no entity has this name")
	}
	if int(a.Do) >= len(actionNames) {
		return nil, g.refuse(at+".Do", a.Do, "must be Read, Insert, Update or Delete")
	}
	for k, s := range a.By {
		p, err := g.path(a.of, s, fmt.Sprintf("%s.By[%d]", at, k))
		if err != nil {
			return nil, err
		}
		a.by = append(a.by, p)
	}
	return a, cmp.Or(g.readBy(a, at), g.readRange(a, at), g.readFields(a, at))
}

// readBy checks the paths By against the action.
func (g *graph) readBy(a *access, at string) error {
	hasID := slices.ContainsFunc(a.by, path.isID)
	switch {
	case hasID && len(a.by) > 1:
		return g.refuse(at+".By", a.By, "_id must be the only path")
	case a.Do == Read && len(a.by) == 0 && (a.Limit == 0 || a.Since == "" && a.Order == ""):
		if a.of.Count > 1000 {
			return g.refuse(at+".By", a.By,
				fmt.Sprintf("reads all %d %s: add a path, or an Order or Since with a Limit", a.of.Count, a.Of))
		}
	case (a.Do == Update || a.Do == Delete) && !hasID:
		return g.refuse(at+".By", a.By, "an Update or Delete must be by _id")
	case a.Do == Insert:
		for _, p := range a.by {
			if p.rel != nil || p.own == nil {
				return g.refuse(at+".By", a.By, "an Insert can only name relations of its entity")
			}
		}
	}
	for _, p := range a.by {
		if p.name == "*" {
			return g.refuse(at+".By", a.By, "must be a field or a relation")
		}
	}
	return nil
}

func (g *graph) readRange(a *access, at string) error {
	if a.Do != Read && (a.Since != "" || a.Share != 0 || a.Order != "" || a.Limit != 0) {
		return g.refuse(at+".Do", a.Do, "Since, Share, Order and Limit need a Read")
	}
	for _, x := range []struct {
		name, path string
		to         **path
	}{{".Since", a.Since, &a.since}, {".Order", a.Order, &a.order}} {
		if x.path == "" {
			continue
		}
		p, err := g.path(a.of, x.path, at+x.name)
		if err != nil {
			return err
		}
		if p.rel != nil && p.rel.many() {
			return g.refuse(at+x.name, x.path, "leads to several parents: name a field of the entity, or of a single parent")
		}
		if p.field == nil {
			return g.refuse(at+x.name, x.path, "isn't a field of the entity or of a parent")
		}
		*x.to = &p
	}
	switch {
	case a.since != nil && !(a.Share > 0 && a.Share <= 1):
		return g.refuse(at+".Share", a.Share, "must be greater than 0 and at most 1, because Since is set")
	case a.since == nil && a.Share != 0:
		return g.refuse(at+".Share", a.Share, "needs Since")
	case a.since != nil && a.order != nil && *a.since != *a.order:
		return g.refuse(at+".Order", a.Order, "must be the same as Since")
	case a.Limit < 0:
		return g.refuse(at+".Limit", a.Limit, "is negative: give 0 or more")
	}
	return nil
}

func (g *graph) readFields(a *access, at string) error {
	for k, s := range a.Fields {
		at := fmt.Sprintf("%s.Fields[%d]", at, k)
		if a.Do == Read {
			t, ok, err := g.totalOf(a.of, s, at)
			if err != nil {
				return err
			}
			if ok {
				a.totals = append(a.totals, t)
				continue
			}
		}
		p, err := g.path(a.of, s, at)
		switch {
		case err != nil:
			return err
		case a.Do == Read:
			if p.rel != nil {
				a.shown = append(a.shown, p)
			}
		case a.Do == Update && p.rel == nil && p.field != nil && p.field.Grows:
			return g.refuse(at, s, "a field that grows can't be updated")
		case a.Do == Update && p.rel == nil && p.own != nil && p.own.many():
			a.links = append(a.links, p)
		case a.Do == Update && p.rel == nil && p.field != nil:
			a.sets = append(a.sets, p.name)
		default:
			return g.refuse(at, s,
				"an Update can only change fields and many-to-many relations of its own entity, and an Insert or Delete has no Fields")
		}
	}
	if a.Do == Update && len(a.sets)+len(a.links) == 0 {
		return g.refuse(at+".Fields", a.Fields, "must name the fields that the Update changes")
	}
	return nil
}

// path resolves a path such as "seller.region" or "_id=other".
func (g *graph) path(e *entity, s, at string) (path, error) {
	s, as, named := strings.Cut(s, "=")
	first, last, far := strings.Cut(s, ".")
	p := path{name: first}
	if far {
		p.rel, p.name = e.parentBy(first), last
		if p.rel == nil {
			return p, g.refuse(at, s, fmt.Sprintf("%s have no relation %q", e.Name, first))
		}
		e = p.rel.parent
		if p.name == "_id" { // the relation contains the parent's _id
			p = path{name: first, own: p.rel}
		}
	}
	if p.own == nil {
		p.field, p.own = e.field(p.name), e.parentBy(p.name)
	}
	switch {
	case p.own != nil:
		p.as = p.own.parent.Name
	case p.name == "_id":
		p.as = e.Name
	case p.field == nil && !(p.name == "*" && far):
		return p, g.refuse(at, s, fmt.Sprintf("%s have no field and no relation of this name", e.Name))
	}
	if named {
		if as == "" || p.as == "" {
			return p, g.refuse(at, s+"="+as, "only _id and relations can have a name")
		}
		p.as = as
	}
	return p, nil
}
