package design

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// lookUp executes a read.
func (x *work) lookUp(a *access) error {
	l := x.lookups[a]
	filter, err := x.filter(&l)
	if err != nil {
		return err
	}
	var found []doc
	if l.byID != "" {
		d, err := x.get(l.host, l.byID)
		if err != nil {
			return err
		}
		found = []doc{d}
	} else {
		q := x.own[l.host].Find(filter).Limited(l.limit)
		if l.pages != nil {
			q = l.pages.query(x.id(l.pages.rel.parent, l.byPage), l.limit)
		}
		if path := orderOf(&l); path != "" {
			q = q.Sorted(bson.D{{Key: path, Value: -1}, {Key: "_id", Value: -1}})
		}
		if found, err = x.find(q, l.host, expected{
			n: l.fetched, some: 1, bytes: x.without(q, l.host, x.listsOf(a, l)), loaded: l.loaded,
		}); err != nil {
			return err
		}
	}
	rows := x.rows(&l, found, l.conditionsOf(filter))
	parents := map[*relation][]doc{}
	for _, f := range l.then {
		if parents[f.rel], err = x.fetch(f, rows); err != nil {
			return err
		}
	}
	rows = x.finish(&l, rows, parents)
	totals, err := x.total(a, &l, rows)
	if err != nil {
		return err
	}
	x.db.answer(a, rows, totals)
	return nil
}

// orderOf is the path that the query sorts by; "" if the values are in a list.
func orderOf(l *lookup) string {
	path := cmp.Or(l.order, l.since)
	if l.pages != nil {
		return ""
	}
	if l.list != "" && strings.HasPrefix(path, l.list+".") {
		return ""
	}
	return path
}

// filter makes the filter of a lookup. It may read parents for it.
func (x *work) filter(l *lookup) (filter bson.D, err error) {
	var within bson.D // conditions on one element
	list := l.list
	for _, c := range l.equal {
		var v any
		switch p := c.asks; {
		case c.among:
			first, err := x.amongOf(p)
			if err != nil {
				return nil, err
			}
			v = bson.D{{Key: "$in", Value: first}}
		case p.isID():
			v = x.id(l.access.of, p.as)
		case p.own != nil:
			v = x.id(p.own.parent, p.as)
		case p.rel != nil:
			v = x.db.value(p.rel.parent, p.field)
		default:
			v = x.db.value(l.access.of, p.field)
		}
		if c.element {
			within = append(within, bson.E{Key: strings.TrimPrefix(c.path, list+"."), Value: v})
		} else {
			filter = append(filter, bson.E{Key: c.path, Value: v})
		}
	}
	if l.since != "" {
		e, f := l.access.of, l.access.since.field
		if rel := l.access.since.rel; rel != nil {
			e = rel.parent
		}
		c := bson.E{Key: l.since, Value: bson.D{{Key: "$gte", Value: x.db.since(e, f, l.access.Share)}}}
		if path, ok := strings.CutPrefix(l.since, list+"."); ok && list != "" {
			within = append(within, bson.E{Key: path, Value: c.Value})
		} else {
			filter = append(filter, c)
		}
	}
	switch {
	case len(within) == 1:
		filter = append(filter, bson.E{Key: list + "." + within[0].Key, Value: within[0].Value})
	case len(within) > 1:
		filter = append(filter, bson.E{Key: list, Value: bson.D{{Key: "$elemMatch", Value: within}}})
	}
	if filter == nil {
		filter = bson.D{}
	}
	return filter, nil
}

// amongOf returns the _ids for a condition: the parents with a value that has no copy in
// the children, or the children that a parent lists.
func (x *work) amongOf(p path) ([]id, error) {
	if p.rel == nil { // the children that one parent lists
		d, err := x.get(p.own.parent, p.as)
		if err != nil {
			return nil, err
		}
		return x.db.listed(p.own, []row{{doc: d}}, p.own.average()), nil
	}
	rows, n, err := x.parentsBy(p)
	if err != nil {
		return nil, err
	}
	if x.listed(p.rel) {
		return x.db.listed(p.rel, rows, n*p.rel.average()), nil
	}
	return x.db.parents(p.rel, "_id", rows, n), nil
}

