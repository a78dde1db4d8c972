package model

import (
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Kinds are the documents of a collection, or what they hold at a path, as values of a [Union]: what is asked of them by type. Make
// it with [NewKinds].
type Kinds[D, K any] struct {
	k *kinds
}

// KindsSpec says where the values are and which indexes they have. The zero value is valid.
type KindsSpec struct {
	Path    string      // of the field, or array, that holds values of the union; "" means that the documents themselves are
	ByTag   bool        // an index on the tag: for [Kinds.Of] and [Only] without other conditions
	Indexes []KindIndex // by fields of the values
}

// A KindIndex is an index by fields of the values, of one type or of all.
type KindIndex struct {
	Tag    string // the type: a partial index, which leaves the others out, of queries that ask for the tag too; "" means all
	Keys   bson.D // paths within a value, which the type must have
	Unique bool   // no two values of the type share them; not in arrays, whose index holds the other elements too
}

// A KindCount is how many values there are of a type.
type KindCount struct {
	Tag bson.RawValue `bson:"tag"` // as it is stored; null for values without one
	N   int64         `bson:"n"`
}

// kinds is what of Kinds doesn't depend on types.
type kinds struct {
	decl    *declaration
	u       *union
	path    string
	list    bool // the path is an array
	byTag   bool
	indexes []KindIndex
}

// NewKinds declares that c's documents are values of a union, or hold some at the spec's path. It panics with a [*DeclarationError]
// when the collection is not declared with the union's options, by which its values are read and written; when the documents, or the
// field, are of another type than the union's; when an index is of a tag that isn't declared, or of a field that its type doesn't
// have, sorts by something else than 1 and -1, or has no key. At most one spec may be given.
func NewKinds[D, K, I any](c *Collection[D, K], u *Union[I], spec ...KindsSpec) *Kinds[D, K] {
	var of *union
	if u != nil {
		of = u.u
	}
	return &Kinds[D, K]{newKinds(declOf(c), of, spec)}
}

func newKinds(c *declaration, u *union, specs []KindsSpec) *kinds {
	place := fmt.Sprintf("NewKinds of %s", c.orZero().name)
	fail := func(problem, remedy string) { panic(&DeclarationError{problem, place, remedy}) }
	var s KindsSpec
	switch {
	case len(specs) > 1:
		fail("more than one KindsSpec", "give one")
	case c == nil || u == nil:
		fail("a nil collection or union", "declare them with NewCollection and NewUnion")
	case !u.registeredIn(c.codec.driverRegistry()):
		fail("the collection's registry doesn't know the union", "declare the collection with the union's Options()")
	case len(specs) == 1:
		s = specs[0]
	}
	k := &kinds{decl: c, u: u, path: s.Path, byTag: s.ByTag}
	if typ := c.typ; s.Path != "" {
		f := c.mustField(s.Path)
		if k.list = f.IsArray(); f.Type != u.iface || f.Arrays > 1 {
			fail(fmt.Sprintf("path %q doesn't hold values of %s", s.Path, u.iface), "declare the field, or the slice, with the union's interface type")
		}
	} else if typ != u.iface {
		fail(fmt.Sprintf("the documents are of type %s, not %s", typ, u.iface), "declare the collection with the union's interface type, or give a Path")
	}
	for _, x := range s.Indexes {
		k.checkIndex(fail, x)
		x.Keys = slices.Clone(x.Keys)
		k.indexes = append(k.indexes, x)
	}
	return k
}

func (k *kinds) checkIndex(fail func(problem, remedy string), x KindIndex) {
	if _, known := k.u.byTag[x.Tag]; x.Tag != "" && !known {
		fail(fmt.Sprintf("an index of the tag %q", x.Tag), "name a tag of the union: "+k.u.names())
	}
	if x.Unique && k.list {
		fail("an index on an array is unique", "it would hold the other elements' missing fields too: keep what is unique in documents of their own")
	}
	if len(x.Keys) == 0 {
		fail("an index has no key", "name fields of the values")
	}
	for i, e := range x.Keys {
		if _, _, ok := directed(e.Value); !ok || hasKey(x.Keys[:i], e.Key) {
			fail(fmt.Sprintf("an index has %s: %s", e.Key, shell(e.Value)), "name each field once, by 1 or -1")
		}
		if err := k.checkField(x.Tag, e.Key); err != nil {
			fail(fmt.Sprintf("an index of %q: %v", e.Key, err), "name a field of the type that it is for")
		}
	}
}

// checkField checks that the type of a tag, or any if that is "", stores a field.
func (k *kinds) checkField(tag, name string) (err error) {
	for _, c := range k.u.cases {
		if name == k.u.tag || name == "_id" && k.path == "" {
			return nil
		}
		if c.unknown != nil || tag != "" && tag != c.tag {
			continue
		}
		var l *layout
		if l, err = layoutOf(c.base(), k.decl.jsonTags()); err == nil {
			_, err = l.resolve(name, k.decl.codec)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// Of returns the query of the documents that are, or hold, a value of one of the types.
//
// Bad input, refused: no tag, one that isn't declared. Cost: one command, served by the index on the tag where the spec asks for
// one, or by one of the spec for what is added with Where.
func (k *Kinds[D, K]) Of(tags ...string) (f Find[D]) {
	k.k.of(&f.Query, tags)
	return f
}

// Having returns the query of the documents that are, or hold, a value of one type which fulfils conditions on its fields: {author:
// "Doctorow"}. In an array, one element fulfils all of them. $and, $or and $nor of conditions may stand beside them.
//
// Bad input, refused: a tag that isn't declared, a field that its type doesn't store, another operator in a field's place.
//
// Cost: one command, served by an index of the spec for this type, or for all, whose first field has a condition.
func (k *Kinds[D, K]) Having(tag string, conditions bson.D) (f Find[D]) {
	k.k.having(&f.Query, tag, conditions)
	return f
}

// Only returns the query of the documents of one type, decoded as that. T is one of the union's, or a pointer to it, or what a
// pointer that is declared points at. It is refused when T is none, or the values are not whole documents.
//
// Cost: as [Kinds.Of].
func Only[T, D, K any](k *Kinds[D, K]) (f Find[T]) {
	if k == nil {
		f.Err = &ValueError{Field: "kinds", Reason: "is nil: give what NewKinds returned"}
		return f
	}
	k.k.only(&f.Query, reflect.TypeFor[T]())
	return f
}

// Retag returns the write that gives a tag to the values that fulfil a filter on their documents and have none, or null. It can be
// run again. It is refused for values in arrays.
//
// Cost: one command, which writes as many documents as match. The tag comes after the fields that are there.
func (k *Kinds[D, K]) Retag(filter bson.D, tag string) Write { return k.k.assign(filter, tag) }

// Counts returns how many values there are of each type, those of no declared one too, in the order of tags.
//
// Cost: one command that reads every document.
func (k *Kinds[D, K]) Counts() (a Aggregate[KindCount]) {
	k.k.decl.aggregation(&a.Aggregation, nil)
	a.Pipeline = k.k.counts()
	return a
}

// Indexes returns the index on the tag, where the spec asks for it, and those by fields of the values; those of one type are partial.
func (k *Kinds[D, K]) Indexes() []Index { return k.k.all() }

// Relations returns none.
func (k *Kinds[D, K]) Relations() []Relation { return nil }

func (k *kinds) at(field string) string {
	if k.path == "" {
		return field
	}
	return k.path + "." + field
}

func (k *kinds) tag() string { return k.at(k.u.tag) }

func (k *kinds) index(x KindIndex) Index {
	keys := make(bson.D, len(x.Keys))
	for i, e := range x.Keys {
		keys[i] = bson.E{Key: k.at(e.Key), Value: e.Value}
	}
	out := NewIndex(k.decl.name, keys)
	out.Unique = x.Unique
	out.Why = "values of " + k.u.iface.Name() + " by their fields"
	if x.Tag != "" {
		out.Name += "_" + x.Tag
		out.Partial = bson.D{{Key: k.tag(), Value: x.Tag}}
		out.Why = "values of " + k.u.iface.Name() + " of type " + x.Tag + " by their fields"
	}
	return out
}

func (k *kinds) all() (out []Index) {
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

// tagIndex is the name of the index on the tag, or "".
func (k *kinds) tagIndex() string {
	if k.byTag {
		return k.all()[0].Name
	}
	return ""
}

func (k *kinds) checkTag(tag string) error {
	if _, known := k.u.byTag[tag]; !known {
		return k.decl.refuse(k.tag(), tag, "is no tag that is declared; there are "+k.u.names())
	}
	return nil
}

//go:noinline
func (k *kinds) of(q *Query, tags []string) {
	k.decl.query(q, nil)
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
		q.Err = k.decl.refuse(k.tag(), nil, "no tag was given")
	case 1:
		q.Filter = bson.D{{Key: k.tag(), Value: tags[0]}}
	default:
		q.Filter = bson.D{{Key: k.tag(), Value: bson.D{{Key: "$in", Value: in}}}}
	}
}

//go:noinline
func (k *kinds) having(q *Query, tag string, conditions bson.D) {
	k.decl.query(q, nil)
	if q.Err = k.checkTag(tag); q.Err != nil {
		return
	}
	cond, err := k.decl.conditionsOn(k.path, conditions, func(name string) error { return k.checkField(tag, name) })
	if q.Err = err; err != nil {
		return
	}
	all := And(bson.D{{Key: k.u.tag, Value: tag}}, cond)
	switch {
	case k.list:
		// The tag stands by its path too: only so is it seen that the filter asks for what a partial index holds.
		q.Filter = bson.D{{Key: k.tag(), Value: tag}, {Key: k.path, Value: bson.D{{Key: "$elemMatch", Value: all}}}}
	case k.path != "":
		q.Filter = prefixed(k.path, all)
	default:
		q.Filter = all
	}
	q.Index = k.tagIndex()
	for _, x := range k.indexes {
		if (x.Tag == "" || x.Tag == tag) && hasKey(cond, x.Keys[0].Key) {
			q.Index = k.index(x).Name
			return
		}
	}
}

//go:noinline
func (k *kinds) only(q *Query, t reflect.Type) {
	base := t
	if t.Kind() == reflect.Pointer {
		base = t.Elem()
	}
	i, known := k.u.byType[base]
	switch {
	case !known || k.u.cases[i].unknown != nil:
		k.decl.query(q, nil)
		refuse(q, k.tag(), t.String(), "is not a type that is declared; there are "+k.u.names())
	case k.path != "":
		k.decl.query(q, nil)
		refuse(q, k.path, t.String(), "the values are parts of documents: use Of or Having")
	default:
		k.of(q, []string{k.u.cases[i].tag})
	}
}

func (k *kinds) assign(filter bson.D, tag string) Write {
	own, err := k.decl.codec.copyD(filter)
	if err != nil {
		err = k.decl.refuse("filter", nil, err.Error())
	} else {
		err = k.checkTag(tag)
	}
	if err == nil && k.list {
		err = k.decl.refuse(k.path, nil, "the values are elements of an array")
	}
	if err != nil {
		return Refused(k.decl.name, err)
	}
	untagged := bson.D{{Key: k.tag(), Value: nil}} // or none
	if k.path != "" {
		untagged = append(bson.D{{Key: k.path, Value: bson.D{{Key: "$type", Value: "object"}}}}, untagged...)
	}
	return Write{Collection: k.decl.name, Once: true, Model: &mongo.UpdateManyModel{
		Filter: And(own, untagged), Update: bson.D{{Key: "$set", Value: bson.D{{Key: k.tag(), Value: tag}}}},
	}}
}

func (k *kinds) counts() (p mongo.Pipeline) {
	if k.path != "" {
		p = append(p, bson.D{{Key: "$unwind", Value: "$" + k.path}})
	}
	return append(p,
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + k.tag()}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "tag", Value: "$_id"}, {Key: "n", Value: 1}}}},
	)
}
