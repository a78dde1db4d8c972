package childrefs

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// refuseWrite is a write that is never sent, and gives an error when it is run.
func (r *untypedChildRefs) refuseWrite(err error) model.Write {
	return model.Refused(r.Parents.Name(), err)
}

// addIDs is the write that adds ids at the end of a list, except those that it has.
// Elements that are documents have no $addToSet by key, so only one id can be added by a
// write.
func (r *untypedChildRefs) addIDs(parent any, children []any) model.Write {
	ids, err := r.IDs.EncodeSome(children)
	switch {
	case err != nil:
		return r.refuseWrite(err)
	case r.key != "" && len(ids) > 1:
		return r.refuseWrite(
			r.Parents.Refuse(
				r.Path, ids,
				"must be one id, because the list holds documents: add each id by its own write, and join the "+
					"writes in a plan",
			),
		)
	case r.key != "":
		return r.pushElement(ids[0], nestValue(r.key, ids[0])).MakeWrite(r.Parents, parent, nil)
	}
	value := any(bson.D{{Key: "$each", Value: ids}})
	if len(ids) == 1 {
		value = ids[0]
	}
	return stmt.GuardedEdit{Update: stmt.ApplyOperator("$addToSet", r.list, value)}.MakeWrite(r.Parents, parent, nil)
}

// addElement is the write that adds an element with its id. It decodes the id into id, a
// pointer to an id of the children, so that the caller can check it.
func (r *untypedChildRefs) addElement(parent, element, id any) model.Write {
	doc, err := r.encodeElement(element)
	if err != nil {
		return r.refuseWrite(err)
	}
	held := doc.Lookup(strings.Split(r.key, ".")...)
	want := reflect.ValueOf(id).Elem()
	if held.Type == 0 || held.Unmarshal(id) != nil {
		return r.refuseWrite(
			r.Parents.Refuse(r.list, nil, fmt.Sprintf("the element has no %s at %q", want.Type(), r.key)),
		)
	}
	_, err = r.IDs.Encode(want.Interface())
	return r.pushElement(held, doc).MakeWrite(r.Parents, parent, err)
}

// encodeElement encodes an element of the caller's, which must have the declared type.
func (r *untypedChildRefs) encodeElement(v any) (bson.Raw, error) {
	if r.key == "" {
		return nil, r.Parents.Refuse(r.list, nil, "is a list of bare ids: use Add")
	}
	if t := reflect.TypeOf(v); !r.elements.Untyped && t != r.elements.Type {
		if t == nil || t.Kind() != reflect.Pointer || t.Elem() != r.elements.Type || reflect.ValueOf(v).IsNil() {
			return nil, r.Parents.Refuse(r.list, nil, fmt.Sprintf("must be a %s, not a %T", r.elements.Type, v))
		}
	}
	part, err := r.Parents.Part(r.list, v)
	return part.Value, err
}

// insertID is the write that adds an id at an index.
func (r *untypedChildRefs) insertID(parent any, position int, child any) model.Write {
	id, err := r.IDs.Encode(child)
	element := id
	if r.key != "" {
		element = nestValue(r.key, id)
	}
	e := r.pushElement(id, element)
	e.Update = stmt.ApplyOperator(
		"$push", r.list, bson.D{{Key: "$each", Value: bson.A{element}}, {Key: "$position", Value: position}},
	)
	return e.MakeWrite(r.Parents, parent, err)
}

// pushElement appends an element to a list that doesn't have its id.
func (r *untypedChildRefs) pushElement(id, element any) stmt.GuardedEdit {
	return stmt.GuardedEdit{
		Update: stmt.ApplyOperator("$push", r.list, element),
		When:   bson.D{{Key: r.Path, Value: bson.D{{Key: "$ne", Value: id}}}},
		Was:    stmt.MatchValue(r.Path, id),
		Once:   true,
	}
}

// removeIDs is the write that removes ids from a list.
func (r *untypedChildRefs) removeIDs(parent any, children []any) model.Write {
	ids, err := r.IDs.EncodeSome(children)
	return stmt.GuardedEdit{Update: stmt.PullIDs(r.list, r.key, ids)}.MakeWrite(r.Parents, parent, err)
}

// removeFromAll is the write that removes a child from the lists of all parents.
func (r *untypedChildRefs) removeFromAll(child any) model.Write {
	id, err := r.IDs.Encode(child)
	if err != nil {
		return r.refuseWrite(err)
	}
	return model.Write{
		Collection: r.Parents.Name(), Index: r.makeIndex().Name,
		Model: &mongo.UpdateManyModel{
			Filter: stmt.MatchValue(r.Path, id), Update: stmt.PullIDs(r.list, r.key, bson.A{id}),
		},
	}
}

// reorderIDs is the write that replaces a list that the caller has read.
func (r *untypedChildRefs) reorderIDs(parent any, was, becomes []any) model.Write {
	if r.key != "" {
		return r.refuseWrite(
			r.Parents.Refuse(r.Path, nil, "holds documents, not bare ids: reorder them with $push, $each and $sort"),
		)
	}
	old, err := r.IDs.EncodeList(was)
	next, nextErr := r.IDs.EncodeList(becomes)
	return stmt.GuardedEdit{
		Update: stmt.SetField(r.list, next),
		When:   bson.D{{Key: r.list, Value: matchList(old)}},
		Was:    bson.D{{Key: r.list, Value: matchList(next)}},
	}.MakeWrite(r.Parents, parent, cmp.Or(err, nextErr))
}

// matchList matches a whole stored list. An empty list may be missing.
func matchList(ids bson.A) any {
	if len(ids) == 0 {
		return stmt.OneOf(bson.A{nil, bson.A{}})
	}
	return mql.Eq(ids)
}

// nestValue is a document with a value at a dotted path.
func nestValue(path string, v any) bson.D {
	head, rest, nested := strings.Cut(path, ".")
	if nested {
		v = nestValue(rest, v)
	}
	return bson.D{{Key: head, Value: v}}
}
