package design

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// world is the data of a workload: the parents of children, and the values of fields. It
// is the same for every layout and run. Children are distributed evenly to parents, and
// values to documents, in a random order for each relation. So relations are independent.
type world struct {
	dealt    map[string][]int32
	children map[*relation][][]int32
	example  bool // only the first of everything, for one example document
}

func newWorld() *world {
	return &world{dealt: map[string][]int32{}, children: map[*relation][][]int32{}}
}

var exampleWorld = &world{example: true}

// deal distributes n things evenly to others, in a random order.
func (w *world) deal(name string, n, to int64) []int32 {
	if w.dealt[name] == nil {
		var seed [32]byte
		copy(seed[:], name)
		out := make([]int32, n)
		for i, k := range rand.New(rand.NewChaCha8(seed)).Perm(int(n)) {
			out[i] = int32(int64(k) % to)
		}
		w.dealt[name] = out
	}
	return w.dealt[name]
}

// parent returns the number of a child's parent.
func (w *world) parent(r *relation, child int64) int64 {
	if w.example {
		return 0
	}
	return int64(w.deal(r.name(), r.child.Count, r.parent.Count)[child])
}

// parents returns the numbers of a child's parents in a many-to-many relation, each once.
func (w *world) parents(r *relation, child int64) (out []int64) {
	for k := range r.each() {
		p := k
		if !w.example {
			p = int64(w.deal(r.name(), r.child.Count*r.each(), r.parent.Count)[child*r.each()+k])
		}
		for slices.Contains(out, p) {
			p = (p + 1) % r.parent.Count
		}
		out = append(out, p)
	}
	return out
}

// childrenOf returns the numbers of a parent's children.
func (w *world) childrenOf(r *relation, parent int64) []int32 {
	if w.example {
		return nil
	}
	if w.children[r] == nil {
		all := make([][]int32, r.parent.Count)
		if r.many() {
			for i := range r.child.Count {
				for _, p := range w.parents(r, i) {
					all[p] = append(all[p], int32(i))
				}
			}
			w.children[r] = all
			return all[parent]
		}
		for i, p := range w.deal(r.name(), r.child.Count, r.parent.Count) {
			all[p] = append(all[p], int32(i))
		}
		w.children[r] = all
	}
	return w.children[r][parent]
}

// id returns the _id of an entity's i-th document.
func (e *entity) id(i int64) (out id) {
	binary.BigEndian.PutUint32(out[:4], 1767225600) // 2026-01-01
	binary.BigEndian.PutUint32(out[4:8], uint32(e.number))
	binary.BigEndian.PutUint32(out[8:], uint32(i))
	return out
}

// value returns the value of a field in the i-th document.
func (w *world) value(e *entity, f *Field, i int64) any {
	if w.example {
		return f.value(0)
	}
	if f.Grows {
		return f.value(i)
	}
	return f.value(int64(w.deal(e.Name+" "+f.Name, e.Count, f.Values)[i]))
}

// value returns the n-th value of a field, in order.
func (f *Field) value(n int64) any {
	if f.Text == 0 {
		return n
	}
	s := strconv.FormatInt(n, 36)
	return strings.Repeat("0", max(0, int(f.Text)-len(s))) + s
}

// fits reports whether texts of the field's length can have so many values.
func (f *Field) fits() bool {
	return f.Text == 0 || len(strconv.FormatInt(f.Values-1, 36)) <= int(f.Text)
}

// since returns the smallest value that leaves a share of a field's documents.
func (f *Field) since(share float64) any {
	return f.value(int64(float64(f.Values)*(1-share) + 0.5))
}

// fields returns the i-th document with its own fields only.
func (w *world) fields(e *entity, i int64) doc {
	d := doc{{Key: "_id", Value: e.id(i)}}
	for k := range e.Fields {
		d = append(d, bson.E{Key: e.Fields[k].Name, Value: w.value(e, &e.Fields[k], i)})
	}
	return d
}

