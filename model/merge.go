package model

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Merge combines updates of one document into one atomic write. Each write must be a
// single update by operators, such as $set. If one write has Expect [One], the merged
// write has Expect One. $and joins filters that differ.
//
// If a write has a Token, the merged write can run again. Otherwise it can run again if all
// writes can, but may then return [ErrStale].
//
// The merged write gives a [*ConflictError] in these cases:
//
//   - Two writes update equal or overlapping paths (a, a.b). Equal $set fields are
//     allowed.
//   - The writes differ in collection, upsert, hint, sort or collation.
//   - The filters differ, and don't all require the same _id.
//   - The filters differ, and a write with Expect [Any] has a condition besides _id.
//     Exception: the filters differ only in {$ne: token}. All updates and one
//     [Write.Done] must contain this ObjectID.
func Merge(writes ...Write) Write {
	return mergeNamed(writes, func(i int) string { return fmt.Sprintf("write %d", i+1) })
}

// mergeNamed merges writes. Errors use the given names of the writes.
func mergeNamed(writes []Write, name func(int) string) Write {
	if len(writes) == 0 {
		return Refused("", &ConflictError{Reason: "no write was given: give at least one"})
	}
	first := writes[0]
	m := merger{collection: first.Collection, name: name, models: make([]*mongo.UpdateOneModel, 0, len(writes))}
	if err := m.collect(writes); err != nil {
		return Refused(first.Collection, err)
	}
	return m.write(writes)
}

type merger struct {
	collection string
	// The name of a write, for errors. Nil if the first conflict is returned at once,
	// without names of writes.
	name    func(int) string
	models  []*mongo.UpdateOneModel
	encoded bson.Raw      // the merged update made by joinEncoded, or nil if update has it
	token   bson.ObjectID // the token in all writes, or zero
	at      int           // the index of the write that is being added
	update  bson.D        // operators in the order of their first use
	paths   []pathUse
	clashes []*ConflictError
	filters []any // arrayFilters
	names   map[string]filterUse
}

// pathUse is an operator's use of a path, with the value and the index of the write.
type pathUse struct {
	op, path string
	value    any
	by       int
}

// filterUse is an array filter and the index of its write.
type filterUse struct {
	raw bson.Raw
	by  int
}

const (
	asSteps = "run them as steps of one plan, with RunTx"
	ownStep = "run it as a step of its own, with RunTx"
)

func (m *merger) conflict(reason string, paths ...string) *ConflictError {
	e := &ConflictError{Collection: m.collection, Reason: reason}
	copy(e.Paths[:], paths)
	return e
}

func (m *merger) both(i, j int) string { return m.name(i) + " and " + m.name(j) }

// collect unites the operators of the writes. The kind of the returned error doesn't
// depend on the order of the writes.
func (m *merger) collect(writes []Write) error {
	var bad error
	for i, w := range writes {
		if err := w.Err; err != nil && (bad == nil || err.Error() < errors.Unwrap(bad).Error()) {
			bad = fmt.Errorf("docmodel: %s can't be merged: %w", m.name(i), err)
		}
	}
	if bad != nil {
		return bad
	}
	for i, w := range writes {
		u, ok := w.Model.(*mongo.UpdateOneModel)
		if !ok || u == nil {
			return m.conflict("only updates of one document can be merged, not " + m.name(i) + ", " +
				w.String() + ": " + ownStep)
		}
		switch u.Update.(type) {
		case bson.D, bson.Raw:
		default:
			return m.byPipeline(i)
		}
		m.models = append(m.models, u)
	}
	for i, u := range m.models[1:] {
		if err := m.comparable(m.models[0], u, writes[i+1].Collection, i+1); err != nil {
			return err
		}
	}
	if m.encoded = m.joined(writes); m.encoded != nil {
		return nil
	}
	return m.unite(writes)
}

func (m *merger) byPipeline(i int) error {
	return m.conflict("an update by a pipeline can't be merged (" + m.name(i) + "): " + ownStep)
}

// joined returns the merged update if the encoded updates change different fields. Else
// it returns nil.
func (m *merger) joined(writes []Write) bson.Raw {
	var room [4]bson.Raw
	updates := room[:0]
	for i, u := range m.models {
		raw, ok := u.Update.(bson.Raw)
		if !ok || len(u.ArrayFilters) > 0 || len(tokensIn(writes[i].Done)) > 0 {
			return nil
		}
		updates = append(updates, raw)
	}
	out, ok := joinEncoded(updates)
	if !ok {
		return nil
	}
	return out
}

