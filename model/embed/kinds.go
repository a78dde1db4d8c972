package embed

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Kinds queries values of a [Union] by type. The values are whole documents, fields or
// array elements of one collection.
//
// # Indexes and checks
//
// Indexes returns the indexes that [KindsSpec] declares.
//
// Checks returns one check, which finds unknown and missing tags. [Kinds.Retag] stores
// missing tags.
//
// Cost: the check reads every document.
type Kinds[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	k    *kinds
}

// KindsSpec says where the values of a [Kinds] are and which indexes they have. The zero
// value is valid.
type KindsSpec struct {
	Path    string      // path of the values; "" means whole documents
	ByTag   bool        // adds an index on the [Union]'s tag, for [Kinds.Of] and [Only]
	Indexes []KindIndex // indexes on the values' fields
}

// A KindIndex is an index on fields of a [Union]'s values: see [Kinds].
type KindIndex struct {
	Tag    string // only documents with a value of this tag are indexed; "" means all
	Keys   bson.D // keys of the index, as paths within a value
	Unique bool   // the index is unique; refused for values in arrays
}

// A KindCount is the number of values with the same tag: see [Kinds.Counts].
type KindCount struct {
	Tag bson.RawValue `bson:"tag"` // stored tag; null for values without a tag
	N   int64         `bson:"n"`
}

// kinds is the non-generic core of Kinds.
type kinds struct {
	docs    *core.Docs
	u       *union
	path    string
	list    bool // the path is an array
	byTag   bool
	indexes []KindIndex
}

// NewKinds declares that c's documents, or the values at KindsSpec.Path, are values of u.
// NewKinds panics with a [*model.DeclarationError] if
//
//   - c's registry doesn't contain u: see [Union.Options] and [Union.Register]
//   - the values don't have the Go type I
//   - a KindIndex has an unknown tag, or a field that the tag's type lacks
func NewKinds[D, K, I any](c *model.Collection[D, K], u *Union[I], spec KindsSpec) *Kinds[D, K] {
	var of *union
	if u != nil {
		of = u.u
	}
	out := &Kinds[D, K]{model.Parts{}, c, newKinds(c.Docs(), of, spec)}
	out.Parts = model.NewParts(out.k.all, nil, out.k.checks, out.k.footprints).WithDocs(c.Docs()).
		WithReactions(out.k.reactions)
	return out
}

func newKinds(c *core.Docs, u *union, s KindsSpec) *kinds {
	place := core.Place(fmt.Sprintf("NewKinds of %s", c.Name()))
	switch {
	case c.IsZero() || u == nil:
		place.Fail("the collection or union is nil", "declare them with NewCollection and NewUnion")
	case !u.registeredIn(c.Codec().Registry()):
		place.Fail("the collection's registry doesn't know the union", "declare the collection with the union's Options()")
	}
	k := &kinds{docs: c, u: u, path: s.Path, byTag: s.ByTag}
	if typ := c.Type(); s.Path != "" {
		f := c.MustField(s.Path)
		if k.list = f.IsArray(); f.Type != u.iface || f.Arrays > 1 {
			place.Fail(fmt.Sprintf("path %q doesn't hold values of type %s", s.Path, u.iface),
				"declare the field, or the slice, with the union's interface type")
		}
		if f.Arrays > 0 && !k.list {
			place.Fail(fmt.Sprintf("path %q lies inside the array %q", s.Path, f.Array),
				"keep the values, or the array of values, outside arrays")
		}
	} else if typ != u.iface {
		place.Fail(fmt.Sprintf("the documents are of type %s, not %s", typ, u.iface),
			"declare the collection with the union's interface type, or give a Path")
	}
	for _, x := range s.Indexes {
		k.checkIndex(place, x)
		x.Keys = slices.Clone(x.Keys)
		k.indexes = append(k.indexes, x)
	}
	return k
}

func (k *kinds) checkIndex(place core.Place, x KindIndex) {
	if _, known := k.u.byTag[x.Tag]; x.Tag != "" && !known {
		place.Fail(fmt.Sprintf("an index of the tag %q", x.Tag), "name a tag of the union: "+k.u.names())
	}
	if x.Unique && k.list {
		place.Fail("an index on an array is unique",
			"leave Unique out, or store the unique values in documents of their own: a unique index on an array also contains a null for each element without the field")
	}
	checkKeys(place, x.Keys)
	for _, e := range x.Keys {
		if err := k.checkField(x.Tag, e.Key); err != nil {
			place.Fail(fmt.Sprintf("an index of %q: %v", e.Key, err), "name a field of the type that the index is for")
		}
	}
}

