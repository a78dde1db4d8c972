package inverted

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxTerms is how many values a query combines; each is a range of entries.
const maxTerms = 256

// A Query is a denorm.Query.
type Query struct {
	of    *Index
	kind  Combination
	parts []Query // of a combination
	table int     // of a value
	value bson.RawValue
	err   error
}

// A Combination is how queries are combined.
type Combination uint8

const (
	isValue Combination = iota
	And
	Or
	Minus // the first without all others
)

// With combines a query with others.
func (q Query) With(kind Combination, others []Query) Query {
	if len(others) == 0 {
		return q
	}
	out := Query{of: q.of, kind: kind, parts: append([]Query{q}, others...)}
	for _, p := range out.parts {
		switch {
		case p.err != nil && out.err == nil:
			out.err = p.err
		case p.of != q.of && out.err == nil:
			out.err = &model.ValueError{Field: "query", Reason: "combines queries of different inverted indexes, or an empty query"}
		}
	}
	return out
}

func (in *Index) table(path string) (int, error) {
	if i := slices.IndexFunc(in.tables, func(t *indextable.Table) bool { return t.Path() == path }); i >= 0 {
		return i, nil
	}
	return 0, in.docs.Refuse("path", path, "isn't in the inverted index: declare the path")
}

// Is is the query of the documents that hold a value.
func (in *Index) Is(path string, value any) Query {
	q := Query{of: in}
	if q.table, q.err = in.table(path); q.err != nil {
		return q
	}
	t := in.tables[q.table]
	if _, q.err = t.FindEntries(value); q.err != nil {
		return q
	}
	q.value, q.err = t.EncodeValue(value)
	return q
}

// A queryTerm is a value of a query; its number is its index among them.
type queryTerm struct {
	table int
	value bson.RawValue
}

// terms lists the different values of a query. It stops after maxTerms+1 of them, which is one too many.
func (q Query) terms(out []queryTerm) []queryTerm {
	for _, p := range q.parts {
		out = p.terms(out)
	}
	if q.kind == isValue && len(out) <= maxTerms && q.number(out) < 0 {
		out = append(out, queryTerm{q.table, q.value})
	}
	return out
}

func (q Query) number(terms []queryTerm) int {
	return slices.IndexFunc(terms, func(t queryTerm) bool { return t.table == q.table && bsonval.EqualRaw(t.value, q.value) })
}

// filter is the query as a filter; leaf says what one value is.
func (q Query) filter(leaf func(Query) bson.D) bson.D {
	if q.kind == isValue {
		return leaf(q)
	}
	list := make(bson.A, len(q.parts))
	for i, p := range q.parts {
		list[i] = p.filter(leaf)
	}
	switch q.kind {
	case Or:
		return bson.D{{Key: "$or", Value: list}}
	case Minus:
		return bson.D{{Key: "$and", Value: bson.A{list[0], bson.D{{Key: "$nor", Value: list[1:]}}}}}
	}
	return bson.D{{Key: "$and", Value: list}}
}

// checked says why a query can't be asked here.
func (in *Index) checked(q Query) ([]queryTerm, error) {
	switch {
	case q.err != nil:
		return nil, q.err
	case q.of != in:
		return nil, in.docs.Refuse("query", nil, "is empty, or belongs to another inverted index")
	}
	terms := q.terms(nil)
	if len(terms) > maxTerms {
		return nil, in.docs.Refuse("query", nil, fmt.Sprintf("combines more than the %d values that are allowed", maxTerms))
	}
	return terms, nil
}

// A Pipeline is one over a collection.
type Pipeline struct {
	Collection string
	Stages     mongo.Pipeline
}

// IDs is the pipeline of a query's ids. Each entry gives its id and the number of its value; an id's numbers are grouped,
// and say whether the query finds it. What comes last sorts: a single value's entries are in order as they are.
func (in *Index) IDs(q Query) (c Pipeline, err error) {
	terms, err := in.checked(q)
	if err != nil {
		return Pipeline{in.tables[0].Entries(), nil}, err
	}
	c.Collection = in.tables[terms[0].table].Entries()
	if len(terms) == 1 && q.kind == isValue {
		c.Stages = mongo.Pipeline{
			mql.Match(in.entries(in.parts(terms)[0])...), mql.SortID(),
			mql.Project(mql.E("_id", "$_id.id")),
		}
		return c, nil
	}
	for n, part := range in.parts(terms) {
		stages := mongo.Pipeline{mql.Match(in.entries(part)...), {{Key: "$project", Value: numbering(part)}}}
		if n == 0 {
			c.Stages = stages
			continue
		}
		from := in.tables[part[0].table].Entries()
		c.Stages = append(c.Stages, bson.D{{Key: "$unionWith", Value: bson.D{{Key: "coll", Value: from}, {Key: "pipeline", Value: stages}}}})
	}
	found := q.filter(func(q Query) bson.D { return bson.D{{Key: "is", Value: q.number(terms)}} })
	c.Stages = append(c.Stages,
		mql.Group("$id", mql.E("is", mql.Op("$addToSet", "$is"))),
		mql.Match(found...),
		mql.SortID(),
		mql.Project(mql.E("_id", 1)),
	)
	return c, nil
}

