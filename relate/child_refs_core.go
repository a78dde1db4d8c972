package relate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// childRefs is what of a [ChildRefs] doesn't depend on its types: it works on encoded ids.
type childRefs struct {
	parents, children string      // collections
	elements          model.Field // the array
	path              string      // of the ids
	list              string      // of the array
	key               string      // of the id within an element; "" when the elements are the ids
}

func (r *childRefs) declare(ids model.Field, array func(path string) model.Field) {
	r.list = r.path
	if ids.Array != "" {
		r.list = ids.Array
	}
	r.key = strings.TrimPrefix(strings.TrimPrefix(r.path, r.list), ".")
	r.elements = array(r.list)
	if !ids.Open && ids.Arrays > 1 {
		panic(&model.DeclarationError{
			Problem: fmt.Sprintf("path %q crosses %d arrays", r.path, ids.Arrays),
			Place:   "NewChildRefs of " + r.parents,
			Remedy:  "name one array of ids, or one array of documents that each hold an id",
		})
	}
}

//go:noinline
func (r *childRefs) refused(field, reason string) error {
	return &model.ValueError{Collection: r.parents, Field: field, Reason: reason}
}

// add is the edit that puts ids at the end of a list.
func (r *childRefs) add(ids bson.A, err error) (guardedEdit, error) {
	switch {
	case err != nil:
		return guardedEdit{}, err
	case r.key != "" && len(ids) > 1:
		return guardedEdit{}, &model.ValueError{
			Collection: r.parents, Field: r.path, Value: ids, Reason: "elements are added one at a time: use a plan of several writes",
		}
	case r.key != "":
		return r.push(ids[0], under(r.key, ids[0]), nil), nil
	}
	value := any(bson.D{{Key: "$each", Value: ids}})
	if len(ids) == 1 {
		value = ids[0]
	}
	return guardedEdit{update: bson.D{{Key: "$addToSet", Value: bson.D{{Key: r.list, Value: value}}}}}, nil
}

// checkElement refuses what is no element of the list.
func (r *childRefs) checkElement(element any) error {
	if r.key == "" {
		return r.refused(r.list, "lists bare ids: use Add")
	}
	if t := reflect.TypeOf(element); !r.elements.Open && t != r.elements.Type {
		if t == nil || t.Kind() != reflect.Pointer || t.Elem() != r.elements.Type || reflect.ValueOf(element).IsNil() {
			return r.refused(r.list, fmt.Sprintf("an element is a %s, not a %T", r.elements.Type, element))
		}
	}
	return nil
}

// element is an encoded element, as a document, and the id that it holds.
func (r *childRefs) element(v any, err error) (doc bson.Raw, id bson.RawValue, _ error) {
	if err != nil {
		return nil, id, r.refused(r.list, err.Error())
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return nil, id, r.refused(r.list, err.Error())
	}
	doc, ok := bson.Raw(raw).Lookup("v").DocumentOK()
	if !ok {
		return nil, id, r.refused(r.list, "an element must be a document")
	}
	if path, err := model.CheckNames(doc, r.list); err != nil {
		return nil, id, r.refused(path, err.Error())
	}
	return doc, doc.Lookup(strings.Split(r.key, ".")...), nil
}

//go:noinline
func (r *childRefs) holdsNone(id any) error {
	return r.refused(r.list, fmt.Sprintf("the element holds no %T at %q", id, r.key))
}

//go:noinline
func (r *childRefs) insertAt(id any, position int) guardedEdit {
	element := id
	if r.key != "" {
		element = under(r.key, id)
	}
	return r.push(id, element, &position)
}

// push adds an element to a list that doesn't hold its id.
//
//go:noinline
func (r *childRefs) push(id, element any, position *int) guardedEdit {
	value := element
	if position != nil {
		value = bson.D{{Key: "$each", Value: bson.A{element}}, {Key: "$position", Value: *position}}
	}
	return guardedEdit{
		update: bson.D{{Key: "$push", Value: bson.D{{Key: r.list, Value: value}}}},
		when:   bson.D{{Key: r.path, Value: bson.D{{Key: "$ne", Value: id}}}},
		was:    bson.D{{Key: r.path, Value: model.Eq(id)}},
		once:   true,
	}
}

