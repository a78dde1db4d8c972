package numbered

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (n *List) fits(count int) error {
	if count > n.max {
		return n.Docs.Refuse(n.Path, count, fmt.Sprintf("has more elements than the list has positions, %d", n.max))
	}
	return nil
}

// Flatten writes the list of a document flat, in its place.
func (n *List) Flatten(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, n.Docs.Refuse("document", nil, err.Error())
	}
	out := make(bson.D, 0, len(elems))
	for _, e := range elems {
		_, taken := n.names[e.Key()]
		switch {
		case taken:
			return nil, n.Docs.Refuse(e.Key(), nil, "has the name of a numbered field of the list: rename it")
		case e.Key() != n.Path || e.Value().Type == bson.TypeNull:
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		case e.Value().Type != bson.TypeArray:
			return nil, n.Docs.Refuse(n.Path, e.Value(), "must be a list")
		default:
			list, err := n.ReadElements(e.Value())
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
func (n *List) flat(list []flat.Element) bson.D {
	out := bson.D{{Key: n.Path, Value: len(list)}}
	for i, e := range list {
		out = append(out, n.at(i+1, e)...)
	}
	return out
}

// at are the numbered fields of an element.
func (n *List) at(position int, e flat.Element) (out bson.D) {
	for c, column := range n.ListColumns() {
		if e[c].Type != 0 {
			out = append(out, bson.E{Key: n.name(column, position), Value: e[c]})
		}
	}
	return out
}

// Set is the update that gives a document's list these elements.
func (n *List) Set(elements []any) (bson.D, error) {
	list, err := n.EncodeElements(elements)
	if err == nil {
		err = n.fits(len(list))
	}
	if err != nil {
		return nil, err
	}
	return n.set(list), nil
}

// set is the update that writes a whole list.
func (n *List) set(list []flat.Element) bson.D {
	var gone bson.D
	for i := 1; i <= n.max; i++ {
		for c, column := range n.ListColumns() {
			if i > len(list) || list[i-1][c].Type == 0 {
				gone = append(gone, bson.E{Key: n.name(column, i), Value: ""})
			}
		}
	}
	return commands.JoinOperators(mql.E("$set", n.flat(list)), mql.E("$unset", gone))
}

// appended encodes and checks one element that is to be added.
func (n *List) appended(element any) (flat.Element, error) {
	list, err := n.EncodeElements([]any{element})
	if err != nil {
		return nil, err
	}
	if n.key != "" && !stored.IsKey(n.keyOf(list[0])) {
		return nil, n.Docs.Refuse(n.Path+"[0]."+n.key, nil,
			"the element has no key: give a value to the spec's Key field")
	}
	return list[0], nil
}

func (n *List) keyOf(e flat.Element) bson.RawValue { return e[slices.Index(n.ListColumns(), n.key)] }

// holds is the condition that one of the first positions has the element's key.
func (n *List) holds(e flat.Element, positions int) bson.A {
	out := bson.A{}
	for i := 1; i <= positions; i++ {
		out = append(out, bson.D{{Key: n.name(n.key, i), Value: mql.Eq(n.keyOf(e))}})
	}
	return out
}

var errFull = fmt.Errorf("docmodel: every position of the list is taken: %w", model.ErrFull)

// AppendAt is the write that adds an element after the first ones of the document that a filter finds by _id.
func (n *List) AppendAt(id bson.D, count int, element any) model.Write {
	e, err := n.appended(element)
	if err != nil {
		return model.Refused(n.Docs.Name(), err)
	}
	return n.appendAt(id, count, e)
}

func (n *List) appendAt(id bson.D, count int, e flat.Element) model.Write {
	switch {
	case count < 0:
		return model.Refused(n.Docs.Name(), n.Docs.Refuse(n.Path, count, "is negative: give 0 or more"))
	case count >= n.max:
		return model.Refused(n.Docs.Name(), errFull)
	}
	asRead := bson.E{Key: n.Path, Value: count}
	if count == 0 {
		asRead.Value = bson.D{{Key: "$in", Value: bson.A{0, nil}}} // an empty list, null, or none
	}
	w := model.Write{Collection: n.Docs.Name(), Expect: model.One, Index: model.IDIndex}
	filter := append(slices.Clone(id), asRead)
	if n.key != "" {
		if count > 0 {
			filter = append(filter, bson.E{Key: "$nor", Value: n.holds(e, count)})
		}
		w.Done = append(slices.Clone(id), bson.E{Key: "$or", Value: n.holds(e, n.max)})
		w.Once = true
	}
	set, gone := bson.D{{Key: n.Path, Value: count + 1}}, bson.D{}
	set = append(set, n.at(count+1, e)...)
	for c, column := range n.ListColumns() {
		if e[c].Type == 0 {
			gone = append(gone, bson.E{Key: n.name(column, count+1), Value: ""})
		}
	}
	w.Model = &mongo.UpdateOneModel{
		Filter: filter,
		Update: commands.JoinOperators(mql.E("$set", set), mql.E("$unset", gone)),
	}
	return w
}

// An end is what an append decides from.
type end struct {
	n     int  // how many elements the list has
	holds bool // it holds the element's Key already
}

// Append is the change that adds an element at the end of the list of the document that a filter finds by _id. refused
// is an error of the filter.
func (n *List) Append(id bson.D, element any, refused error) model.Change {
	e, err := n.appended(element)
	if refused != nil {
		err = refused
	}
	if err != nil {
		return commands.RefuseChange(n.Docs.Name(), err)
	}
	return model.ChangeOf[end]{
		Name: "numbered " + n.Docs.Name() + "." + n.Path,
		Read: func(ctx context.Context, db model.DB) (end, error) { return n.readEnd(ctx, db, id, e) },
		Decide: func(read end) (model.Plan, error) {
			switch {
			case read.holds:
				return model.Plan{Applied: true}, nil
			case read.n >= n.max:
				return model.Plan{}, errFull
			}
			return model.NewPlan(n.appendAt(id, read.n, e)), nil
		},
		Attempts: 100,
	}.Change()
}

func (n *List) readEnd(ctx context.Context, db model.DB, id bson.D, e flat.Element) (out end, _ error) {
	projection := bson.D{{Key: n.Path, Value: 1}}
	if n.key != "" {
		for i := 1; i <= n.max; i++ {
			projection = append(projection, bson.E{Key: n.name(n.key, i), Value: 1})
		}
	}
	found, err := commands.ReadOne(ctx, db, n.Docs.Name(), id, projection)
	if err != nil {
		return out, err
	}
	v := found.Lookup(n.Path)
	if v.Type != 0 && v.Type != bson.TypeNull {
		count, ok := countOf(v)
		if !ok || count > n.max {
			return out, n.Docs.Refuse(n.Path, v, "isn't a count from 0 to the number of positions")
		}
		out.n = count
	}
	if n.key != "" {
		for i := 1; i <= out.n; i++ {
			out.holds = out.holds || bsonval.EqualRaw(found.Lookup(n.name(n.key, i)), n.keyOf(e))
		}
	}
	return out, nil
}