// maxApart is how many values are read apart, each by a $unionWith of its own: DocumentDB serves one range by the _id index, and
// several in an $or by none, but its time to plan unions grows with more than their square.
const maxApart = 16

// A numbered value is one of a query's, with its number.
type numbered struct {
	queryTerm
	number int
}

// parts are the values of a query that are read together, which are of one table; the first value is in the first part.
func (in *Index) parts(terms []queryTerm) (out [][]numbered) {
	byTable := map[int]int{} // its part
	for i, t := range terms {
		part, ok := byTable[t.table]
		if !ok || len(terms) <= maxApart {
			part = len(out)
			out, byTable[t.table] = append(out, nil), part
		}
		out[part] = append(out[part], numbered{t, i})
	}
	return out
}

// entries matches the entries of a part's values.
func (in *Index) entries(part []numbered) bson.D {
	ranges := make(bson.A, len(part))
	for i, t := range part {
		ranges[i] = in.tables[t.table].MatchValue(t.value)
	}
	if len(ranges) == 1 {
		return ranges[0].(bson.D)
	}
	return bson.D{{Key: "$or", Value: ranges}}
}

// numbering projects a part's entries to the id, and the number of the value.
func numbering(part []numbered) bson.D {
	branches := make(bson.A, len(part))
	for i, t := range part {
		branches[i] = bson.D{{Key: "case", Value: mql.Op("$eq", "$_id.v", mql.Literal(t.value))}, {Key: "then", Value: mql.Literal(t.number)}}
	}
	var number any = mql.Op("$switch", bson.D{{Key: "branches", Value: branches}, {Key: "default", Value: nil}})
	if len(branches) == 1 {
		number = mql.Literal(part[0].number)
	}
	return bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "is", Value: number}}
}

// Count counts the ids that a query finds.
func (in *Index) Count(q Query) (Pipeline, error) {
	c, err := in.IDs(q)
	c.Stages = append(slices.Clone(c.Stages), commands.Total()...)
	return c, err
}

// holding asks the documents themselves for what the query asks, below a prefix.
func (in *Index) holding(q Query, prefix string) bson.D {
	return q.filter(func(q Query) bson.D {
		return bson.D{{Key: prefix + in.tables[q.table].Path(), Value: mql.Eq(q.value)}}
	})
}

// Documents is the pipeline of the documents that a query finds.
func (in *Index) Documents(q Query) (Pipeline, error) {
	c, err := in.IDs(q)
	if err != nil {
		return c, err
	}
	c.Stages = append(slices.Clone(c.Stages), mql.Lookup(in.docs.Name(), "_id", "_id", "found"),
		mql.Unwind("$found"),
		mql.ReplaceRoot("$found"),
		bson.D{{Key: "$match", Value: in.holding(q, "")}},
	)
	return c, nil
}

// Report counts those documents by the values of a field.
func (in *Index) Report(q Query, path string) (Pipeline, error) {
	c, err := in.IDs(q)
	if err != nil {
		return c, err
	}
	f, err := in.docs.Field(path)
	switch {
	case err != nil:
		return c, err
	case f.Arrays > 1:
		return c, in.docs.Refuse("path", f.Path, "crosses several arrays, so a single value can't be chosen")
	}
	c.Stages = append(slices.Clone(c.Stages), mql.Lookup(in.docs.Name(), "_id", "_id", "found"),
		mql.Unwind("$found"),
		bson.D{{Key: "$match", Value: in.holding(q, "found.")}},
		mql.Project(mql.E("value", "$found."+f.Path)),
		mql.Unwind("$value"),
		mql.Match(mql.E("value", bson.D{{Key: "$ne", Value: nil}})),
		mql.Group(bson.D{{Key: "value", Value: "$value"}, {Key: "id", Value: "$_id"}}), // an element that stands twice counts once
		mql.Group("$_id.value", commands.CountEach()),
	)
	c.Stages = append(c.Stages, commands.ByValue()...)
	return c, nil
}

// Values counts documents by the values of a declared path.
func (in *Index) Values(path string) (Pipeline, error) {
	i, err := in.table(path)
	return Pipeline{in.tables[i].Entries(), append(mongo.Pipeline{mql.Group("$_id.v", commands.CountEach())}, commands.ByValue()...)}, err
}

// Direct is the query of what documents hold at the declared paths.
func (in *Index) Direct(q model.Query, ids bson.A, err error) model.Query {
	if err == nil && len(ids) == 0 {
		err = in.docs.Refuse("_id", nil, "no id was given: give at least one")
	}
	q.Filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
	q.Projection, q.Sort, q.Index = in.tables.MakeProjection(), bson.D{{Key: "_id", Value: 1}}, model.IDIndex
	if err != nil {
		q.Err = err
	}
	return q
}
