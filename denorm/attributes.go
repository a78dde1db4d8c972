package denorm

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Attributes are properties that differ from document to document, kept as an array of names and values, so that one index
// serves queries by any of them: product.specs holds {k: 'length', v: 30}. Within a document each name stands once, and
// names are data: they may hold dots and dollar signs. Make it with [NewAttributes].
//
// Source: the attribute pattern, https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/attribute-pattern/.
type Attributes[D, K any] struct {
	owners *model.Collection[D, K]
	a      attributes
}

// AttributesSpec names the fields of an attribute. The zero value is valid.
type AttributesSpec struct {
	Name  string // of the field that holds the name; "" means k
	Value string // of the field that holds the value; "" means v
}

// Attribute is one name with its value.
type Attribute struct {
	Name  string
	Value any
}

// AttributeUse says how many documents have an attribute with values of one BSON type, as [Attributes.Survey] counts.
type AttributeUse struct {
	Name      string `bson:"name"`
	Type      string `bson:"type"` // as $type names it
	Documents int64  `bson:"documents"`
}

// attributes is what of a declaration doesn't depend on types.
type attributes struct {
	collection  string
	path        string
	name, value string
}

// NewAttributes declares that the array at a path of the owners' documents holds attributes. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array or lies inside another, when its nil slice is stored as
// null, when an element has no such fields, or its name is no string. At most one spec may be given.
func NewAttributes[D, K any](owners *model.Collection[D, K], path string, spec ...AttributesSpec) *Attributes[D, K] {
	place := fmt.Sprintf("NewAttributes of %s.%s", owners.Name(), path)
	a := attributes{owners.Name(), path, "k", "v"}
	if len(spec) > 1 {
		panic(&model.DeclarationError{Problem: "more than one AttributesSpec", Place: place, Remedy: "give one"})
	}
	if len(spec) == 1 {
		for _, f := range []struct {
			to   *string
			from string
		}{{&a.name, spec[0].Name}, {&a.value, spec[0].Value}} {
			if f.from != "" {
				*f.to = f.from
			}
			if err := model.CheckKey(*f.to); err != nil {
				panic(&model.DeclarationError{Problem: fmt.Sprintf("field %q: %v", *f.to, err), Place: place, Remedy: "name a field of the elements, without dots"})
			}
		}
	}
	model.CheckArray(owners, path)
	f := model.MustField(owners, a.names())
	if !f.Open && (f.Type.Kind() != reflect.String || f.Arrays != 1) {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("the name at %q is a %s", a.names(), f.Type), Place: place, Remedy: "declare it as a string"})
	}
	model.MustField(owners, path+"."+a.value)
	return &Attributes[D, K]{owners, a}
}

func (a attributes) names() string { return a.path + "." + a.name }

// Set returns the write that gives an owner's attributes their values: an attribute that it has changes its value where it
// stands and keeps other fields beside it, one that it hasn't comes last. The owner must exist: else running it gives
// model.ErrStale. It is idempotent.
//
// Bad input, refused: no attribute, an empty name, a name given twice, a value that can't be stored.
//
// Cost: one command, one document, found by _id; an update by a pipeline, which can't be merged with others. Consistency:
// one atomic update, whatever others set at the same time.
func (a *Attributes[D, K]) Set(owner K, list ...Attribute) model.Write {
	values := make([]any, len(list))
	for i, x := range list {
		v, err := a.owners.Encode(x.Value)
		if err == nil {
			_, err = model.CheckNames(v, "")
		}
		if err != nil {
			return a.a.refuse(fmt.Sprintf("%s[%d].%s", a.a.path, i, a.a.value), nil, err.Error())
		}
		values[i] = v
	}
	id := a.owners.ByID(owner)
	if id.Err != nil {
		return model.Refused(a.a.collection, id.Err)
	}
	return a.a.set(id.Filter, list, values)
}

func (a attributes) set(id bson.D, list []Attribute, values []any) model.Write {
	names := make([]string, len(list))
	for i, x := range list {
		names[i] = x.Name
	}
	if w, bad := a.checkNames(names); bad {
		return w
	}
	held := mql.IfNull("$"+a.path, bson.A{})
	branches, fresh := bson.A{}, bson.A{held}
	for i, name := range names {
		becomes := bson.D{{Key: a.value, Value: mql.Literal(values[i])}}
		branches = append(branches, bson.D{
			{Key: "case", Value: bson.D{{Key: "$eq", Value: bson.A{"$$this." + a.name, mql.Literal(name)}}}},
			{Key: "then", Value: bson.D{{Key: "$mergeObjects", Value: bson.A{"$$this", becomes}}}},
		})
		one := bson.A{bson.D{{Key: a.name, Value: mql.Literal(name)}, {Key: a.value, Value: mql.Literal(values[i])}}}
		fresh = append(fresh, bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$in", Value: bson.A{mql.Literal(name), mql.IfNull("$"+a.names(), bson.A{})}}}, bson.A{}, one,
		}}})
	}
	fresh[0] = bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: held}, {Key: "in", Value: bson.D{{Key: "$switch", Value: bson.D{
		{Key: "branches", Value: branches}, {Key: "default", Value: "$$this"},
	}}}}}}}
	return model.Write{
		Collection: a.collection, Expect: model.One, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{Filter: id, Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{
			{Key: a.path, Value: bson.D{{Key: "$concatArrays", Value: fresh}}},
		}}}}},
	}
}

