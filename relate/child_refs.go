package relate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ChildRefs is a document that lists the ids of its children: product.parts holds ids of parts. The list is either an
// array of ids ("parts") or an array of documents that each hold one ("holdings.stockId"). It keeps its order, and the
// children are documents of their own, which other parents may list too. Make it with [NewChildRefs].
//
// Source: one-to-many by an array of references, "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-referenced-one-to-many-relationships-between-documents/.
type ChildRefs[P, PK, C, CK any] struct {
	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *model.Reader[P, CK]
	elements model.Field // the array
	path     string      // of the ids
	list     string      // of the array
	key      string      // of the id within an element; "" when the elements are the ids
}

// NewChildRefs declares that the path of the parents' documents lists ids of children. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array, holds another type than the children's _id, or when
// a nil slice there is stored as null, on which $addToSet fails.
func NewChildRefs[P, PK, C, CK any](parents *model.Collection[P, PK], path string, children *model.Collection[C, CK]) *ChildRefs[P, PK, C, CK] {
	r := &ChildRefs[P, PK, C, CK]{parents: parents, children: children, path: path, list: path}
	model.MustField(children, "_id")
	r.ids = model.NewReader[CK](parents, path)
	if f := r.ids.Field(); f.Array != "" {
		r.list = f.Array
	}
	r.key = strings.TrimPrefix(strings.TrimPrefix(path, r.list), ".")
	r.elements = model.CheckArray(parents, r.list)
	if f := r.ids.Field(); !f.Open && f.Arrays > 1 {
		panic(&model.DeclarationError{
			Problem: fmt.Sprintf("path %q crosses %d arrays", path, f.Arrays),
			Place:   "NewChildRefs of " + parents.Name(),
			Remedy:  "name one array of ids, or one array of documents that each hold an id",
		})
	}
	return r
}

// Add returns the write that puts ids at the end of a parent's list; those that are there already stay where they are.
// The parent must exist: else running it gives model.ErrStale. It is idempotent.
//
// Cost: one command, one document, found by _id. Ids are added in the order given.
func (r *ChildRefs[P, PK, C, CK]) Add(parent PK, children ...CK) model.Write {
	ids, err := encodeIDs(r.children, r.parents.Name(), r.path, children)
	if err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	if r.key != "" {
		if len(ids) > 1 {
			return model.Refused(r.parents.Name(), &model.ValueError{
				Collection: r.parents.Name(), Field: r.path, Value: ids, Reason: "elements are added one at a time: use a plan of several writes",
			})
		}
		return r.push(parent, ids[0], under(r.key, ids[0]), nil)
	}
	value := any(bson.D{{Key: "$each", Value: ids}})
	if len(ids) == 1 {
		value = ids[0]
	}
	return r.parents.Update(parent, bson.D{{Key: "$addToSet", Value: bson.D{{Key: r.list, Value: value}}}})
}

// AddElement returns the write that puts an element at the end of a parent's list, for lists of documents that each hold
// an id beside other fields: {stockId, numberHeld}. An element must be of the array's element type, or a pointer to it;
// where that is not known, any document. A parent that lists the id already is left as it is, its element too. The parent
// must exist.
//
// Cost: one command, one document; one command more when nothing matched, to tell a listed id from a missing parent.
func (r *ChildRefs[P, PK, C, CK]) AddElement(parent PK, element any) model.Write {
	refuse := func(reason string) model.Write {
		return model.Refused(r.parents.Name(), &model.ValueError{Collection: r.parents.Name(), Field: r.list, Reason: reason})
	}
	if r.key == "" {
		return refuse("lists bare ids: use Add")
	}
	if t := reflect.TypeOf(element); !r.elements.Open && t != r.elements.Type {
		if t == nil || t.Kind() != reflect.Pointer || t.Elem() != r.elements.Type || reflect.ValueOf(element).IsNil() {
			return refuse(fmt.Sprintf("an element is a %s, not a %T", r.elements.Type, element))
		}
	}
	v, err := r.parents.Encode(element)
	if err != nil {
		return refuse(err.Error())
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return refuse(err.Error())
	}
	doc, ok := bson.Raw(raw).Lookup("v").DocumentOK()
	if !ok {
		return refuse("an element must be a document")
	}
	if path, err := model.CheckNames(doc, r.list); err != nil {
		return model.Refused(r.parents.Name(), &model.ValueError{Collection: r.parents.Name(), Field: path, Reason: err.Error()})
	}
	var child CK
	id := doc.Lookup(strings.Split(r.key, ".")...)
	if id.Type == 0 || id.Unmarshal(&child) != nil {
		return refuse(fmt.Sprintf("the element holds no %T at %q", child, r.key))
	}
	if _, err := encodeID(r.children, r.parents.Name(), r.path, child); err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	return r.push(parent, id, doc, nil)
}

// InsertAt returns the write that puts an id at a place in a parent's list, 0 being the first and a negative position
// counting from the end; a place beyond the end is the end. A parent that lists the id already is left as it is.
//
// Cost: one command, one document; one command more when nothing matched, to tell a listed id from a missing parent.
func (r *ChildRefs[P, PK, C, CK]) InsertAt(parent PK, position int, child CK) model.Write {
	id, err := encodeID(r.children, r.parents.Name(), r.path, child)
	if err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	element := id
	if r.key != "" {
		element = under(r.key, id)
	}
	return r.push(parent, id, element, &position)
}

