package childrefs

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (r *ChildRefs) refused(err error) model.Write { return model.Refused(r.Parents.Name(), err) }

func (r *ChildRefs) Add(parent any, children []any) model.Write {
	ids, err := r.IDs.Some(children)
	switch {
	case err != nil:
		return r.refused(err)
	case r.key != "" && len(ids) > 1:
		return r.refused(r.Parents.Refuse(r.Path, ids, "must be one id, because the list holds documents: add each id by its own write, and join the writes in a plan"))
	case r.key != "":
		return r.push(ids[0], under(r.key, ids[0])).Of(r.Parents, parent, nil)
	}
	value := any(bson.D{{Key: "$each", Value: ids}})
	if len(ids) == 1 {
		value = ids[0]
	}
	return stmt.GuardedEdit{Update: stmt.Operator("$addToSet", r.list, value)}.Of(r.Parents, parent, nil)
}

// AddElement decodes the element's id into id, a pointer to an id of the children.
func (r *ChildRefs) AddElement(parent, element, id any) model.Write {
	doc, err := r.element(element)
	if err != nil {
		return r.refused(err)
	}
	held := doc.Lookup(strings.Split(r.key, ".")...)
	want := reflect.ValueOf(id).Elem()
	if held.Type == 0 || held.Unmarshal(id) != nil {
		return r.refused(r.Parents.Refuse(r.list, nil, fmt.Sprintf("the element has no %s at %q", want.Type(), r.key)))
	}
	_, err = r.IDs.Encode(want.Interface())
	return r.push(held, doc).Of(r.Parents, parent, err)
}

// element is an element of the caller's, encoded.
func (r *ChildRefs) element(v any) (bson.Raw, error) {
	if r.key == "" {
		return nil, r.Parents.Refuse(r.list, nil, "is a list of bare ids: use Add")
	}
	if t := reflect.TypeOf(v); !r.elements.Open && t != r.elements.Type {
		if t == nil || t.Kind() != reflect.Pointer || t.Elem() != r.elements.Type || reflect.ValueOf(v).IsNil() {
			return nil, r.Parents.Refuse(r.list, nil, fmt.Sprintf("must be a %s, not a %T", r.elements.Type, v))
		}
	}
	part, err := r.Parents.Part(r.list, v)
	return part.Value, err
}

func (r *ChildRefs) InsertAt(parent any, position int, child any) model.Write {
	id, err := r.IDs.Encode(child)
	element := id
	if r.key != "" {
		element = under(r.key, id)
	}
	e := r.push(id, element)
	e.Update = stmt.Operator("$push", r.list, bson.D{{Key: "$each", Value: bson.A{element}}, {Key: "$position", Value: position}})
	return e.Of(r.Parents, parent, err)
}

// push appends an element to a list that doesn't hold its id.
func (r *ChildRefs) push(id, element any) stmt.GuardedEdit {
	return stmt.GuardedEdit{
		Update: stmt.Operator("$push", r.list, element),
		When:   bson.D{{Key: r.Path, Value: bson.D{{Key: "$ne", Value: id}}}},
		Was:    stmt.Is(r.Path, id),
		Once:   true,
	}
}

func (r *ChildRefs) Remove(parent any, children []any) model.Write {
	ids, err := r.IDs.Some(children)
	return stmt.GuardedEdit{Update: stmt.Pulling(r.list, r.key, ids)}.Of(r.Parents, parent, err)
}

func (r *ChildRefs) RemoveEverywhere(child any) model.Write {
	id, err := r.IDs.Encode(child)
	if err != nil {
		return r.refused(err)
	}
	return model.Write{
		Collection: r.Parents.Name(), Index: r.Index().Name,
		Model: &mongo.UpdateManyModel{Filter: stmt.Is(r.Path, id), Update: stmt.Pulling(r.list, r.key, bson.A{id})},
	}
}

func (r *ChildRefs) Reorder(parent any, was, becomes []any) model.Write {
	if r.key != "" {
		return r.refused(r.Parents.Refuse(r.Path, nil, "holds documents, not bare ids: reorder them with $push, $each and $sort"))
	}
	old, err := r.IDs.List(was)
	next, nextErr := r.IDs.List(becomes)
	return stmt.GuardedEdit{
		Update: stmt.Set(r.list, next),
		When:   bson.D{{Key: r.list, Value: listIs(old)}},
		Was:    bson.D{{Key: r.list, Value: listIs(next)}},
	}.Of(r.Parents, parent, cmp.Or(err, nextErr))
}

// listIs matches a whole stored list; an empty one may be missing.
func listIs(ids bson.A) any {
	if len(ids) == 0 {
		return stmt.In(bson.A{nil, bson.A{}})
	}
	return model.Eq(ids)
}

// under is a document that holds a value at a dotted path.
func under(path string, v any) bson.D {
	head, rest, nested := strings.Cut(path, ".")
	if nested {
		v = under(rest, v)
	}
	return bson.D{{Key: head, Value: v}}
}