func (m *merger) unite(writes []Write) error {
	updates := make([]bson.D, len(writes))
	for i, u := range m.models {
		var ok bool
		if updates[i], ok = bsondoc.Operators(u.Update); !ok {
			return m.byPipeline(i)
		}
	}
	m.paths = make([]pathUse, 0, 8)
	m.token = sharedToken(writes, updates)
	for i, u := range m.models {
		m.at = i
		for _, op := range updates[i] {
			if err := m.addOperator(op); err != nil {
				return err
			}
		}
		if err := m.addFilters(u.ArrayFilters); err != nil {
			return err
		}
	}
	if len(m.clashes) == 0 {
		return nil
	}
	return slices.MinFunc(m.clashes, func(a, b *ConflictError) int {
		return strings.Compare(min(a.Paths[0], a.Paths[1])+max(a.Paths[0], a.Paths[1]),
			min(b.Paths[0], b.Paths[1])+max(b.Paths[0], b.Paths[1]))
	})
}

// comparable refuses writes that differ in collection, upsert, hint, sort or collation.
func (m *merger) comparable(a, b *mongo.UpdateOneModel, collection string, i int) error {
	isUpsert := func(u *mongo.UpdateOneModel) bool { return u.Upsert != nil && *u.Upsert }
	differ := func(what string) error { return m.conflict(what + " (" + m.both(0, i) + "): " + asSteps) }
	switch {
	case collection != m.collection:
		return m.conflict(m.name(i) + " writes to " + collection + ": " + asSteps)
	case isUpsert(a) != isUpsert(b):
		return differ("one write upserts, the other doesn't")
	case !bsondoc.SameValue(a.Hint, b.Hint):
		return differ("the writes have different hints")
	case !bsondoc.SameValue(a.Sort, b.Sort):
		return differ("the writes have different sorts")
	case (a.Collation == nil) != (b.Collation == nil),
		a.Collation != nil && shell(collationD(a.Collation)) != shell(collationD(b.Collation)):
		return differ("the writes have different collations")
	}
	return nil
}

// addOperator adds the fields of one operator, for example {$set: {a: 1, b: 2}}.
func (m *merger) addOperator(op bson.E) error {
	fields, ok := bsondoc.Document(op.Value)
	if !ok {
		return m.conflict("the argument of " + op.Key + " must be a document")
	}
	for _, f := range fields {
		dup, err := m.use(pathUse{op.Key, f.Key, f.Value, m.at})
		if to, isString := bsondoc.String(f.Value); op.Key == "$rename" && isString && err == nil {
			_, err = m.use(pathUse{op.Key, to, f.Key, m.at})
		}
		if err != nil {
			return err
		}
		if !dup {
			m.put(op.Key, f)
		}
	}
	return nil
}

// use records a path, unless it conflicts with a recorded path. It reports a duplicate
// for the same $set twice, and for the same $push of the shared token.
func (m *merger) use(p pathUse) (duplicate bool, err error) {
	for _, q := range m.paths {
		if !clash(p.path, q.path) {
			continue
		}
		if p.path == q.path && p.op == q.op && m.repeats(p) && bsondoc.SameValue(p.value, q.value) {
			return true, nil
		}
		const reason = "one update can't contain both"
		if m.name == nil {
			return false, m.conflict(reason, q.op+" "+q.path, p.op+" "+p.path)
		}
		m.clashes = append(m.clashes,
			m.conflict(reason+" ("+m.both(q.by, p.by)+"): leave one out, or "+asSteps, q.op+" "+q.path, p.op+" "+p.path))
		return false, nil
	}
	m.paths = append(m.paths, p)
	return false, nil
}

// repeats reports whether an operator that occurs in two writes has the same effect as
// once.
func (m *merger) repeats(p pathUse) bool {
	switch p.op {
	case "$set", "$unset", "$setOnInsert":
		return true
	case "$push":
		return !m.token.IsZero() && carries(bson.D{{Key: p.path, Value: p.value}}, m.token)
	}
	return false
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

// clash reports whether the server refuses two paths in one update, or may refuse them at
// run time. Two paths clash in these cases:
//
//   - The paths are equal, or one is below the other. Different array positions ($, $[],
//     $[x], 0) can be the same element.
//   - One path has $[] or $[x] where the other has anything else, whatever follows.
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

// addFilters unites arrayFilters. Two filters with the same identifier must be equal.
func (m *merger) addFilters(filters []any) error {
	if m.names == nil && len(filters) > 0 {
		m.names = map[string]filterUse{}
	}
	for _, f := range filters {
		raw, err := (*core.Codec)(nil).Document(f)
		if err != nil {
			return err
		}
		name := identifier(raw)
		if old, ok := m.names[name]; ok {
			if !bytes.Equal(old.raw, raw) {
				return m.conflict("the array filter identifier "+name+" has two different conditions ("+m.both(old.by, m.at)+"): "+
					asSteps, "arrayFilters "+name, "arrayFilters "+name)
			}
			continue
		}
		m.names[name] = filterUse{raw, m.at}
		m.filters = append(m.filters, f)
	}
	return nil
}

// identifier returns the name that an array filter defines: the first part of its first
// path.
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
