package numbered

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// matchEqual matches an element whose fields have these values.
func (n *untypedNumbered) matchEqual(fields bson.D) (bson.D, error) {
	values, err := n.EncodeEqualities(fields)
	if err != nil {
		return nil, err
	}
	absent := true // does it match where there is no element?
	for i, v := range values {
		raw := v.Value.(bson.RawValue)
		if raw.Type == bson.TypeArray {
			return nil, n.Docs.Refuse(n.Path+"."+v.Key, nil, "is a list, which no element of a flat list can equal")
		}
		absent = absent && raw.Type == bson.TypeNull
		values[i].Value = mql.Eq(raw)
	}
	return n.matchAnyPosition(values, absent), nil
}

// matchConditions matches an element that fulfils conditions of operators.
func (n *untypedNumbered) matchConditions(conditions bson.D) (bson.D, error) {
	if err := n.CheckConditions(conditions); err != nil {
		return nil, err
	}
	held := make(bson.D, len(conditions))
	for i, c := range conditions {
		v, err := n.Docs.Raw(c.Value)
		if err != nil {
			return nil, n.Docs.Refuse(n.Path+"."+c.Key, nil, err.Error())
		}
		doc, ok := v.DocumentOK()
		var first bson.RawElement
		if ok {
			first, err = doc.IndexErr(0)
		}
		if !ok || err != nil || !strings.HasPrefix(first.Key(), "$") {
			return nil, n.Docs.Refuse(n.Path+"."+c.Key, nil, "must be a document of operators: use Equal for values")
		}
		held[i] = bson.E{Key: c.Key, Value: v}
	}
	return n.matchAnyPosition(held, true), nil
}

// matchAnyPosition matches the conditions at any single position. absent says that they
// could match a position without an element; then the count must reach the position.
func (n *untypedNumbered) matchAnyPosition(conditions bson.D, absent bool) bson.D {
	or := make(bson.A, n.max)
	for i := range or {
		at := make(bson.D, 0, len(conditions)+1)
		for _, column := range n.ListColumns() { // in the order of the index
			if j := slices.IndexFunc(conditions, func(c bson.E) bool { return c.Key == column }); j >= 0 {
				at = append(at, bson.E{Key: n.fieldName(column, i+1), Value: conditions[j].Value})
			}
		}
		if absent {
			at = append(at, bson.E{Key: n.Path, Value: bson.D{{Key: "$gte", Value: i + 1}}})
		}
		or[i] = at
	}
	return bson.D{{Key: "$or", Value: or}}
}

// serveConditions returns the index that serves conditions at the first position, or "".
// An index serves only conditions on its first column.
func (n *untypedNumbered) serveConditions(conditions bson.D) string {
	if !slices.ContainsFunc(conditions, func(c bson.E) bool { return c.Key == n.ListColumns()[0] }) {
		return ""
	}
	return n.makeIndex(1).Name
}

// findDocuments is the pipeline of a query whose results are nested again. It filters,
// sorts and limits the stored form, so that indexes serve it.
func (n *untypedNumbered) findDocuments(q model.Query) (p mongo.Pipeline) {
	if len(q.Filter) > 0 {
		p = append(p, mql.Match(q.Filter...))
	}
	if len(q.Sort) > 0 {
		p = append(p, mql.Sort(q.Sort...))
	}
	if q.Skip > 0 {
		p = append(p, mql.Op("$skip", q.Skip))
	}
	if q.Limit > 0 {
		p = append(p, mql.Op("$limit", q.Limit))
	}
	return append(p, n.nestList()...)
}

// nestList returns the stages that make the list of the numbered fields.
func (n *untypedNumbered) nestList() mongo.Pipeline {
	list := make(bson.A, n.max)
	for i := range list {
		if len(n.Fields) == 0 {
			list[i] = "$" + n.fieldName(n.ListColumns()[0], i+1)
			continue
		}
		e := bson.D{}
		for _, f := range n.Fields {
			e = append(e, bson.E{Key: f, Value: "$" + n.fieldName(f, i+1)})
		}
		list[i] = e
	}
	count := "$" + n.Path
	// whatever number stands there, so that no document fails the query
	within := mql.Op("$toInt", mql.Op("$max", 0, mql.Op("$min", count, n.max)))
	return mongo.Pipeline{
		mql.Set(mql.E(n.Path, mql.Cond(mql.Op("$isNumber", count), mql.Op("$slice", list, within), count))),
		{{Key: "$unset", Value: mql.Array(n.listFields(1))}},
	}
}

// nestDocument is the opposite of flattenDocument. It refuses a count that doesn't fit
// the numbered fields, and accepts a document that is nested already.
func (n *untypedNumbered) nestDocument(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, n.Docs.Refuse("document", nil, err.Error())
	}
	list, highest := make([]flat.Element, n.max), 0
	for i := range list {
		list[i] = make(flat.Element, len(n.ListColumns()))
	}
	out, at := make(bson.D, 0, len(elems)), -1
	for _, e := range elems {
		if p, ok := n.names[e.Key()]; ok {
			list[p.position-1][p.column] = e.Value()
			highest = max(highest, p.position)
			continue
		}
		if e.Key() == n.Path {
			at = len(out)
		}
		out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
	}
	if at >= 0 && (out[at].Value.(bson.RawValue).Type != bson.TypeArray || highest > 0) {
		v := out[at].Value.(bson.RawValue)
		count, ok := readCount(v)
		switch {
		case v.Type == bson.TypeNull && highest == 0:
		case !ok || count < highest || count > n.max:
			return nil, n.Docs.Refuse(n.Path, v,
				fmt.Sprintf("isn't the count of the numbered fields, whose last number is %d", highest))
		case len(n.Fields) == 0 && count > highest:
			return nil, n.Docs.Refuse(n.Path, v, "counts a value that doesn't exist")
		default:
			nested := make(bson.A, count)
			for i := range nested {
				nested[i] = n.JoinElement(list[i])
			}
			out[at].Value = nested
		}
	} else if at < 0 && highest > 0 {
		return nil, n.Docs.Refuse(n.Path, nil, "is missing, but there are numbered fields")
	}
	return bson.Marshal(out)
}

// readCount returns a count of any number type.
func readCount(v bson.RawValue) (int, bool) {
	x, _ := bsonval.FromRaw(v)
	n, ok := bsonval.Int64(x)
	return int(n), ok && n >= 0 && n <= math.MaxInt32
}
