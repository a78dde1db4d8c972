package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// both encodes elements as they are stored, and takes them apart.
func (p *proximity) both(elements []any) (stored bson.A, list []flatElement, err error) {
	stored = make(bson.A, len(elements))
	list = make([]flatElement, len(elements))
	for i, e := range elements {
		v, err := p.encoded(p.path+"[]", e)
		if err == nil {
			list[i], err = p.element(i, v)
		}
		if err != nil {
			return nil, nil, err
		}
		stored[i] = v
	}
	return stored, list, nil
}

// stored adds the text to a document that is inserted, or replaces one.
func (p *proximity) stored(w model.Write) model.Write {
	if w.Err != nil {
		return w
	}
	var err error
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		m.Document, err = p.withText(m.Document.(bson.Raw))
	case *mongo.ReplaceOneModel:
		m.Replacement, err = p.withText(m.Replacement.(bson.Raw))
	}
	if err != nil {
		return model.Refused(p.collection, err)
	}
	return w
}

func (p *proximity) withText(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, p.refused("document", nil, err.Error())
	}
	out := make(bson.D, 0, len(elems)+1)
	for _, e := range elems {
		if e.Key() != p.field {
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	v, inArray := model.ValueAt(doc, p.path)
	switch {
	case inArray:
		return nil, p.refused(p.path, nil, "lies inside an array in this document")
	case v.Type == bson.TypeArray:
		list, err := p.listed(v)
		if err != nil {
			return nil, err
		}
		text, err := p.text(list)
		if err != nil {
			return nil, err
		}
		out = append(out, bson.E{Key: p.field, Value: text})
	case v.Type != 0 && v.Type != bson.TypeNull:
		return nil, p.refused(p.path, v, "is not a list")
	}
	return bson.Marshal(out)
}

func (p *proximity) add(id bson.D, element any, err error) model.Write {
	var stored bson.A
	var list []flatElement
	if err == nil {
		stored, list, err = p.both([]any{element})
	}
	var text string
	if err == nil {
		text, err = p.elementText(0, list[0])
	}
	if err != nil {
		return model.Refused(p.collection, err)
	}
	holds := bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "$eq", Value: stored[0]}}}}
	return model.Write{
		Collection: p.collection, Expect: model.One, Index: model.IDIndex, Once: true,
		Done: append(slices.Clone(id), bson.E{Key: p.path, Value: holds}),
		Model: &mongo.UpdateOneModel{
			Filter: append(slices.Clone(id), bson.E{Key: p.path, Value: bson.D{{Key: "$not", Value: holds}}}),
			Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{
				{Key: p.path, Value: mql.Op("$concatArrays", mql.IfNull("$"+p.path, bson.A{}), bson.A{mql.Literal(stored[0])})},
				{Key: p.field, Value: mql.Op("$concat", mql.IfNull("$"+p.field, "|"), mql.Literal(text))},
			}}}},
		},
	}
}

func (p *proximity) remove(id bson.D, elements []any, err error) model.Write {
	var stored bson.A
	if err == nil {
		stored, _, err = p.both(elements)
	}
	if err == nil && len(stored) == 0 {
		err = p.refused(p.path, nil, "no element was given")
	}
	if err != nil {
		return model.Refused(p.collection, err)
	}
	kept := mql.Op("$filter", bson.D{
		{Key: "input", Value: "$" + p.path}, {Key: "as", Value: "element"},
		{Key: "cond", Value: mql.Op("$not", mql.Op("$in", "$$element", mql.Literal(stored)))},
	})
	return model.Write{Collection: p.collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: append(slices.Clone(id), bson.E{Key: p.path, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "$in", Value: stored}}}}}),
		Update: mongo.Pipeline{
			{{Key: "$set", Value: bson.D{{Key: p.path, Value: kept}}}},
			{{Key: "$set", Value: bson.D{{Key: p.field, Value: p.listText()}}}},
		},
	}}
}

// listText is the expression of the text of the list that a document holds.
func (p *proximity) listText() bson.D {
	parts := bson.A{"$$value"}
	for i, column := range p.columns() {
		if i > 0 {
			parts = append(parts, ",")
		}
		v := "$$this." + column
		if len(p.fields) == 0 {
			v = "$$this"
		}
		parts = append(parts, valueText(v))
	}
	return mql.Op("$reduce", bson.D{
		{Key: "input", Value: "$" + p.path}, {Key: "initialValue", Value: "|"}, {Key: "in", Value: mql.Op("$concat", append(parts, "|")...)},
	})
}

// valueText is the expression of one value's text.
func valueText(v string) bson.D {
	var escaped any = v
	for _, x := range textEscapes {
		escaped = mql.Op("$replaceAll", bson.D{{Key: "input", Value: escaped}, {Key: "find", Value: x.char}, {Key: "replacement", Value: x.as}})
	}
	branch := func(of string, then any) bson.D {
		return bson.D{{Key: "case", Value: mql.Op("$eq", mql.Op("$type", v), of)}, {Key: "then", Value: then}}
	}
	return mql.Op("$switch", bson.D{
		{Key: "branches", Value: bson.A{
			branch("string", escaped), branch("missing", textMissing), branch("null", textNull), branch("undefined", textNull),
		}},
		{Key: "default", Value: textForeign},
	})
}

// differs is the expression that a text is not that of its list.
func (p *proximity) differs() bson.D {
	return mql.Op("$ne", mql.IfNull("$"+p.field, nil), mql.Op("$cond", mql.Op("$isArray", "$"+p.path), p.listText(), nil))
}

func (p *proximity) checks() []model.Check {
	name, is := fmt.Sprintf("%s.%s: texts that differ from %s", p.collection, p.field, p.path), mql.Op("$expr", p.differs())
	isList := mql.Op("$isArray", "$"+p.path)
	set := bson.D{{Key: "$set", Value: bson.D{{Key: p.field, Value: mql.Op("$cond", isList, p.listText(), "$$REMOVE")}}}}
	return []model.Check{{
		Name: name, Collection: p.collection, Rule: "a text is that of its list",
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: is}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
			{{Key: "$project", Value: bson.D{{Key: "text", Value: "$" + p.field}, {Key: "want", Value: mql.Op("$cond", isList, p.listText(), nil)}}}},
		},
		Tell: core.Tells[proximityDrift](), Mend: core.Mends(name, p.collection, updateEach(p.collection, is, mongo.Pipeline{set})),
	}}
}

// A proximityDrift is a document whose text is not that of its list.
type proximityDrift struct {
	ID   bson.RawValue `bson:"_id"`
	Text bson.RawValue `bson:"text"` // as it is stored; of type 0 for nothing
	Want *string       `bson:"want"` // what the list makes; nil where there is no list
}

func (d proximityDrift) Tell(f *model.Finding) {
	has, want := "has no text", ", and there is no list"
	if d.Text.Type != 0 {
		has = "has the text " + cut(model.Shell(d.Text))
	}
	if d.Want != nil {
		want = ", its list makes " + cut(model.Shell(*d.Want))
	}
	f.ID, f.Problem = d.ID, has+want
}
