package denorm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// maxNumbered leaves some of a collection's 64 indexes to others.
const maxNumbered = 60

// numbered is what of a [Numbered] doesn't depend on its types.
type numbered struct {
	nestedList
	max       int
	separator string
	key       string
	names     map[string]numberedPlace // of all numbered fields
}

// numberedPlace is what a numbered name stands for: a position, from 1, and the index of a column.
type numberedPlace struct{ position, column int }

func declareNumbered(list nestedList, spec NumberedSpec, field func(string) model.Field, lookup func(string) (model.Field, error)) *numbered {
	place := fmt.Sprintf("NewNumbered of %s.%s", list.collection, list.path)
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	if strings.Contains(list.path, ".") {
		fail(fmt.Sprintf("path %q lies within a document", list.path), "flat documents have fields of their own only: move the list up")
	}
	n := &numbered{declareNested(place, list, field), spec.Max, spec.Separator, spec.Key, map[string]numberedPlace{}}
	if n.separator == "" {
		n.separator = "_"
	}
	switch {
	case spec.Max < 1 || spec.Max > maxNumbered:
		fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 to 60: each position has an index, and a collection at most 64")
	case strings.ContainsAny(n.separator, "0123456789$.\x00"):
		fail(fmt.Sprintf("Separator is %q", n.separator), "use one without digits, dots, dollar signs and NULs")
	case n.key != "" && !slices.Contains(n.columns(), n.key):
		fail(fmt.Sprintf("Key %q is not a field of the elements", n.key), "name one of Fields, or for plain values the list itself")
	}
	for i := 1; i <= n.max; i++ {
		for c, column := range n.columns() {
			name := n.name(column, i)
			if f, err := lookup(name); name == n.path || err == nil && !f.Open {
				fail(fmt.Sprintf("the documents have a field %q already", name), "use another Separator")
			}
			n.names[name] = numberedPlace{i, c}
		}
	}
	return n
}

func (n *numbered) name(column string, position int) string {
	return column + n.separator + strconv.Itoa(position)
}

// all are the names of all numbered fields from a position on.
func (n *numbered) all(from int) (out []string) {
	for i := from; i <= n.max; i++ {
		for _, c := range n.columns() {
			out = append(out, n.name(c, i))
		}
	}
	return out
}

func (n *numbered) fits(count int) error {
	if count > n.max {
		return n.refused(n.path, count, fmt.Sprintf("has more elements than the %d positions that there are", n.max))
	}
	return nil
}

// flatten writes the list of a document flat, in its place.
func (n *numbered) flatten(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, n.refused("document", nil, err.Error())
	}
	out := make(bson.D, 0, len(elems))
	for _, e := range elems {
		_, taken := n.names[e.Key()]
		switch {
		case taken:
			return nil, n.refused(e.Key(), nil, "has the name of a numbered field")
		case e.Key() != n.path || e.Value().Type == bson.TypeNull:
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		case e.Value().Type != bson.TypeArray:
			return nil, n.refused(n.path, e.Value(), "is not a list")
		default:
			list, err := n.listed(e.Value())
			if err == nil {
				err = n.fits(len(list))
			}
			if err != nil {
				return nil, err
			}
			out = append(out, n.flat(list)...)
		}
	}
	return bson.Marshal(out)
}

// flat are the count and the numbered fields of a list.
func (n *numbered) flat(list []flatElement) bson.D {
	out := bson.D{{Key: n.path, Value: len(list)}}
	for i, e := range list {
		out = append(out, n.at(i+1, e)...)
	}
	return out
}

// at are the numbered fields of an element.
func (n *numbered) at(position int, e flatElement) (out bson.D) {
	for c, column := range n.columns() {
		if e[c].Type != 0 {
			out = append(out, bson.E{Key: n.name(column, position), Value: e[c]})
		}
	}
	return out
}

// back nests a flat document.
func (n *numbered) back(flat bson.Raw) (bson.Raw, error) {
	elems, err := flat.Elements()
	if err != nil {
		return nil, n.refused("document", nil, err.Error())
	}
	list, highest := make([]flatElement, n.max), 0
	for i := range list {
		list[i] = make(flatElement, len(n.columns()))
	}
	out, at := make(bson.D, 0, len(elems)), -1
	for _, e := range elems {
		if p, ok := n.names[e.Key()]; ok {
			list[p.position-1][p.column] = e.Value()
			highest = max(highest, p.position)
			continue
		}
		if e.Key() == n.path {
			at = len(out)
		}
		out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
	}
	if at >= 0 && (out[at].Value.(bson.RawValue).Type != bson.TypeArray || highest > 0) {
		v := out[at].Value.(bson.RawValue)
		count, ok := countOf(v)
		switch {
		case v.Type == bson.TypeNull && highest == 0:
		case !ok || count < highest || count > n.max:
			return nil, n.refused(n.path, v, fmt.Sprintf("is not the count of numbered fields that reach to %d", highest))
		case len(n.fields) == 0 && count > highest:
			return nil, n.refused(n.path, v, "counts a value that is not there")
		default:
			nested := make(bson.A, count)
			for i := range nested {
				nested[i] = n.nested(list[i])
			}
			out[at].Value = nested
		}
	} else if at < 0 && highest > 0 {
		return nil, n.refused(n.path, nil, "there are numbered fields, and no count")
	}
	return bson.Marshal(out)
}

// countOf reads a count, of whichever number type.
func countOf(v bson.RawValue) (int, bool) {
	x, _ := bsonval.FromRaw(v)
	n, ok := bsonval.Int64(x)
	return int(n), ok && n >= 0 && n <= math.MaxInt32
}