// parentsBy finds the parents with a value, and returns their expected number.
func (x *work) parentsBy(p path) (rows []row, n float64, err error) {
	parent := p.rel.parent
	var v any
	if p.own != nil {
		v = x.id(p.own.parent, p.as)
	} else {
		v = x.db.value(parent, p.field)
	}
	host, at := x.host(parent), x.prefix(parent)+x.source(parent, p.name)
	n = float64(parent.Count) * share(p)
	hosts := n
	home := x.home[parent]
	if home != nil {
		hosts = home.distinct(n)
	}
	q, path := x.own[host].Find(bson.D{{Key: at, Value: v}}), "_id"
	switch {
	case home != nil:
		path = home.List
	case x.listed(p.rel):
		path = p.rel.List
	}
	found, err := x.find(q, host, expected{n: hosts, some: 1, bytes: x.only(q, host, path)})
	if err != nil {
		return nil, 0, err
	}
	if home != nil {
		return elements(found, home.List, bson.D{{Key: x.source(parent, p.name), Value: v}}), n, nil
	}
	return rowsOf(found), n, nil
}

// fetch reads the parents of found documents.
func (x *work) fetch(f fetch, rows []row) ([]doc, error) {
	parent := f.rel.parent
	home := x.home[parent]
	if x.listed(f.rel) && f.as == "" {
		return x.fetchListing(f, rows)
	}
	if f.as != "" && home == nil {
		d, err := x.get(parent, f.as)
		return []doc{d}, err
	}
	var ids []id
	if f.as != "" {
		ids = append(ids, x.id(parent, f.as))
	} else {
		ids = x.db.parents(f.rel, x.key(f.rel), rows, f.n)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	n := f.n
	if home != nil {
		n = home.distinct(n)
	}
	asked := bson.D{{Key: "$in", Value: ids}}
	q := x.hostDocs(parent).Find(bson.D{{Key: x.prefix(parent) + "_id", Value: asked}})
	paths := f.names
	if home != nil {
		paths = []string{home.List}
	}
	found, err := x.find(q, x.host(parent), expected{
		n: n, some: f.some, byID: home == nil, bytes: x.only(q, x.host(parent), paths...),
	})
	if home == nil || err != nil {
		return found, err
	}
	var out []doc
	for _, r := range elements(found, home.List, bson.D{{Key: "_id", Value: asked}}) {
		out = append(out, r.doc)
	}
	return out, nil
}

// fetchListing reads the parents that list the found documents.
func (x *work) fetchListing(f fetch, rows []row) ([]doc, error) {
	ids := x.db.children(f.rel, rows, f.n)
	if len(ids) == 0 {
		return nil, nil
	}
	q := x.own[f.rel.parent].Find(bson.D{{Key: f.rel.List, Value: bson.D{{Key: "$in", Value: ids}}}})
	return x.find(q, f.rel.parent, expected{
		n: f.n, some: f.some,
		bytes: x.only(q, f.rel.parent, append(f.names, f.rel.List)...),
	})
}

// conditionsOf returns a filter's conditions on elements, by the elements' own paths.
func (l *lookup) conditionsOf(filter bson.D) (out bson.D) {
	for _, e := range filter {
		if d, ok := e.Value.(bson.D); ok && len(d) == 1 && d[0].Key == "$elemMatch" {
			return d[0].Value.(bson.D)
		}
	}
	for _, c := range l.equal {
		if k := slices.IndexFunc(filter, func(e bson.E) bool { return e.Key == c.path }); c.element && k >= 0 {
			_, path, _ := strings.Cut(c.path, ".")
			out = append(out, bson.E{Key: path, Value: filter[k].Value})
		}
	}
	return out
}
