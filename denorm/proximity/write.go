package proximity

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// addText returns a document with the text of its list. An old text is replaced.
func (p *untypedProximity) addText(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, p.Docs.Refuse("document", nil, err.Error())
	}
	out := make(bson.D, 0, len(elems)+1)
	for _, e := range elems {
		if e.Key() != p.field {
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	v, err := stored.ValueAt(p.Docs, doc, p.Path)
	if err != nil {
		return nil, err
	}
	list, ok, err := p.ReadElements(v)
	if err != nil {
		return nil, err
	}
	if ok { // a document without a list has no text
		text, err := p.encodeText(list)
		if err != nil {
			return nil, err
		}
		out = append(out, bson.E{Key: p.field, Value: text})
	}
	return bson.Marshal(out)
}

// addElement is the write that adds an element, unless the list has an equal one. err is
// an error of the filter.
func (p *untypedProximity) addElement(id bson.D, element any, err error) model.Write {
	var stored bson.A
	var list []flat.Element
	if err == nil {
		stored, list, err = p.EncodeElements([]any{element})
	}
	var text string
	if err == nil {
		text, err = p.encodeElement(0, list[0])
	}
	if err != nil {
		return model.Refused(p.Docs.Name(), err)
	}
	holds := mql.Op("$elemMatch", mql.Op("$eq", stored[0]))
	w := commands.UpdateIf(p.Docs.Name(),
		append(slices.Clone(id), mql.E(p.Path, mql.Op("$not", holds))), mongo.Pipeline{
			mql.Set(
				mql.E(p.Path,
					mql.Op("$concatArrays", mql.IfNull("$"+p.Path, bson.A{}), bson.A{mql.Literal(stored[0])})),
				mql.E(p.field, mql.Op("$concat", mql.IfNull("$"+p.field, "|"), mql.Literal(text))),
			),
		})
	w.Expect, w.Done = model.One, append(slices.Clone(id), mql.E(p.Path, holds))
	return w
}

// removeElements is the write that removes all elements that equal one of these.
func (p *untypedProximity) removeElements(id bson.D, elements []any, err error) model.Write {
	var stored bson.A
	if err == nil {
		stored, _, err = p.EncodeElements(elements)
	}
	if err == nil && len(stored) == 0 {
		err = p.Docs.Refuse(p.Path, nil, "no element was given: give at least one")
	}
	if err != nil {
		return model.Refused(p.Docs.Name(), err)
	}
	kept := mql.Op("$filter", bson.D{
		{Key: "input", Value: "$" + p.Path}, {Key: "as", Value: "element"},
		{Key: "cond", Value: mql.Op("$not", mql.Op("$in", "$$element", mql.Literal(stored)))},
	})
	holds := mql.E(p.Path, mql.Op("$elemMatch", bson.D{{Key: "$in", Value: stored}}))
	return commands.UpdateIf(p.Docs.Name(), append(slices.Clone(id), holds), mongo.Pipeline{
		mql.Set(mql.E(p.Path, kept)), mql.Set(mql.E(p.field, p.computeText())),
	})
}

// computeText is the expression of the text of a document's list. It is what encodeText
// computes in Go.
func (p *untypedProximity) computeText() bson.D {
	parts := bson.A{"$$value"}
	for i, column := range p.ListColumns() {
		if i > 0 {
			parts = append(parts, ",")
		}
		v := "$$this." + column
		if len(p.Fields) == 0 {
			v = "$$this"
		}
		parts = append(parts, computeValueText(v))
	}
	return mql.Op("$reduce", bson.D{
		{Key: "input", Value: "$" + p.Path}, {Key: "initialValue", Value: "|"},
		{Key: "in", Value: mql.Op("$concat", append(parts, "|")...)},
	})
}

// computeValueText is the expression of one value's text.
func computeValueText(v string) bson.D {
	var escaped any = v
	for _, x := range textEscapes {
		escaped = mql.Op("$replaceAll", bson.D{
			{Key: "input", Value: escaped}, {Key: "find", Value: x.char}, {Key: "replacement", Value: x.as},
		})
	}
	branch := func(of string, then any) bson.D {
		return bson.D{{Key: "case", Value: mql.Op("$eq", mql.Op("$type", v), of)}, {Key: "then", Value: then}}
	}
	return mql.Op("$switch", bson.D{
		{Key: "branches", Value: bson.A{
			branch("string", escaped), branch("missing", textMissing), branch("null", textNull),
			branch("undefined", textNull),
		}},
		{Key: "default", Value: textForeign},
	})
}