// stored makes of an insert or a replacement one of the flat document.
func (n *numbered) stored(w model.Write) model.Write {
	if w.Err != nil {
		return w
	}
	var err error
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		m.Document, err = n.flatten(m.Document.(bson.Raw))
	case *mongo.ReplaceOneModel:
		m.Replacement, err = n.flatten(m.Replacement.(bson.Raw))
	}
	if err != nil {
		return model.Refused(n.collection, err)
	}
	return w
}

// set is the update that writes a whole list.
func (n *numbered) set(list []flatElement) bson.D {
	var gone bson.D
	for i := 1; i <= n.max; i++ {
		for c, column := range n.columns() {
			if i > len(list) || list[i-1][c].Type == 0 {
				gone = append(gone, bson.E{Key: n.name(column, i), Value: ""})
			}
		}
	}
	u := bson.D{{Key: "$set", Value: n.flat(list)}}
	if len(gone) > 0 {
		u = append(u, bson.E{Key: "$unset", Value: gone})
	}
	return u
}

// appended encodes and checks one element that is to be added.
func (n *numbered) appended(element any) (flatElement, error) {
	list, err := n.given([]any{element})
	if err != nil {
		return nil, err
	}
	if n.key != "" && !isKey(n.keyOf(list[0])) {
		return nil, n.refused(n.path+"[0]."+n.key, nil, "the element has no key")
	}
	return list[0], nil
}

func (n *numbered) keyOf(e flatElement) bson.RawValue { return e[slices.Index(n.columns(), n.key)] }

// holds is the condition that one of the first positions has the element's key.
func (n *numbered) holds(e flatElement, positions int) bson.A {
	out := bson.A{}
	for i := 1; i <= positions; i++ {
		out = append(out, bson.D{{Key: n.name(n.key, i), Value: model.Eq(n.keyOf(e))}})
	}
	return out
}

func (n *numbered) appendAt(id bson.D, count int, e flatElement) model.Write {
	switch {
	case count < 0:
		return model.Refused(n.collection, n.refused(n.path, count, "a list has no fewer than 0 elements"))
	case count >= n.max:
		return model.Refused(n.collection, ErrNumberedFull)
	}
	asRead := bson.E{Key: n.path, Value: count}
	if count == 0 {
		asRead.Value = bson.D{{Key: "$in", Value: bson.A{0, nil}}} // an empty list, null, or none
	}
	w := model.Write{Collection: n.collection, Expect: model.One, Index: model.IDIndex}
	filter := append(slices.Clone(id), asRead)
	if n.key != "" {
		if count > 0 {
			filter = append(filter, bson.E{Key: "$nor", Value: n.holds(e, count)})
		}
		w.Done = append(slices.Clone(id), bson.E{Key: "$or", Value: n.holds(e, n.max)})
		w.Once = true
	}
	set, gone := bson.D{{Key: n.path, Value: count + 1}}, bson.D{}
	set = append(set, n.at(count+1, e)...)
	for c, column := range n.columns() {
		if e[c].Type == 0 {
			gone = append(gone, bson.E{Key: n.name(column, count+1), Value: ""})
		}
	}
	u := bson.D{{Key: "$set", Value: set}}
	if len(gone) > 0 {
		u = append(u, bson.E{Key: "$unset", Value: gone})
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: u}
	return w
}

// A NumberedEnd is what [Numbered.Append] decides from.
type NumberedEnd struct {
	N     int  // how many elements the list has
	Holds bool // it holds the element's Key already
}

func (n *numbered) change(id bson.D, e flatElement, err error) model.Change[NumberedEnd] {
	if err != nil {
		return model.Change[NumberedEnd]{Err: err, Decide: func(NumberedEnd) (model.Plan, error) { return model.RefusedPlan(n.collection, err), nil }}
	}
	return model.Change[NumberedEnd]{
		Read: func(ctx context.Context, db *mongo.Database) (NumberedEnd, error) { return n.readEnd(ctx, db, id, e) },
		Decide: func(end NumberedEnd) (model.Plan, error) {
			switch {
			case end.Holds:
				return model.Plan{Applied: true}, nil
			case end.N >= n.max:
				return model.Plan{}, ErrNumberedFull
			}
			return model.NewPlan(n.appendAt(id, end.N, e)), nil
		},
		Attempts: 100,
	}
}

func (n *numbered) readEnd(ctx context.Context, db *mongo.Database, id bson.D, e flatElement) (NumberedEnd, error) {
	projection := bson.D{{Key: n.path, Value: 1}}
	if n.key != "" {
		for i := 1; i <= n.max; i++ {
			projection = append(projection, bson.E{Key: n.name(n.key, i), Value: 1})
		}
	}
	found, err := model.Find[bson.Raw]{Query: model.Query{
		Collection: n.collection, Filter: id, Projection: projection, Index: model.IDIndex,
		Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}.One(ctx, db)
	if err != nil {
		return NumberedEnd{}, err
	}
	end, v := NumberedEnd{}, found.Lookup(n.path)
	if v.Type != 0 && v.Type != bson.TypeNull {
		count, ok := countOf(v)
		if !ok || count > n.max {
			return end, n.refused(n.path, v, "is not a count of the positions that there are")
		}
		end.N = count
	}
	if n.key != "" {
		for i := 1; i <= end.N; i++ {
			end.Holds = end.Holds || bsonval.EqualRaw(found.Lookup(n.name(n.key, i)), n.keyOf(e))
		}
	}
	return end, nil
}
