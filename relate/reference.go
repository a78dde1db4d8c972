package relate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Reference is a declared path that holds ids of another collection's documents: books.pub-id leads to publishers. The
// techniques of this package return theirs ([ParentRef.References], [ChildRefs.References], [JoinCollection.References]);
// [NewOnDelete] is told what to do about each. The zero Reference leads nowhere, and is refused.
type Reference struct {
	from, path, to string
	list           string // the path of the array of ids, or of elements that hold one each; "" when the id is single
	key            string // of the id within an element; "" when the elements are the ids
	link           bool   // the id is that of a [Link]
	open           bool   // whether the path holds a list can't be told from the type
	deep           bool   // the path crosses more than one array
}

// A Referrer holds references: a technique of this package, or a [Reference] itself. No other type can be one.
type Referrer interface {
	References() []Reference
	referrer()
}

// From returns the name of the collection whose documents hold the ids.
func (r Reference) From() string { return r.from }

// Path returns the path that holds the ids.
func (r Reference) Path() string { return r.path }

// To returns the name of the collection that the ids lead to.
func (r Reference) To() string { return r.to }

// IsList reports whether a document holds a list of ids there, or of elements that hold one each.
func (r Reference) IsList() bool { return r.list != "" }

// String is the reference in words: "books.pub-id → publishers".
func (r Reference) String() string {
	list := ""
	if r.IsList() {
		list = "[]"
	}
	return r.from + "." + r.path + list + " → " + r.to
}

// References returns the reference itself.
func (r Reference) References() []Reference { return []Reference{r} }

func (r Reference) referrer() {}

// newReference takes a field apart.
func newReference(from string, f model.Field, to string) Reference {
	r := Reference{from: from, path: f.Path, to: to, list: f.Array, open: f.Open && f.Array == "", deep: f.Arrays > 1}
	if r.list != "" {
		r.key = strings.TrimPrefix(strings.TrimPrefix(f.Path, f.Array), ".")
	}
	return r
}

// References returns the one reference: from the children to their parent.
func (r *ParentRef[C, CK, P, PK]) References() []Reference {
	ref := newReference(r.in.children, r.ref.Field(), r.in.parents)
	ref.open = false // declared as single
	return []Reference{ref}
}

func (r *ParentRef[C, CK, P, PK]) referrer() {}

// References returns the one reference: from the parents to the children that they list.
func (r *ChildRefs[P, PK, C, CK]) References() []Reference {
	return []Reference{{from: r.in.parents, path: r.in.path, to: r.in.children, list: r.in.list, key: r.in.key}}
}

func (r *ChildRefs[P, PK, C, CK]) referrer() {}

// References returns the one reference: from the documents that hold the ids to those that they join.
func (j *Join[P, PK, C, CK]) References() []Reference {
	return []Reference{newReference(j.parents.Name(), j.ids.Field(), j.children.Name())}
}

func (j *Join[P, PK, C, CK]) referrer() {}

// ItemReference returns the reference from the items to their owner.
func (t *TwoWay[O, OK, I, IK]) ItemReference() Reference {
	return Reference{from: t.in.items, path: t.in.refID(), to: t.in.owners, link: t.in.versioned}
}

// ListReference returns the reference from the owners to the items that they list.
func (t *TwoWay[O, OK, I, IK]) ListReference() Reference {
	return listOf(t.in.owners, t.in.list, t.in.items, t.in.versioned)
}

// LeftReference returns the reference from the left documents to the right ones that they list.
func (m *ManyToMany[L, LK, R, RK]) LeftReference() Reference {
	return listOf(m.in.left, m.in.leftPath, m.in.right, m.in.version != "")
}

// RightReference returns the reference from the right documents to the left ones that they list.
func (m *ManyToMany[L, LK, R, RK]) RightReference() Reference {
	return listOf(m.in.right, m.in.rightPath, m.in.left, m.in.version != "")
}

func listOf(from, list, to string, links bool) Reference {
	r := Reference{from: from, path: list, to: to, list: list, link: links}
	if links {
		r.path, r.key = list+".id", "id"
	}
	return r
}

// check says why documents can't be mended along the reference, and what to do, or returns "".
func (r Reference) check() (problem, remedy string) {
	switch {
	case r.from == "" || r.to == "":
		return "a Reference that leads nowhere", "take it from a technique"
	case r.open:
		return fmt.Sprintf("whether %s.%s holds a list can't be told from its type", r.from, r.path), "declare it with NewParentRef or NewChildRefs"
	case r.deep:
		return fmt.Sprintf("%s.%s crosses more than one array", r.from, r.path), "name one array of ids, or one array of documents that each hold an id"
	}
	return "", ""
}

