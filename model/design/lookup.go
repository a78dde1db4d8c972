package design

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// lookup is how a read finds its documents under a layout.
type lookup struct {
	access *access
	host   *entity // the collection that is queried
	byID   string  // the name of the document that is read by _id; "" for a query by filter
	list   string  // the list in that document with the result; "" for the document itself
	newest bool    // the list is a subset of the children
	pages  *pages  // pages of one parent that are read, or nil
	byPage string  // the name of that parent
	first  []path  // parents to find first, by a field without a copy
	equal  []condition
	since  string // the path of the range in the host's documents; "" if none, or applied afterwards
	order  string
	limit  int64

	found   float64 // expected number of the access's documents
	some    float64 // the probability that there are any
	fetched float64 // expected number of the host's documents
	wanted  float64 // expected number that is left at the end
	loaded  float64 // expected number that the server reads, if greater than it returns
	then    []fetch // parents to read afterwards
}

// condition is one value that the documents must have.
type condition struct {
	path    string // in the host's documents
	element bool   // it is a path of the embedded documents
	asks    path   // the meaning of the value
	among   bool   // the value is one of the parents that were found first
	share   float64

	array     string // the array around the path, or ""
	unindexed bool   // excluded from the index, which can cross only one array
}

// fetch is a read of the parents of found documents.
type fetch struct {
	rel *relation
	as  string // the name of the parent, if all documents have the same, else ""
	n   float64

	names []string // the paths to read
	some  float64  // the probability that there are any
}

func (s *store) lookup(a *access) lookup {
	if r := s.newestOf(a); r != nil {
		l := lookup{access: a, host: r.parent, byID: a.by[0].as, list: r.List, newest: true, some: 1, fetched: 1}
		l.found = min(r.average(), float64(a.Limit))
		l.then, l.wanted = s.fetches(a, &l, nil), l.found
		return l
	}
	l := lookup{access: a, host: s.host(a.of)}
	home, prefix := s.home[a.of], s.prefix(a.of)
	if home != nil {
		l.list = home.List
	}
	n := float64(a.of.Count)
	for _, p := range a.by {
		switch {
		case p.isID() && home == nil:
			l.byID, n = p.as, 1
			continue
		case p.rel == nil && p.own != nil && home != nil && s.paged(home) && p.own == s.pages[home].rel:
			l.pages, l.byPage = s.pages[home], p.as
			n *= share(p)
			continue
		case p.rel == nil && p.own != nil && p.own == home:
			l.byID = p.as
			n /= float64(l.host.Count)
			continue
		}
		c := s.condition(p, home, prefix)
		if c.among {
			l.first = append(l.first, p)
		}
		n *= c.share
		l.equal = append(l.equal, c)
	}
	complete := s.lookupRange(&l, home, prefix) && home == nil
	all := 1.
	array := ""
	for i, c := range l.equal {
		if c.array == "" {
			continue
		}
		if array == "" {
			array = c.array
		}
		if l.equal[i].unindexed = c.array != array; l.equal[i].unindexed {
			all *= c.share
		}
	}
	if l.found = n; l.since != "" {
		l.found *= a.Share
	}
	if all < 1 {
		l.loaded = l.found / all
	}
	if l.byID == "" && complete && a.Limit > 0 {
		if slices.ContainsFunc(l.equal, func(c condition) bool { return c.path == "_id" }) && orderOf(&l) != "" {
			l.loaded = l.found // the server reads all documents of a list to sort them
		}
		l.limit, l.found = a.Limit, min(l.found, float64(a.Limit))
	}
	l.wanted = n * cmp.Or(a.Share, 1)
	if a.Limit > 0 {
		l.wanted = min(l.wanted, float64(a.Limit))
	}
	l.some = some(&l, n*cmp.Or(a.Share, 1), float64(a.of.Count))
	if l.fetched = s.fetched(&l, home); l.pages != nil {
		l.fetched = float64(l.pages.each())
		if a.Limit > 0 && len(l.equal) == 0 && a.since == nil && a.order != nil && a.order.field.Grows && a.order.rel == nil {
			l.limit = l.pages.newest(a.Limit)
			l.fetched = float64(l.limit)
		}
	}
	l.then = s.fetches(a, &l, home)
	return l
}

