package twosided

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A mirror is the reaction of one side: a write of its documents changes the other side.
// After that write the other side's mirror finds nothing to do, so the two don't call
// each other without end.
type mirror struct {
	end, back endOfRelation
	list      bool // the end is a list
	backList  bool // the other end is a list

	// absent reports whether a value means that there is no reference.
	absent func(v bson.RawValue) bool
}

// makeReactions returns what a store's write of one side changes in the other.
func (m *untypedManyToMany) makeReactions() []model.Reaction {
	side := func(end, back endOfRelation) model.Reaction {
		return mirror{
			end: end, back: back, list: true, backList: true, absent: isNone(nil),
		}.makeReaction()
	}
	return []model.Reaction{side(m.Left, m.Right), side(m.Right, m.Left)}
}

// makeReactions returns what a store's write of one side changes in the other.
func (t *untypedTwoWay) makeReactions() []model.Reaction {
	side := func(end, back endOfRelation, list bool) model.Reaction {
		return mirror{
			end: end, back: back, list: list, backList: !list, absent: isNone(t.none),
		}.makeReaction()
	}
	return []model.Reaction{side(t.List, t.Ref, true), side(t.Ref, t.List, false)}
}

// isNone returns the function that reports whether a value is missing, null, or one of
// none.
func isNone(none bson.A) func(v bson.RawValue) bool {
	keys := map[string]bool{}
	for _, v := range none {
		keys[idref.Key(v)] = true
	}
	return func(v bson.RawValue) bool { return !idref.IsValue(v) || keys[bsonval.Key(v)] }
}

// makeReaction returns the mirror as a reaction to writes of its path.
func (m mirror) makeReaction() model.Reaction {
	return model.Reaction{
		Collection: m.end.Docs.Name(), Paths: []string{m.end.Path}, Fetch: m.fetchOthers, React: m.writeOthers,
	}
}

// listIDs returns the ids that a document stores, each once.
func (m mirror) listIDs(doc bson.Raw) (out []bson.RawValue) {
	v, _ := core.ValueAt(doc, m.end.Path)
	list := []bson.RawValue{v}
	if m.list {
		list = core.Elements(v)
	}
	for _, v := range list {
		if !m.absent(v) && !containsID(out, v) {
			out = append(out, bsonval.Clone(v))
		}
	}
	return out
}

// containsID compares ids as the server does.
func containsID(ids []bson.RawValue, id bson.RawValue) bool {
	for _, x := range ids {
		if bsonval.EqualRaw(x, id) {
			return true
		}
	}
	return false
}

// compareIDs returns the ids that a write adds and removes.
func (m mirror) compareIDs(w model.StoreWrite) (added, removed []bson.RawValue) {
	was, now := m.listIDs(w.Before), m.listIDs(w.After)
	for _, id := range now {
		if !containsID(was, id) {
			added = append(added, id)
		}
	}
	for _, id := range was {
		if !containsID(now, id) {
			removed = append(removed, id)
		}
	}
	return added, removed
}

// fetchOthers asks for the other documents that change. They are read whole, because the
// store computes their other reactions too.
func (m mirror) fetchOthers(w model.StoreWrite) (out []model.Fetch, _ error) {
	added, removed := m.compareIDs(w)
	for _, id := range append(added, removed...) {
		out = append(out, model.Fetch{Collection: m.back.Docs.Name(), ID: id, Paths: []string{model.Whole}})
	}
	return out, nil
}

// writeOthers returns the writes of the other side. An added document must exist.
func (m mirror) writeOthers(w model.StoreWrite) (a model.Answer, _ error) {
	added, removed := m.compareIDs(w)
	doc := w.After
	if doc == nil {
		doc = w.Before
	}
	id := bsonval.Clone(doc.Lookup("_id"))
	if w.After != nil && m.list && m.end.Max > 0 && len(m.listIDs(w.After)) > m.end.Max {
		return a, m.end.refuseFull(id)
	}
	for i, other := range append(added, removed...) {
		found := w.Found(i)
		switch {
		case found != nil:
			a.Writes = append(a.Writes, model.StoreWrite{
				Collection: m.back.Docs.Name(), Before: found, Hold: true,
				Change: m.changeOther(id, other, found, i < len(added)),
			})
		case i < len(added):
			return a, &model.ReferenceError{
				Collection: m.end.Docs.Name(), Path: m.end.Path, To: m.back.Docs.Name(), Value: other,
			}
		}
	}
	return a, nil
}

// changeOther returns the function that adds an id to a document of the other side, or
// removes it. found is the document as fetchOthers read it. The store may call the
// function with a newer document.
func (m mirror) changeOther(id, other bson.RawValue, found bson.Raw, add bool) func(doc bson.Raw) (bson.D, error) {
	was, _ := core.ValueAt(found, m.back.Path)
	return func(doc bson.Raw) (bson.D, error) {
		held, _ := core.ValueAt(doc, m.back.Path)
		switch {
		case m.backList && containsID(core.Elements(held), id) == add:
			return nil, nil
		case m.backList && add:
			list := append(idref.CopyIDs(core.Elements(held)), id)
			if m.back.Max > 0 && len(list) > m.back.Max {
				return nil, m.back.refuseFull(other)
			}
			return bson.D{{Key: m.back.Path, Value: list}}, nil
		case m.backList:
			return bson.D{{Key: m.back.Path, Value: idref.RemoveID(held, "", id)}}, nil
		case bsonval.EqualRaw(held, id) == add:
			return nil, nil
		case add && !bsonval.EqualRaw(held, was):
			return nil, m.end.Docs.Refuse(m.end.Path, other, "is in the lists of two documents that are written "+
				"together")
		case add:
			return bson.D{{Key: m.back.Path, Value: id}}, nil
		}
		return bson.D{{Key: m.back.Path, Value: bson.RawValue{}}}, nil
	}
}

// refuseFull is the error of a list that is longer than Max.
func (e endOfRelation) refuseFull(id any) error {
	return fmt.Errorf("docmodel: %s of %s %s has %d links already: %w", e.Path, e.Docs.Name(),
		model.Shell(id), e.Max, model.ErrFull)
}