// Unset returns the write that takes attributes off an owner; those that it hasn't are passed over. The owner must exist.
// It is idempotent.
//
// Cost: one command, one document, found by _id.
func (a *Attributes[D, K]) Unset(owner K, names ...string) model.Write {
	if w, bad := a.a.checkNames(names); bad {
		return w
	}
	in := make(bson.A, len(names))
	for i, n := range names {
		in[i] = n
	}
	return a.owners.Update(owner, bson.D{{Key: "$pull", Value: bson.D{
		{Key: a.a.path, Value: bson.D{{Key: a.a.name, Value: bson.D{{Key: "$in", Value: in}}}}},
	}}})
}

// Equal returns the query of the documents whose attribute has a value.
//
// Cost: one command, served by [Attributes.Indexes]; on DocumentDB, which bounds it by the name alone, it reads all
// documents that have the attribute.
func (a *Attributes[D, K]) Equal(name string, value any) model.Find[D] {
	v, err := a.owners.Encode(value)
	return a.find(name, a.a.elem(name, model.Eq(v)), err)
}

// Match returns the query of the documents whose attribute fulfils a condition of operators: {$gte: 20, $lt: 40}. Queries
// by several attributes are joined by Where, with [Attributes.Filter].
//
// Cost: one command, served by [Attributes.Indexes].
func (a *Attributes[D, K]) Match(name string, condition bson.D) model.Find[D] {
	f := a.find(name, a.a.elem(name, condition), nil)
	if err := a.a.checkCondition(condition); err != nil && f.Err == nil {
		f.Err = err
	}
	return f
}

// Has returns the query of the documents that have an attribute, whatever its value.
//
// Cost: one command, served by [Attributes.Indexes].
func (a *Attributes[D, K]) Has(name string) model.Find[D] {
	return a.find(name, bson.D{{Key: a.a.names(), Value: name}}, nil)
}

// Filter returns the condition of [Attributes.Match], to be ANDed to other queries. What Match refuses it can't refuse: an
// empty name matches nothing that is stored by [Attributes.Set], and a condition that is not one of operators is compared as
// a value, as [Attributes.Equal] does.
func (a *Attributes[D, K]) Filter(name string, condition bson.D) bson.D {
	held := any(condition)
	if v, err := a.owners.Encode(condition); err == nil { // else the query that it is put into refuses it
		held = v
	}
	if a.a.checkCondition(condition) != nil {
		return a.a.elem(name, model.Eq(held))
	}
	return a.a.elem(name, held)
}

func (a *Attributes[D, K]) find(name string, filter bson.D, err error) model.Find[D] {
	f := a.owners.Find(filter)
	f.Index = a.a.index().Name
	if err != nil {
		err = &model.ValueError{Collection: a.a.collection, Field: a.a.path + "." + a.a.value, Reason: err.Error()}
	}
	if name == "" {
		err = &model.ValueError{Collection: a.a.collection, Field: a.a.names(), Reason: "the name is empty"}
	}
	if f.Err == nil {
		f.Err = err
	}
	return f
}

func (a attributes) elem(name string, condition any) bson.D {
	return bson.D{{Key: a.path, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: a.name, Value: name}, {Key: a.value, Value: condition}}}}}}
}

func (a attributes) checkCondition(condition bson.D) error {
	for _, e := range condition {
		if !strings.HasPrefix(e.Key, "$") {
			return &model.ValueError{Collection: a.collection, Field: e.Key, Reason: "is no operator: use Equal for a value that is a document"}
		}
	}
	if len(condition) == 0 {
		return &model.ValueError{Collection: a.collection, Field: a.path + "." + a.value, Reason: "the condition is empty: use Has"}
	}
	return nil
}

// checkNames refuses no name, an empty one, and one given twice.
func (a attributes) checkNames(names []string) (w model.Write, bad bool) {
	if len(names) == 0 {
		return a.refuse(a.path, nil, "no attribute was given"), true
	}
	seen := map[string]bool{}
	for i, n := range names {
		field := fmt.Sprintf("%s[%d].%s", a.path, i, a.name)
		switch {
		case n == "":
			return a.refuse(field, nil, "the name is empty"), true
		case seen[n]:
			return a.refuse(field, n, "is given twice"), true
		}
		seen[n] = true
	}
	return w, false
}

func (a attributes) refuse(field string, v any, reason string) model.Write {
	return model.Refused(a.collection, &model.ValueError{Collection: a.collection, Field: field, Value: v, Reason: reason})
}

// Indexes returns the one index on names and values, which serves queries by every attribute.
func (a *Attributes[D, K]) Indexes() []model.Index { return []model.Index{a.a.index()} }

func (a attributes) index() model.Index {
	x := model.NewIndex(a.collection, bson.D{{Key: a.names(), Value: 1}, {Key: a.path + "." + a.value, Value: 1}})
	x.Why = "documents of " + a.collection + " by any of their attributes"
	return x
}

// Relations returns none: the attributes live in their owner.
func (a *Attributes[D, K]) Relations() []model.Relation { return nil }