// newestOf returns the relation with a subset that serves the read, or nil.
func (s *store) newestOf(a *access) *relation {
	if len(a.by) != 1 || a.by[0].rel != nil || a.by[0].own == nil || a.order == nil || a.since != nil ||
		a.Limit == 0 || len(a.totals) > 0 {
		return nil
	}
	r := a.by[0].own
	if st := s.storage(r); a.Limit > st.Newest || a.order.rel != nil || a.order.name != st.By {
		return nil
	}
	return r
}

// some is the probability that a lookup finds anything, if it finds n of an entity's
// documents on average. Children are distributed evenly to parents; other values of a
// parent's children are random.
func some(l *lookup, n, all float64) float64 {
	of := all
	for _, p := range l.access.by {
		if p.isID() {
			return 1
		}
		of = min(of, max(1, all*share(p)))
	}
	if n >= of {
		return 1
	}
	return -math.Expm1(of * math.Log1p(-n/of))
}

// condition is the condition of a path on the host's documents.
func (s *store) condition(p path, home *relation, prefix string) condition {
	c := condition{asks: p, element: prefix != "", share: share(p), array: s.arrayOf(p, home, prefix)}
	switch {
	case p.isID():
		c.path, c.share = prefix+"_id", 1/float64(home.child.Count)
	case p.rel == nil && p.own != nil && s.listed(p.own):
		c.path, c.among = "_id", true
	case p.rel == nil && p.own != nil:
		c.path = prefix + s.key(p.own)
	case p.rel == nil:
		c.path = prefix + p.name
	case p.rel == home:
		c.path, c.element = s.source(p.rel.parent, p.name), false
	case s.copied(p.rel, p.name) != "":
		c.path = prefix + s.copied(p.rel, p.name)
	case s.listed(p.rel):
		c.path, c.among = "_id", true
	default:
		c.path, c.among = prefix+s.key(p.rel), true
	}
	return c
}

// arrayOf is the array around a condition's path, or "".
func (s *store) arrayOf(p path, home *relation, prefix string) string {
	list := strings.TrimSuffix(prefix, ".")
	own := p.own != nil && p.own.many()
	switch {
	case p.rel == nil && p.own != nil && s.listed(p.own), p.rel != nil && p.rel != home && s.listed(p.rel):
		return "" // it asks for the _id
	case p.rel == nil && own:
		return p.own.Field
	case p.rel == nil:
		return list
	case p.rel == home && own:
		return p.own.Field
	case p.rel == home:
		return ""
	case p.rel.many():
		return p.rel.Field
	case own && s.copied(p.rel, p.name) != "":
		return p.rel.Field + "." + p.name
	}
	return list
}

// share is the share of an entity's documents with one value at a path.
func share(p path) float64 {
	if p.own != nil {
		return float64(p.own.each()) / float64(p.own.parent.Count)
	}
	if p.field != nil {
		return 1 / float64(p.field.Values)
	}
	return 1
}

// lookupRange sets the paths of range and order, and reports whether the query can apply
// both.
func (s *store) lookupRange(l *lookup, home *relation, prefix string) bool {
	complete := true
	set := func(p *path, to *string) {
		if p == nil {
			return
		}
		c := s.condition(*p, home, prefix)
		if c.among || l.byID != "" || l.pages != nil {
			complete = false
			return
		}
		*to = c.path
	}
	set(l.access.since, &l.since)
	set(l.access.order, &l.order)
	return complete
}

// fetched is the number of the host's documents that are read.
func (s *store) fetched(l *lookup, home *relation) float64 {
	switch {
	case l.byID != "":
		return 1
	case home == nil:
		return l.found
	}
	hosts, within := 1., strings.HasPrefix(l.since, home.List+".")
	for _, c := range l.equal {
		if within = within || c.element; !c.element {
			hosts *= c.share
		}
	}
	if l.since != "" && !strings.HasPrefix(l.since, home.List+".") {
		hosts *= l.access.Share
	}
	if !within {
		return float64(l.host.Count) * hosts
	}
	return hosts * home.distinct(l.found/hosts)
}

// distinct is the expected number of different parents of some children.
func (r *relation) distinct(children float64) float64 {
	children *= float64(r.each())
	all, each := float64(r.child.Count*r.each()), r.average()
	if each <= 1 {
		return min(children, all)
	}
	return float64(r.parent.Count) * -math.Expm1(each*math.Log1p(-min(1, children/all)))
}

