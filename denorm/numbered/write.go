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

// checkLength refuses a list with more elements than positions.
func (n *untypedNumbered) checkLength(count int) error {
	if count > n.max {
		return n.Docs.Refuse(n.Path, count, fmt.Sprintf("has more elements than the list has positions, %d", n.max))
	}
	return nil
}

// readList is [flat.List.ReadElements] for a list that must fit into the positions.
func (n *untypedNumbered) readList(v bson.RawValue) (list []flat.Element, ok bool, err error) {
	if list, ok, err = n.ReadElements(v); err == nil {
		err = n.checkLength(len(list))
	}
	return list, ok, err
}

// flattenDocument returns the stored form of a document. Other fields keep their order.
func (n *untypedNumbered) flattenDocument(doc bson.Raw) (bson.Raw, error) {
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
		case e.Key() != n.Path:
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
			continue
		}
		list, ok, err := n.readList(e.Value())
		switch {
		case err != nil:
			return nil, err
		case ok:
			out = append(out, n.encodeList(list)...)
		default: // null stays
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return bson.Marshal(out)
}

// encodeList returns the count and the numbered fields of a list.
func (n *untypedNumbered) encodeList(list []flat.Element) bson.D {
	out := bson.D{{Key: n.Path, Value: len(list)}}
	for i, e := range list {
		out = append(out, n.encodeElement(i+1, e)...)
	}
	return out
}

// encodeElement returns the numbered fields of an element.
func (n *untypedNumbered) encodeElement(position int, e flat.Element) (out bson.D) {
	for c, column := range n.ListColumns() {
		if e[c].Type != 0 {
			out = append(out, bson.E{Key: n.fieldName(column, position), Value: e[c]})
		}
	}
	return out
}

// setList is the update that replaces a document's list.
func (n *untypedNumbered) setList(elements []any) (bson.D, error) {
	_, list, err := n.EncodeElements(elements)
	if err == nil {
		err = n.checkLength(len(list))
	}
	if err != nil {
		return nil, err
	}
	return n.writeList(list), nil
}

// writeList is the update that writes a whole list. It unsets the fields of the positions
// after the list, and of missing values.
func (n *untypedNumbered) writeList(list []flat.Element) bson.D {
	var gone bson.D
	for i := 1; i <= n.max; i++ {
		for c, column := range n.ListColumns() {
			if i > len(list) || list[i-1][c].Type == 0 {
				gone = append(gone, bson.E{Key: n.fieldName(column, i), Value: ""})
			}
		}
	}
	return commands.JoinOperators(mql.E("$set", n.encodeList(list)), mql.E("$unset", gone))
}

// encodeAppended encodes and checks an element to append. Without a value of the Key, the
// append couldn't recognize the element.
func (n *untypedNumbered) encodeAppended(element any) (flat.Element, error) {
	_, list, err := n.EncodeElements([]any{element})
	if err != nil {
		return nil, err
	}
	if n.key != "" && !stored.IsKey(n.keyValue(list[0])) {
		return nil, n.Docs.Refuse(n.Path+"[0]."+n.key, nil,
			"the element has no key: give a value to the spec's Key field")
	}
	return list[0], nil
}

// keyValue returns an element's value of the Key.
func (n *untypedNumbered) keyValue(e flat.Element) bson.RawValue {
	return e[slices.Index(n.ListColumns(), n.key)]
}

// matchKey returns conditions that one of the first positions has the element's key.
func (n *untypedNumbered) matchKey(e flat.Element, positions int) bson.A {
	out := bson.A{}
	for i := 1; i <= positions; i++ {
		out = append(out, bson.D{{Key: n.fieldName(n.key, i), Value: mql.Eq(n.keyValue(e))}})
	}
	return out
}

var errFull = fmt.Errorf("docmodel: every position of the list is taken: %w", model.ErrFull)

// appendElementAt is the write that adds an element after the first count elements.
func (n *untypedNumbered) appendElementAt(id bson.D, count int, element any) model.Write {
	e, err := n.encodeAppended(element)
	if err != nil {
		return model.Refused(n.Docs.Name(), err)
	}
	return n.writeElementAt(id, count, e)
}

// writeElementAt is [List.appendElementAt] for an encoded element. With a Key the write
// is repeatable: Done recognizes it by the key.
func (n *untypedNumbered) writeElementAt(id bson.D, count int, e flat.Element) model.Write {
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
			filter = append(filter, bson.E{Key: "$nor", Value: n.matchKey(e, count)})
		}
		w.Done = append(slices.Clone(id), bson.E{Key: "$or", Value: n.matchKey(e, n.max)})
		w.Idempotent = true
	}
	set, gone := bson.D{{Key: n.Path, Value: count + 1}}, bson.D{}
	set = append(set, n.encodeElement(count+1, e)...)
	for c, column := range n.ListColumns() {
		if e[c].Type == 0 {
			gone = append(gone, bson.E{Key: n.fieldName(column, count+1), Value: ""})
		}
	}
	w.Model = &mongo.UpdateOneModel{
		Filter: filter,
		Update: commands.JoinOperators(mql.E("$set", set), mql.E("$unset", gone)),
	}
	return w
}

// An end is the state from which an append decides.
type end struct {
	// the count
	n int
	// the list has the element's key already
	holds bool
}

// appendElement is the change that adds an element at the end of the list. refused is an
// error of the filter.
func (n *untypedNumbered) appendElement(id bson.D, element any, refused error) model.Change {
	e, err := n.encodeAppended(element)
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
			return model.NewPlan(n.writeElementAt(id, read.n, e)), nil
		},
		Attempts: 100,
	}.Change()
}

// readEnd reads an end.
func (n *untypedNumbered) readEnd(ctx context.Context, db model.DB, id bson.D, e flat.Element) (out end, _ error) {
	projection := bson.D{{Key: n.Path, Value: 1}}
	if n.key != "" {
		for i := 1; i <= n.max; i++ {
			projection = append(projection, bson.E{Key: n.fieldName(n.key, i), Value: 1})
		}
	}
	found, err := commands.ReadOne(ctx, db, n.Docs.Name(), id, projection)
	if err != nil {
		return out, err
	}
	v := found.Lookup(n.Path)
	if v.Type != 0 && v.Type != bson.TypeNull {
		count, ok := readCount(v)
		if !ok || count > n.max {
			return out, n.Docs.Refuse(n.Path, v, "isn't a count from 0 to the number of positions")
		}
		out.n = count
	}
	if n.key != "" {
		for i := 1; i <= out.n; i++ {
			out.holds = out.holds || bsonval.EqualRaw(found.Lookup(n.fieldName(n.key, i)), n.keyValue(e))
		}
	}
	return out, nil
}