// document returns the i-th document as stored, with embedded documents.
func (s *store) document(w *world, e *entity, i int64) doc {
	d := w.fields(e, i)
	for _, r := range e.parents {
		if r == s.home[e] || s.listed(r) {
			continue
		}
		if r.many() {
			d = put(d, r.Field, s.linked(w, r, i))
			continue
		}
		p := w.parent(r, i)
		d = put(d, s.key(r), r.parent.id(p))
		for _, f := range s.storage(r).Copy {
			d = put(d, s.copied(r, f), s.sourceValue(w, r.parent, f, p))
		}
	}
	for _, r := range e.children {
		if list := s.list(w, r, i); len(list) > 0 {
			d = put(d, r.List, list)
		}
		if s.storage(r).Totals {
			var children []doc
			for _, c := range w.childrenOf(r, i) {
				children = append(children, w.fields(r.child, int64(c)))
			}
			for _, t := range s.totals(r) {
				if v, ok := t.of(children); ok || w.example {
					d = put(d, t.path(), v)
				}
			}
		}
	}
	return d
}

// linked returns the list of a child's parents, with copies.
func (s *store) linked(w *world, r *relation, child int64) (out bson.A) {
	for _, p := range w.parents(r, child) {
		if len(s.storage(r).Copy) == 0 {
			out = append(out, r.parent.id(p))
			continue
		}
		one := doc{{Key: "_id", Value: r.parent.id(p)}}
		for _, f := range s.storage(r).Copy {
			one = append(one, bson.E{Key: f, Value: s.sourceValue(w, r.parent, f, p)})
		}
		out = append(out, one)
	}
	return out
}

// list returns what a parent contains of its children.
func (s *store) list(w *world, r *relation, parent int64) (out bson.A) {
	children := w.childrenOf(r, parent)
	st := s.storage(r)
	switch {
	case s.listed(r):
		for _, c := range children {
			out = append(out, r.child.id(int64(c)))
		}
		return out
	case st.As != Embedded && st.Newest == 0:
		return nil
	case st.Newest > 0:
		by := r.child.field(st.By)
		children = slices.Clone(children)
		slices.SortFunc(children, func(a, b int32) int {
			v, u := w.value(r.child, by, int64(a)), w.value(r.child, by, int64(b))
			if less(u, v) || !less(v, u) && a > b {
				return -1
			}
			return 1
		})
		children = children[:min(len(children), int(st.Newest))]
	}
	for _, c := range children {
		out = append(out, s.element(w, r, int64(c)))
	}
	return out
}

// element returns a child as its parent contains it.
func (s *store) element(w *world, r *relation, child int64) doc {
	d := s.document(w, r.child, child)
	if s.storage(r).Newest == 0 {
		return d
	}
	out := doc{d[0]}
	for _, path := range s.inSubset(r) {
		out = put(out, path, at(d, path))
	}
	return out
}

// sourceValue returns the value of a parent's field or relation.
func (s *store) sourceValue(w *world, e *entity, name string, i int64) any {
	if r := e.parentBy(name); r != nil {
		return r.parent.id(w.parent(r, i))
	}
	return w.value(e, e.field(name), i)
}

// size is the bytes of a collection's documents.
type size struct {
	average, largest float64            // with lists of embedded documents
	lists            map[string]float64 // average bytes of these lists
}

func (s *store) sizeOf(e *entity) (size, error) {
	own, err := sizeOf(s.document(exampleWorld, e, 0))
	if err != nil {
		return size{}, s.refuse("Entities", e.Name, err.Error())
	}
	out := size{own, own, map[string]float64{}}
	for _, r := range e.children {
		st := s.storage(r)
		average, largest := r.average(), float64(r.max())
		element, err := sizeOf(s.element(exampleWorld, r, 0))
		switch {
		case err != nil:
			return size{}, s.refuse("Entities", r.child.Name, err.Error())
		case s.listed(r):
			element = 12
		case st.Newest > 0:
			average, largest = min(average, float64(st.Newest)), min(largest, float64(st.Newest))
		case st.As != Embedded:
			continue
		}
		average, largest = listSize(r.List, average, element), listSize(r.List, largest, element)
		if out.average, out.largest = out.average+average, out.largest+largest; !s.listed(r) {
			out.lists[r.List] = average
		}
	}
	return out, nil
}

// listSize is the bytes of an array of n elements, with its name.
func listSize(name string, n, element float64) float64 {
	digits := float64(len(strconv.FormatInt(int64(n), 10)))
	return float64(len(name)) + 2 + 5 + n*(element+2+digits)
}

func sizeOf(d doc) (float64, error) {
	raw, err := bson.Marshal(d)
	return float64(len(raw)), err
}
