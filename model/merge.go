package model

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Merge combines updates of one document into one write, so that two techniques that touch it change it atomically and
// in one command. The writes must be single updates by operators, to one collection, and to the same document.
//
// Two writes that update one path, or a path and another below it, are refused, with both paths in a [*ConflictError]:
// the server would refuse them, or the later silently win. The same $set twice is no conflict. Conditions beyond the
// _id are ANDed only when every write expects a match; a condition of a write that may match nothing would swallow the
// others' updates, so such writes are merged only when their filters are equal.
//
// Where the merged write matches nothing, the first of the writes' Reasons that holds gives its error. That it was applied
// before it knows only when each write would know (Done): one with a token beside one without gives [ErrStale] the second time.
func Merge(writes ...Write) Write {
	if len(writes) == 0 {
		return Refused("", &ConflictError{Reason: "nothing to merge"})
	}
	first := writes[0]
	m := merger{collection: first.Collection, models: make([]*mongo.UpdateOneModel, 0, len(writes)), paths: make([]pathUse, 0, 8)}
	for _, w := range writes {
		if err := m.add(w); err != nil {
			return Refused(first.Collection, err)
		}
	}
	return m.write(writes)
}

type merger struct {
	collection string
	models     []*mongo.UpdateOneModel
	update     bson.D // operators in the order of their first use
	paths      []pathUse
	filters    []any // arrayFilters
	names      map[string]bson.Raw
}

// pathUse is one path that one operator updates.
type pathUse struct {
	op, path string
	value    any
}

func (m *merger) conflict(reason string, paths ...string) error {
	e := &ConflictError{Collection: m.collection, Reason: reason}
	copy(e.Paths[:], paths)
	return e
}

func (m *merger) add(w Write) error {
	if w.Err != nil {
		return w.Err
	}
	u, ok := w.Model.(*mongo.UpdateOneModel)
	switch {
	case !ok:
		return m.conflict("only updates of one document can be merged, not " + w.String())
	case w.Collection != m.collection:
		return m.conflict("the other write is to " + w.Collection)
	}
	ops, ok := operators(u.Update)
	if !ok {
		return m.conflict("an update by a pipeline can't be merged; run it as a step of its own")
	}
	if len(m.models) > 0 {
		if err := m.comparable(m.models[0], u); err != nil {
			return err
		}
	}
	m.models = append(m.models, u)
	for _, op := range ops {
		if err := m.addOperator(op); err != nil {
			return err
		}
	}
	return m.addFilters(u.ArrayFilters)
}

// comparable refuses writes whose options can't be one write's.
func (m *merger) comparable(a, b *mongo.UpdateOneModel) error {
	isUpsert := func(u *mongo.UpdateOneModel) bool { return u.Upsert != nil && *u.Upsert }
	switch {
	case isUpsert(a) != isUpsert(b):
		return m.conflict("one write upserts and the other doesn't")
	case !sameValue(a.Hint, b.Hint):
		return m.conflict("the writes have different hints")
	case !sameValue(a.Sort, b.Sort):
		return m.conflict("the writes have different sorts")
	case (a.Collation == nil) != (b.Collation == nil),
		a.Collation != nil && shell(collationD(a.Collation)) != shell(collationD(b.Collation)):
		return m.conflict("the writes have different collations")
	}
	return nil
}

// addOperator adds the fields of one operator, e.g. {$set: {a: 1, b: 2}}.
func (m *merger) addOperator(op bson.E) error {
	fields, ok := asDocument(op.Value)
	if !ok {
		return m.conflict("the argument of " + op.Key + " must be a document")
	}
	for _, f := range fields {
		dup, err := m.use(pathUse{op.Key, f.Key, f.Value})
		if err != nil {
			return err
		}
		if to, isString := asString(f.Value); op.Key == "$rename" && isString {
			if _, err := m.use(pathUse{op.Key, to, f.Key}); err != nil {
				return err
			}
		}
		if !dup {
			m.put(op.Key, f)
		}
	}
	return nil
}

// operators returns an update by operators, in which each holds a bson.D; false for another kind of update.
func operators(update any) (bson.D, bool) {
	raw, ok := update.(bson.Raw)
	if !ok {
		d, ok := update.(bson.D)
		return d, ok
	}
	d, ok := asDocument(raw)
	for i := range d {
		if fields, isDocument := asDocument(d[i].Value); isDocument {
			d[i].Value = fields
		}
	}
	return d, ok
}

// asDocument returns the fields of a document, whatever Go type holds it.
func asDocument(v any) (bson.D, bool) {
	var doc bson.Raw
	switch v := v.(type) {
	case bson.D:
		return v, true
	case bson.Raw:
		doc = v
	case bson.RawValue:
		var ok bool
		if doc, ok = v.DocumentOK(); !ok {
			return nil, false
		}
	default:
		raw, err := (*codec)(nil).document(bson.D{{Key: "v", Value: v}})
		if err != nil {
			return nil, false
		}
		return asDocument(raw.Lookup("v"))
	}
	elems, err := doc.Elements()
	out := make(bson.D, len(elems))
	for i, e := range elems {
		out[i] = bson.E{Key: e.Key(), Value: e.Value()}
	}
	return out, err == nil
}

func asString(v any) (string, bool) {
	if raw, ok := v.(bson.RawValue); ok {
		return raw.StringValueOK()
	}
	s, ok := v.(string)
	return s, ok
}

