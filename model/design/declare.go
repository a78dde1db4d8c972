package design

import (
	"cmp"
	"slices"
	"strings"

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

// declare makes the techniques and their model.
func (s *store) declare() {
	var techniques []model.Technique
	needed := s.needed()
	for i := range s.Entities {
		if e := s.entities[s.Entities[i].Name]; s.home[e] == nil {
			for _, r := range e.parents {
				if r.Ordered || r.many() || s.followed(r) {
					techniques = append(techniques, s.declareRef(r, needed))
				}
				techniques = append(techniques, s.declareMore(r)...)
			}
		}
	}
	for _, name := range s.relationNames() {
		r := s.relations[name]
		if s.storage(r).As == Embedded {
			techniques = append(techniques, s.declareList(r, needed))
		}
		if len(s.storage(r).Copy) > 0 {
			techniques = append(techniques, s.declareCopy(r))
		}
	}
	for _, t := range techniques {
		s.addIndexes(t.Indexes())
	}
	for i := range s.Entities {
		e := s.entities[s.Entities[i].Name]
		if p := s.pages[s.home[e]]; p != nil {
			techniques = append(techniques, p.bucket)
			if st := s.storage(p.rel); st.Newest > 0 {
				t := bounded.New(s.own[p.rel.parent], p.rel.List, boundedSpec(st))
				s.pushed[p.rel] = t
				techniques = append(techniques, t)
				s.addIndexes(t.Indexes())
			}
			s.addIndexes(p.bucket.Indexes())
			e = s.hostOf(p)
		}
		if c := s.own[e]; c != nil {
			var more []model.Index
			for _, keys := range needed[c.Name()] {
				if !s.served(c.Name(), keys) {
					more = append(more, model.NewIndex(c.Name(), keys))
					s.addIndexes(more[len(more)-1:])
				}
			}
			s.more[c.Name()] = more
			techniques = append(techniques, model.Entity(c, more...))
		}
	}
	s.model = model.New(cmp.Or(s.Name, "workload"), techniques...)
	s.indexes = map[string][]model.Index{} // without indexes that others cover
	s.addIndexes(s.model.Indexes().Needed)
}

// followed reports whether an operation looks for a parent's children.
func (s *store) followed(r *relation) bool {
	for _, list := range s.accesses {
		for _, a := range list {
			if slices.Contains(a.counted(), r) ||
				a.Do == Read && slices.ContainsFunc(s.lookups[a].equal, func(c condition) bool {
					return c.asks.rel == nil && c.asks.own == r || c.asks.rel == r && c.among
				}) {
				return true
			}
		}
	}
	return false
}

func (s *store) relationNames() (out []string) {
	for _, r := range s.Relations {
		out = append(out, r.name())
	}
	return out
}

func (s *store) declareRef(r *relation, needed map[string][]bson.D) model.Technique {
	if r.many() && len(s.storage(r).Copy) > 0 {
		t := embed.NewEmbedded[doc](s.own[r.child], r.Field, embed.EmbeddedSpec{Key: "_id"})
		s.lists[r], s.listSpec[r] = t, `Key: "_id"`
		return t
	}
	if r.many() {
		t := childrefs.New(s.own[r.child], s.key(r), s.hostDocs(r.parent))
		s.links[r] = t
		return t
	}
	if r.Ordered {
		t := childrefs.New(s.hostDocs(r.parent), r.List, s.own[r.child])
		s.orders[r] = t
		return t
	}
	spec := parentref.Spec{By: s.storage(r).By}
	for _, keys := range needed[r.Child] { // the index of a parent's children serves one order
		if len(keys) == 3 && keys[0].Key == s.key(r) && keys[2].Key == "_id" {
			spec.By = keys[1].Key
		}
	}
	s.orderOf[r] = spec.By
	t := parentref.New(s.own[r.child], s.key(r), s.hostDocs(r.parent), spec)
	s.refs[r] = t
	return t
}

// declareMore makes the techniques for a parent's subset and totals, and the store that
// writes the children.
func (s *store) declareMore(r *relation) (out []model.Technique) {
	st := s.storage(r)
	defer func() {
		if len(out) > 0 {
			s.stores[r] = model.NewStore(model.New(r.name(), out...), s.own[r.child])
		}
	}()
	if st.Newest > 0 {
		t := subset.New(s.own[r.child], s.key(r), s.own[r.parent], r.List, subset.Spec{
			Max: int(st.Newest), By: bson.D{{Key: st.By, Value: -1}}, Fields: s.inSubset(r),
		})
		s.newest[r] = t
		out = append(out, t)
	}
	if st.Totals {
		t := counter.New(s.own[r.child], s.key(r), s.own[r.parent], s.counterSpec(r))
		s.counts[r] = t
		out = append(out, t)
	}
	return out
}

// inSubset returns the paths of a child in a parent's subset: fields and relations.
// Copies are excluded, because a copies.Copy doesn't reach into a subset.Subset.
func (s *store) inSubset(r *relation) (out []string) {
	for _, f := range r.child.Fields {
		out = append(out, f.Name)
	}
	for _, o := range r.child.parents {
		if !s.listed(o) {
			out = append(out, s.key(o))
		}
	}
	return out
}

func boundedSpec(st Storage) bounded.Spec {
	return bounded.Spec{
		Max: int(st.Newest), First: true,
		By:  bson.D{{Key: st.By, Value: -1}, {Key: "_id", Value: -1}},
		Key: "_id",
	}
}

// hostDocs returns the collection that contains an entity's documents.
func (s *store) hostDocs(e *entity) *docs { return s.own[s.host(e)] }

func (s *store) declareList(r *relation, needed map[string][]bson.D) model.Technique {
	spec := embed.EmbeddedSpec{Key: "_id"}
	if r.Fixed {
		spec.Max = int(r.Max)
	}
	for _, keys := range needed[r.Parent] {
		within, ok := inElement(keys, r.List)
		if ok && !slices.ContainsFunc(spec.Indexes, func(x bson.D) bool { return isPrefix(within, x) }) &&
			within[0].Key != "_id" {
			spec.Indexes = append(spec.Indexes, within)
		}
	}
	s.listSpec[r] = listSpecText(spec)
	t := embed.NewEmbedded[doc](s.own[r.parent], r.List, spec)
	s.lists[r] = t
	return t
}

// inElement returns an index's keys as paths within a list's elements, if all but a final
// _id are there.
func inElement(keys bson.D, list string) (out bson.D, ok bool) {
	if n := len(keys) - 1; keys[n].Key == "_id" {
		keys = keys[:n]
	}
	for _, k := range keys {
		path, in := strings.CutPrefix(k.Key, list+".")
		if !in {
			return nil, false
		}
		out = append(out, bson.E{Key: path, Value: k.Value})
	}
	return out, true
}

func (s *store) declareCopy(r *relation) model.Technique {
	prefix := s.prefix(r.child)
	spec := copies.Spec{KeyPath: prefix + s.key(r)}
	switch {
	case prefix != "":
		spec.Lists = []string{strings.TrimSuffix(prefix, ".")}
	case r.many():
		spec.Lists = []string{r.Field}
	}
	for _, f := range s.storage(r).Copy {
		spec.Fields = append(spec.Fields, copies.Field{From: s.source(r.parent, f), To: prefix + s.copied(r, f)})
	}
	t := copies.New(s.own[r.parent], s.hostDocs(r.child), spec)
	s.copies[r] = t
	return t
}

func (s *store) addIndexes(list []model.Index) {
	for _, x := range list {
		if !slices.ContainsFunc(s.indexes[x.Collection], func(y model.Index) bool { return y.Name == x.Name }) {
			s.indexes[x.Collection] = append(s.indexes[x.Collection], x)
		}
	}
}

// served reports whether an existing index begins with these keys.
func (s *store) served(collection string, keys bson.D) bool {
	return keys[0].Key == "_id" ||
		slices.ContainsFunc(s.indexes[collection], func(x model.Index) bool { return isPrefix(keys, x.Keys) })
}

// isPrefix reports whether an index begins with the paths of keys.
func isPrefix(keys, of bson.D) bool {
	return len(keys) <= len(of) && slices.EqualFunc(keys, of[:len(keys)], func(a, b bson.E) bool { return a.Key == b.Key })
}