// distinct is the expected number of different results in n draws.
func distinct(n, of float64) float64 {
	if of <= 1 {
		return min(n, of)
	}
	return of * -math.Expm1(n*math.Log1p(-1/of))
}

// fetches returns the reads of parents for fields that are shown, or have the range, and
// aren't stored elsewhere.
func (s *store) fetches(a *access, l *lookup, home *relation) (out []fetch) {
	all := a.shown
	if a.since != nil && l.since == "" && a.since.rel != nil {
		all = append(slices.Clone(all), *a.since)
	}
	for _, p := range all {
		if p.rel == home || s.holds(p.rel, p.name) && !l.newest {
			continue
		}
		names := s.sources(p.rel.parent, p.name)
		if k := slices.IndexFunc(out, func(f fetch) bool { return f.rel == p.rel }); k >= 0 {
			out[k].names = append(out[k].names,
				slices.DeleteFunc(names, func(n string) bool { return slices.Contains(out[k].names, n) })...)
			continue
		}
		f := fetch{rel: p.rel, n: p.rel.distinct(l.found), names: names, some: l.some}
		if k := slices.IndexFunc(a.by, func(q path) bool { return q.rel == nil && q.own == p.rel && !q.own.many() }); k >= 0 {
			f.as, f.n, f.some = a.by[k].as, 1, 1
		}
		out = append(out, f)
	}
	return out
}

// sources returns the paths in a parent of a field or relation, or of all fields.
func (s *store) sources(e *entity, name string) (out []string) {
	if name != "*" {
		return []string{s.source(e, name)}
	}
	for _, f := range e.Fields {
		out = append(out, f.Name)
	}
	return out
}

// holds reports whether the children have a copy of a parent's field, or of all fields.
func (s *store) holds(r *relation, name string) bool {
	if name != "*" {
		return s.copied(r, name) != ""
	}
	for _, f := range r.parent.Fields {
		if s.copied(r, f.Name) == "" {
			return false
		}
	}
	return true
}

// needed returns the index keys that the reads need, by collection, longest first.
func (s *store) needed() map[string][]bson.D {
	out := map[string][]bson.D{}
	add := func(e *entity, keys bson.D) {
		if len(keys) > 0 &&
			!slices.ContainsFunc(out[e.Name], func(x bson.D) bool { return isPrefix(keys, x) && len(keys) == len(x) }) {
			out[e.Name] = append(out[e.Name], keys)
		}
	}
	for _, list := range s.accesses {
		for _, a := range list {
			if a.Do != Read {
				continue
			}
			l := s.lookups[a]
			add(l.host, l.keys())
			for _, r := range a.counted() { // of children that are embedded elsewhere
				if home := s.home[r.child]; home != nil && s.storage(r).As == Reference {
					add(home.parent, bson.D{{Key: home.List + "." + s.key(r), Value: 1}})
				}
			}
			for _, p := range l.first {
				if p.rel == nil {
					continue // the parent is read by _id
				}
				add(s.host(p.rel.parent), bson.D{{Key: s.prefix(p.rel.parent) + s.source(p.rel.parent, p.name), Value: 1}})
			}
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b bson.D) int { return len(b) - len(a) })
	}
	return out
}

// keys returns the keys of the index for the lookup: equality, then sort or range, then
// the parents found first.
func (l *lookup) keys() (keys bson.D) {
	if l.byID != "" || l.pages != nil {
		return nil
	}
	add := func(path string, direction int) {
		if path != "" && (path != "_id" || len(keys) > 0) &&
			!slices.ContainsFunc(keys, func(e bson.E) bool { return e.Key == path }) {
			keys = append(keys, bson.E{Key: path, Value: direction})
		}
	}
	for _, among := range []bool{false, true} {
		for _, c := range l.equal {
			if c.among == among && !c.unindexed {
				add(c.path, 1)
			}
		}
	}
	add(l.since, -1)
	add(l.order, -1)
	// the _id makes an order total
	if orderOf(l) != "" && !slices.ContainsFunc(keys, func(e bson.E) bool { return e.Key == "_id" }) {
		keys = append(keys, bson.E{Key: "_id", Value: -1})
	}
	return keys
}