func (r *childRefs) removeEverywhere(id any, err error) model.Write {
	if err != nil {
		return model.Refused(r.parents, err)
	}
	return model.Write{
		Collection: r.parents, Index: r.index().Name,
		Model: &mongo.UpdateManyModel{Filter: bson.D{{Key: r.path, Value: model.Eq(id)}}, Update: r.pull(bson.A{id})},
	}
}

//go:noinline
func (r *childRefs) pull(ids bson.A) bson.D {
	if r.key == "" {
		return bson.D{{Key: "$pullAll", Value: bson.D{{Key: r.list, Value: ids}}}}
	}
	in := bson.D{{Key: r.key, Value: bson.D{{Key: "$in", Value: ids}}}}
	return bson.D{{Key: "$pull", Value: bson.D{{Key: r.list, Value: in}}}}
}

// checkBare refuses to reorder what isn't a list of bare ids.
//
//go:noinline
func (r *childRefs) checkBare() error {
	if r.key != "" {
		return r.refused(r.path, "holds documents, not bare ids: reorder them with $push, $each and $sort")
	}
	return nil
}

//go:noinline
func (r *childRefs) reorder(old, next bson.A) guardedEdit {
	return guardedEdit{
		update: set(r.list, next),
		when:   bson.D{{Key: r.list, Value: listIs(old)}},
		was:    bson.D{{Key: r.list, Value: listIs(next)}},
	}
}

// listIs matches a whole stored list; an empty one may be missing.
func listIs(ids bson.A) any {
	if len(ids) == 0 {
		return bson.D{{Key: "$in", Value: bson.A{nil, bson.A{}}}}
	}
	return model.Eq(ids)
}

// under is a document that holds a value at a dotted path.
func under(path string, v any) bson.D {
	head, rest, nested := strings.Cut(path, ".")
	if nested {
		return bson.D{{Key: head, Value: under(rest, v)}}
	}
	return bson.D{{Key: head, Value: v}}
}

func (r *childRefs) index() model.Index {
	x := model.NewIndex(r.parents, bson.D{{Key: r.path, Value: 1}})
	x.Why = "the documents of " + r.parents + " that list a document of " + r.children
	return x
}

func (r *childRefs) relations() []model.Relation {
	return []model.Relation{{
		From: r.parents, FromPath: r.path, To: r.children, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "child references",
	}}
}

// childrenOf is the pipeline, over the parents, of the children that one lists.
func (r *childRefs) childrenOf(id any) mongo.Pipeline {
	return matching(
		bson.D{{Key: "_id", Value: model.Eq(id)}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "ref", Value: "$" + r.list}}}},
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$ref"}, {Key: "includeArrayIndex", Value: "i"}}}},
		r.lookup(join("ref", r.key), "child"),
		bson.D{{Key: "$unwind", Value: "$child"}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "i", Value: 1}}}},
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$child"}}}},
	)
}

func (r *childRefs) lookup(local, as string) bson.D {
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: r.children}, {Key: "localField", Value: local},
		{Key: "foreignField", Value: "_id"}, {Key: "as", Value: as},
	}}}
}

// listing is the filter of the parents that list a child.
//
//go:noinline
func (r *childRefs) listing(id any) bson.D { return bson.D{{Key: r.path, Value: model.Eq(id)}} }

// load is the pipeline of the parents with their children.
func (r *childRefs) load(filter bson.D) mongo.Pipeline {
	ids := bson.D{{Key: "$ifNull", Value: bson.A{"$parent." + r.path, bson.A{}}}}
	return matching(
		filter,
		nested("parent"),
		r.lookup("parent."+r.path, "children"),
		bson.D{{Key: "$set", Value: bson.D{{Key: "children", Value: inOrder(ids, "children")}}}},
	)
}