// checkField checks that the tag's type stores the field. An empty tag means any type.
func (k *kinds) checkField(tag, name string) (err error) {
	for _, c := range k.u.cases {
		if name == k.u.tag || name == "_id" && k.path == "" {
			return nil
		}
		if c.unknown != nil || tag != "" && tag != c.tag {
			continue
		}
		var l *core.Layout
		if l, err = core.LayoutOf(c.base(), k.docs.Codec()); err == nil {
			_, err = l.Resolve(name, k.docs.Codec())
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// Of returns the query of the documents in which a value has one of the tags. Without
// KindsSpec.Path, the value is the whole document. No tag, or an unknown tag, gives a
// [*model.ValueError].
//
// Cost: one command, by the index on the tag if KindsSpec.ByTag is set.
func (k *Kinds[D, K]) Of(tags ...string) (f *model.Find[D]) {
	f = k.docs.Find(nil)
	k.k.of(&f.Query, tags)
	return f
}

// Having returns the query of the documents in which a value with this tag matches the
// conditions on its fields: {author: "Doctorow"}. In an array, one element must match all
// conditions. $and, $or and $nor are allowed. An unknown tag, or a field that the tag's
// type lacks, gives a [*model.ValueError].
//
// Cost: one command, served by an index of KindsSpec.Indexes. The index's Tag must be tag
// or "". Its first field must be in conditions, outside $and, $or and $nor. Without such
// an index, the query uses the index of KindsSpec.ByTag, if set.
func (k *Kinds[D, K]) Having(tag string, conditions bson.D) (f *model.Find[D]) {
	f = k.docs.Find(nil)
	k.k.having(&f.Query, tag, conditions)
	return f
}

// Only returns the query of the documents of one type, decoded as T. T is a type that
// [Case] declares, or a pointer to such a type. For another T, or if KindsSpec.Path is
// set, the query gives a [*model.ValueError].
//
// Cost: see [Kinds.Of].
func Only[T, D, K any](k *Kinds[D, K]) *model.Find[T] {
	f := new(model.Find[T])
	if k == nil {
		f.Err = &model.ValueError{Field: "kinds", Reason: "is nil: give a result of NewKinds"}
		return f
	}
	f.Query = k.docs.Find(nil).Query
	k.k.only(&f.Query, reflect.TypeFor[T]())
	return f
}

// Retag returns the write that sets tag in values whose tag is missing or null. Only
// documents that match filter change. The write is idempotent. An undeclared tag gives a
// [*model.ValueError]. So does an array type at KindsSpec.Path.
//
// Cost: one command, which writes each document that changes.
func (k *Kinds[D, K]) Retag(filter bson.D, tag string) model.Write { return k.k.assign(filter, tag) }

// Counts returns the pipeline that counts the [Union] values with each tag, sorted by
// tag. Undeclared tags are included.
//
// Cost: one command, which reads every document.
func (k *Kinds[D, K]) Counts() *model.Aggregate[KindCount] {
	return model.AggregateAs[KindCount](k.docs, k.k.counts())
}

func (k *kinds) at(field string) string {
	if k.path == "" {
		return field
	}
	return k.path + "." + field
}

func (k *kinds) tag() string { return k.at(k.u.tag) }

func (k *kinds) index(x KindIndex) model.Index {
	keys := make(bson.D, len(x.Keys))
	for i, e := range x.Keys {
		keys[i] = bson.E{Key: k.at(e.Key), Value: e.Value}
	}
	out := model.NewIndex(k.docs.Name(), keys)
	out.Unique = x.Unique
	out.Why = "values of " + k.u.iface.Name() + " by their fields"
	if x.Tag != "" {
		out.Name += "_" + x.Tag
		out.Partial = bson.D{{Key: k.tag(), Value: x.Tag}}
		out.Why = "values of " + k.u.iface.Name() + " of type " + x.Tag + " by their fields"
	}
	return out
}

func (k *kinds) all() (out []model.Index) {
	if k.byTag {
		x := k.index(KindIndex{Keys: bson.D{{Key: k.u.tag, Value: 1}}})
		x.Why = "values of " + k.u.iface.Name() + " by type"
		out = append(out, x)
	}
	for _, x := range k.indexes {
		out = append(out, k.index(x))
	}
	return out
}

// tagIndex returns the name of the index on the tag, or "".
func (k *kinds) tagIndex() string {
	if k.byTag {
		return k.all()[0].Name
	}
	return ""
}

func (k *kinds) checkTag(tag string) error {
	if _, known := k.u.byTag[tag]; !known {
		return k.docs.Refuse(k.tag(), tag, "isn't a declared tag; the tags are "+k.u.names())
	}
	return nil
}

//go:noinline
func (k *kinds) of(q *model.Query, tags []string) {
	q.Index = k.tagIndex()
	in := make(bson.A, len(tags))
	for i, tag := range tags {
		if q.Err = k.checkTag(tag); q.Err != nil {
			return
		}
		in[i] = tag
	}
	switch len(tags) {
	case 0:
		q.Err = k.docs.Refuse(k.tag(), nil, "no tag was given: give at least one")
	case 1:
		q.Filter = bson.D{{Key: k.tag(), Value: tags[0]}}
	default:
		q.Filter = bson.D{{Key: k.tag(), Value: bson.D{{Key: "$in", Value: in}}}}
	}
}

//go:noinline
func (k *kinds) having(q *model.Query, tag string, conditions bson.D) {
	if q.Err = k.checkTag(tag); q.Err != nil {
		return
	}
	cond, err := conditionsOn(k.docs, k.path, conditions, func(name string) error { return k.checkField(tag, name) })
	if q.Err = err; err != nil {
		return
	}
	all := bsondoc.JoinFilters(bson.D{{Key: k.u.tag, Value: tag}}, cond)
	switch {
	case k.list:
		// The server uses a partial index only if the filter names the tag by its full
		// path.
		q.Filter = bson.D{{Key: k.tag(), Value: tag}, {Key: k.path, Value: bson.D{{Key: "$elemMatch", Value: all}}}}
	case k.path != "":
		q.Filter = prefixed(k.path, all)
	default:
		q.Filter = all
	}
	q.Index = k.tagIndex()
	for _, x := range k.indexes {
		if (x.Tag == "" || x.Tag == tag) && has(cond, x.Keys[0].Key) {
			q.Index = k.index(x).Name
			return
		}
	}
}

//go:noinline
func (k *kinds) only(q *model.Query, t reflect.Type) {
	base := t
	if t.Kind() == reflect.Pointer {
		base = t.Elem()
	}
	i, known := k.u.byType[base]
	switch {
	case !known || k.u.cases[i].unknown != nil:
		q.Err = k.docs.Refuse(k.tag(), t.String(), "isn't a declared type; the types are "+k.u.names())
	case k.path != "":
		q.Err = k.docs.Refuse(k.path, t.String(), "is a type of embedded values, not of whole documents: use Of or Having")
	default:
		k.of(q, []string{k.u.cases[i].tag})
	}
}

func (k *kinds) assign(filter bson.D, tag string) model.Write {
	own, err := k.docs.Codec().CopyD(filter)
	if err != nil {
		err = k.docs.Refuse("filter", nil, err.Error())
	} else {
		err = cmp.Or(k.docs.CheckFilter(own), k.checkTag(tag))
	}
	if err == nil && k.list {
		err = k.docs.Refuse(k.path, nil, "is an array: change the elements with Embedded")
	}
	if err != nil {
		return model.Refused(k.docs.Name(), err)
	}
	untagged := bson.D{{Key: k.tag(), Value: nil}} // also matches documents without the field
	if k.path != "" {
		untagged = append(bson.D{{Key: k.path, Value: bson.D{{Key: "$type", Value: "object"}}}}, untagged...)
	}
	return model.Write{Collection: k.docs.Name(), Idempotent: true, Model: &mongo.UpdateManyModel{
		Filter: bsondoc.JoinFilters(own, untagged),
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: k.tag(), Value: tag}}}},
	}}
}

func (k *kinds) counts() (p mongo.Pipeline) {
	if k.path != "" {
		p = append(p, bson.D{{Key: "$unwind", Value: "$" + k.path}})
	}
	return append(p,
		bson.D{{
			Key:   "$group",
			Value: bson.D{{Key: "_id", Value: "$" + k.tag()}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}},
		}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "tag", Value: "$_id"}, {Key: "n", Value: 1}}}},
	)
}

func (k *kinds) footprints() []model.Footprint {
	out := model.Reads.In(k.docs.Name(), k.path, k.tag())
	if !k.list {
		out = append(out, model.Mends.In(k.docs.Name(), k.tag())...)
	}
	for _, x := range k.indexes {
		for _, key := range x.Keys {
			out = append(out, model.Reads.In(k.docs.Name(), k.at(key.Key))...)
		}
	}
	return out
}