// use enters a path, unless one that is entered conflicts with it. The same $set twice is a duplicate.
func (m *merger) use(p pathUse) (duplicate bool, err error) {
	for _, q := range m.paths {
		if !clash(p.path, q.path) {
			continue
		}
		if p.path == q.path && p.op == q.op && (p.op == "$set" || p.op == "$unset" || p.op == "$setOnInsert") && sameValue(p.value, q.value) {
			return true, nil
		}
		return false, m.conflict("one document can't be updated by both at once", q.op+" "+q.path, p.op+" "+p.path)
	}
	m.paths = append(m.paths, p)
	return false, nil
}

func (m *merger) put(op string, f bson.E) {
	for i := range m.update {
		if m.update[i].Key == op {
			m.update[i].Value = append(m.update[i].Value.(bson.D), f)
			return
		}
	}
	m.update = append(m.update, bson.E{Key: op, Value: bson.D{f}})
}

// clash reports whether the server refuses two update paths in one update, or may at run time: one is equal to the
// other or lies below it, array positions written differently ($, $[], $[x], 0) being perhaps the same element; or one
// has $[] or $[x] where the other has anything else, whatever follows.
func clash(a, b string) bool {
	for {
		x, restA, moreA := strings.Cut(a, ".")
		y, restB, moreB := strings.Cut(b, ".")
		if strings.HasPrefix(x, "$[") != strings.HasPrefix(y, "$[") {
			return true
		}
		if x != y && !(isPosition(x) && isPosition(y) && (x[0] == '$' || y[0] == '$')) {
			return false
		}
		if !moreA || !moreB {
			return true
		}
		a, b = restA, restB
	}
}

func isPosition(s string) bool {
	return s != "" && (s[0] == '$' || strings.Trim(s, "0123456789") == "")
}

// addFilters unites arrayFilters. Two that name one identifier must be equal, for it can only mean one thing.
func (m *merger) addFilters(filters []any) error {
	if m.names == nil && len(filters) > 0 {
		m.names = map[string]bson.Raw{}
	}
	for _, f := range filters {
		raw, err := bson.Marshal(f)
		if err != nil {
			return err
		}
		name := identifier(raw)
		if old, ok := m.names[name]; ok {
			if !bytes.Equal(old, raw) {
				return m.conflict("the array filter identifier "+name+" means two things", "arrayFilters "+name, "arrayFilters "+name)
			}
			continue
		}
		m.names[name] = raw
		m.filters = append(m.filters, f)
	}
	return nil
}

// identifier is the name that an array filter defines: the first part of its first path.
func identifier(filter bson.Raw) string {
	elems, err := filter.Elements()
	if err != nil || len(elems) == 0 {
		return ""
	}
	key := elems[0].Key()
	if strings.HasPrefix(key, "$") { // $and, $or: look inside
		if values, err := elems[0].Value().Array().Values(); err == nil && len(values) > 0 {
			if doc, ok := values[0].DocumentOK(); ok {
				return identifier(doc)
			}
		}
		return key
	}
	name, _, _ := strings.Cut(key, ".")
	return name
}

// write unites filters, expectations and Done conditions.
func (m *merger) write(writes []Write) Write {
	out := Write{Collection: m.collection, Once: true, Index: writes[0].Index}
	filter, err := m.filter(writes)
	if err != nil {
		return Refused(m.collection, err)
	}
	var done []bson.D
	for _, w := range writes {
		out.Once = out.Once && w.Once
		if w.Expect == One {
			out.Expect = One
		}
		if w.Done != nil {
			done = append(done, w.Done)
		}
		out.Reasons = append(out.Reasons, w.Reasons...)
		if w.Index != out.Index {
			out.Index = ""
		}
		out.mixed = out.mixed || w.mixed || w.Deleted != writes[0].Deleted
	}
	out.Deleted = writes[0].Deleted
	if len(done) == len(writes) {
		out.Done = And(done...) // one write applies all or nothing, so all were applied before
	}
	model := *m.models[0]
	model.Filter, model.Update, model.ArrayFilters = filter, m.update, m.filters
	out.Model = &model
	return out
}

func (m *merger) filter(writes []Write) (bson.D, error) {
	filters := make([]bson.D, 0, len(m.models))
	equal, all := true, true
	for i, u := range m.models {
		f, ok := u.Filter.(bson.D)
		if !ok {
			return nil, m.conflict("filters must be bson.D")
		}
		equal = equal && (i == 0 || sameD(f, filters[0]))
		all = all && writes[i].Expect == One
		filters = append(filters, f)
	}
	if equal {
		return slices.Clone(filters[0]), nil
	}
	id, pinned := idOf(filters[0])
	for _, f := range filters[1:] {
		if other, ok := idOf(f); !pinned || !ok || !sameValue(other, id) {
			return nil, m.conflict("the writes are not known to be to one document: each filter needs the same _id")
		}
	}
	if !all {
		return nil, m.conflict("the filters differ and not every write expects a match: the condition of one would swallow the update of the other")
	}
	rest := []bson.D{{filters[0][indexOfID(filters[0])]}}
	for _, f := range filters {
		i := indexOfID(f)
		if guard := append(append(bson.D(nil), f[:i]...), f[i+1:]...); len(guard) > 0 {
			rest = append(rest, guard)
		}
	}
	return And(rest...), nil
}

// idOf is the one _id that a filter asks for.
func idOf(filter bson.D) (id any, ok bool) {
	if i := indexOfID(filter); i >= 0 && pinsID(filter) {
		return filter[i].Value, true
	}
	return nil, false
}

func indexOfID(filter bson.D) int {
	for i, e := range filter {
		if e.Key == "_id" {
			return i
		}
	}
	return -1
}