// push adds an element to a list that doesn't hold its id.
func (r *ChildRefs[P, PK, C, CK]) push(parent PK, id, element any, position *int) model.Write {
	value := element
	if position != nil {
		value = bson.D{{Key: "$each", Value: bson.A{element}}, {Key: "$position", Value: *position}}
	}
	w := r.parents.Update(parent, bson.D{{Key: "$push", Value: bson.D{{Key: r.list, Value: value}}}})
	if w.Err != nil {
		return w
	}
	m := w.Model.(*mongo.UpdateOneModel)
	filter := m.Filter.(bson.D)
	w.Done = model.And(filter, bson.D{{Key: r.path, Value: model.Eq(id)}})
	m.Filter = model.And(filter, bson.D{{Key: r.path, Value: bson.D{{Key: "$ne", Value: id}}}})
	w.Once = true
	return w
}

// Remove returns the write that takes ids out of a parent's list, every occurrence of each; ids that are not listed are
// passed over. The children stay. The parent must exist. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (r *ChildRefs[P, PK, C, CK]) Remove(parent PK, children ...CK) model.Write {
	ids, err := encodeIDs(r.children, r.parents.Name(), r.path, children)
	if err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	return r.parents.Update(parent, r.pull(ids))
}

// RemoveEverywhere returns the write that takes an id out of every parent's list: what must go before the child does.
//
// Cost: one command, as many documents as list the id, found by [ChildRefs.Indexes]. The command is not atomic over
// documents; it is idempotent.
func (r *ChildRefs[P, PK, C, CK]) RemoveEverywhere(child CK) model.Write {
	id, err := encodeID(r.children, r.parents.Name(), r.path, child)
	if err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	return model.Write{
		Collection: r.parents.Name(), Index: r.index().Name,
		Model: &mongo.UpdateManyModel{Filter: bson.D{{Key: r.path, Value: model.Eq(id)}}, Update: r.pull(bson.A{id})},
	}
}

func (r *ChildRefs[P, PK, C, CK]) pull(ids bson.A) bson.D {
	if r.key == "" {
		return bson.D{{Key: "$pullAll", Value: bson.D{{Key: r.list, Value: ids}}}}
	}
	in := bson.D{{Key: r.key, Value: bson.D{{Key: "$in", Value: ids}}}}
	return bson.D{{Key: "$pull", Value: bson.D{{Key: r.list, Value: in}}}}
}

// Reorder returns the write that stores a list in another order, or another list, if it is still as it was read: else
// running it gives model.ErrStale. For lists of bare ids.
//
// Cost: one command, one document; one command more when nothing matched.
func (r *ChildRefs[P, PK, C, CK]) Reorder(parent PK, was, becomes []CK) model.Write {
	if r.key != "" {
		return model.Refused(r.parents.Name(), &model.ValueError{
			Collection: r.parents.Name(), Field: r.path, Reason: "holds documents, not bare ids: reorder them with $push, $each and $sort",
		})
	}
	old, err := encodeList(r.children, r.parents.Name(), r.path, was)
	if err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	next, err := encodeList(r.children, r.parents.Name(), r.path, becomes)
	if err != nil {
		return model.Refused(r.parents.Name(), err)
	}
	w := r.parents.Update(parent, bson.D{{Key: "$set", Value: bson.D{{Key: r.list, Value: next}}}})
	if w.Err != nil {
		return w
	}
	m := w.Model.(*mongo.UpdateOneModel)
	filter := m.Filter.(bson.D)
	w.Done = model.And(filter, bson.D{{Key: r.list, Value: listIs(next)}})
	m.Filter = model.And(filter, bson.D{{Key: r.list, Value: listIs(old)}})
	return w
}

// encodeList is encodeIDs for a list that may be empty.
func encodeList[D, K any](c *model.Collection[D, K], holder, field string, ids []K) (bson.A, error) {
	if len(ids) == 0 {
		return bson.A{}, nil
	}
	return encodeIDs(c, holder, field, ids)
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

// InsertChild returns the plan that stores a new child and then lists it with a parent.
//
// Cost: two commands, two documents. Consistency: cut between the two, it leaves a child that nobody lists; run again, it
// lists it. A parent that doesn't exist gives model.ErrStale, and leaves the child so too.
func (r *ChildRefs[P, PK, C, CK]) InsertChild(parent PK, child C) model.Plan {
	id, err := r.children.ID(&child)
	if err != nil {
		return model.RefusedPlan(r.children.Name(), err)
	}
	p := model.NewPlan(r.children.Insert(child), r.Add(parent, id))
	p.Leaves = "a new child that no parent lists yet"
	return p
}

// DeleteChild returns the plan that takes a child out of every list and then deletes it.
//
// Cost: two commands; the child and every document that lists it. Consistency: cut between the two, it leaves a child
// that nobody lists; run again, it deletes it. A parent that lists the child in between keeps a reference that leads
// nowhere.
func (r *ChildRefs[P, PK, C, CK]) DeleteChild(child CK) model.Plan {
	p := model.NewPlan(r.RemoveEverywhere(child), r.children.Delete(child))
	p.Leaves = "the child, which no parent lists any more"
	return p
}

// Indexes returns the index on the list, by which a child's parents are found.
func (r *ChildRefs[P, PK, C, CK]) Indexes() []model.Index { return []model.Index{r.index()} }

func (r *ChildRefs[P, PK, C, CK]) index() model.Index {
	x := model.NewIndex(r.parents.Name(), bson.D{{Key: r.path, Value: 1}})
	x.Why = "the documents of " + r.parents.Name() + " that list a document of " + r.children.Name()
	return x
}

// Relations returns the relation, for diagrams: many parents may list many children.
func (r *ChildRefs[P, PK, C, CK]) Relations() []model.Relation {
	return []model.Relation{{
		From: r.parents.Name(), FromPath: r.path, To: r.children.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "child references",
	}}
}