func (r Reference) index() model.Index {
	x := model.NewIndex(r.from, bson.D{{Key: r.path, Value: 1}})
	x.Why = "the documents of " + r.from + " that refer to one of " + r.to
	return x
}

// refers is the filter of the documents that hold one of some ids.
func (r Reference) refers(ids bson.A) bson.D {
	in := bson.D{{Key: "$in", Value: ids}}
	if r.open {
		in = append(in, bson.E{Key: "$not", Value: bson.D{{Key: "$type", Value: "array"}}})
	}
	return bson.D{{Key: r.path, Value: in}}
}

// detach is the update that takes ids away: out of a list, or the single one.
func (r Reference) detach(ids bson.A) bson.D {
	switch {
	case r.list != "" && r.key == "":
		return bson.D{{Key: "$pullAll", Value: bson.D{{Key: r.list, Value: ids}}}}
	case r.list != "":
		in := bson.D{{Key: r.key, Value: bson.D{{Key: "$in", Value: ids}}}}
		return bson.D{{Key: "$pull", Value: bson.D{{Key: r.list, Value: in}}}}
	case r.link:
		base := strings.TrimSuffix(r.path, ".id")
		return bson.D{
			{Key: "$set", Value: bson.D{{Key: base + ".id", Value: nil}, {Key: base + ".ended", Value: true}}},
			{Key: "$inc", Value: bson.D{{Key: base + ".v", Value: int64(1)}}},
		}
	}
	return bson.D{{Key: "$unset", Value: bson.D{{Key: r.path, Value: ""}}}}
}

// replace is the update that puts another id in the place of some, and its array filters.
func (r Reference) replace(ids bson.A, by any) (update bson.D, arrayFilters []any) {
	if r.list == "" {
		return set(r.path, by), nil
	}
	in := bson.D{{Key: "$in", Value: ids}}
	return set(join(r.list+".$[e]", r.key), by), []any{bson.D{{Key: join("e", r.key), Value: in}}}
}

// updateMany is a write to all documents that a filter on the reference matches. Its own effect takes them out of the
// filter, which is why it can be run again.
func (r Reference) updateMany(filter, update bson.D) model.Write {
	return model.Write{
		Collection: r.from, Index: r.index().Name, Once: true,
		Model: &mongo.UpdateManyModel{Filter: filter, Update: update},
	}
}

// valuesAt returns what a document holds at a dotted path, arrays on the way and at its end taken apart.
func valuesAt(doc bson.Raw, path string) []bson.RawValue {
	head, rest, nested := strings.Cut(path, ".")
	v, err := doc.LookupErr(head)
	if err != nil {
		return nil
	}
	values := []bson.RawValue{v}
	if list, ok := v.ArrayOK(); ok {
		if values, err = list.Values(); err != nil {
			return nil
		}
	}
	if !nested {
		return values
	}
	var out []bson.RawValue
	for _, v := range values {
		if inner, ok := v.DocumentOK(); ok {
			out = append(out, valuesAt(inner, rest)...)
		}
	}
	return out
}

// canBeID reports whether an _id can have the value. A regular expression would be a pattern in a filter, and a document
// whose names begin with a dollar sign an operator.
func canBeID(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeArray, bson.TypeRegex:
		return false
	case bson.TypeEmbeddedDocument:
		doc, ok := v.DocumentOK()
		if !ok || len(doc) < 5 {
			return false
		}
		first, err := doc.IndexErr(0)
		return err != nil || !strings.HasPrefix(first.Key(), "$") || first.Key() == "$ref" // a DBRef is a value
	}
	return true
}

// chunked cuts ids, copied, into what one command holds: at most n, and about 4 MiB of them.
func chunked(ids []bson.RawValue, n int) []bson.A {
	const maxBytes, overhead = 4 << 20, 12
	var out []bson.A
	chunk, bytes := bson.A{}, 0
	for _, id := range ids {
		size := len(id.Value) + overhead
		if len(chunk) > 0 && (len(chunk) == n || bytes+size > maxBytes) {
			out = append(out, chunk)
			chunk, bytes = bson.A{}, 0
		}
		chunk = append(chunk, clone(id))
		bytes += size
	}
	if len(chunk) > 0 {
		out = append(out, chunk)
	}
	return out
}

// rawID is an encoded id as a value of its own.
func rawID(id any) (bson.RawValue, error) {
	if v, ok := id.(bson.RawValue); ok {
		return clone(v), nil
	}
	t, data, err := bson.MarshalValue(id)
	return bson.RawValue{Type: t, Value: data}, err
}

// asArray is copied ids as an array.
func asArray(ids []bson.RawValue) bson.A {
	out := make(bson.A, len(ids))
	for i, id := range ids {
		out[i] = clone(id)
	}
	return out
}

func clone(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
}
