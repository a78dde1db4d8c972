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

// maxTerms is the greatest number of values in a query. Each is a range of entries.
const maxTerms = 256

// An untypedQuery is Query: a tree of values and combinations. An error is kept
// until the query runs.
type untypedQuery struct {
	index *untypedInverted
	kind  combination
	// Queries that are combined.
	parts []untypedQuery
	// Index in untypedInverted.tables of a value's table.
	table int
	value bson.RawValue
	err   error
}

// A combination says how queries are combined. Minus finds what the first query finds
// without all others.
type combination uint8

const (
	isValue combination = iota
	combineAnd
	combineOr
	combineMinus // the first without all others
)

// combineWith combines a query with others. The first error wins, so that the message
// names the first mistake.
func (q untypedQuery) combineWith(kind combination, others []untypedQuery) untypedQuery {
	if len(others) == 0 {
		return q
	}
	out := untypedQuery{index: q.index, kind: kind, parts: append([]untypedQuery{q}, others...)}
	for _, p := range out.parts {
		switch {
		case p.err != nil && out.err == nil:
			out.err = p.err
		case p.index != q.index && out.err == nil:
			out.err = &model.ValueError{
				Field:  "query",
				Reason: "combines queries of different inverted indexes, or an empty query",
			}
		}
	}
	return out
}

// findTable returns the index of a path's table.
func (in *untypedInverted) findTable(path string) (int, error) {
	if i := slices.IndexFunc(in.tables, func(t *indextable.Table) bool { return t.Path() == path }); i >= 0 {
		return i, nil
	}
	return 0, in.docs.Refuse("path", path, "isn't in the inverted index: declare the path")
}

// matchValue returns the query of the documents that have a value.
func (in *untypedInverted) matchValue(path string, value any) untypedQuery {
	q := untypedQuery{index: in}
	if q.table, q.err = in.findTable(path); q.err != nil {
		return q
	}
	t := in.tables[q.table]
	if _, q.err = t.FindEntries(value); q.err != nil {
		return q
	}
	q.value, q.err = t.EncodeValue(value)
	return q
}

// A queryTerm is a value of a query. Its number is its index in the list of terms.
type queryTerm struct {
	table int
	value bson.RawValue
}

// listTerms appends the distinct values of a query to out. It stops after maxTerms+1 of
// them, which checkQuery refuses.
func (q untypedQuery) listTerms(out []queryTerm) []queryTerm {
	for _, p := range q.parts {
		out = p.listTerms(out)
	}
	if q.kind == isValue && len(out) <= maxTerms && q.findNumber(out) < 0 {
		out = append(out, queryTerm{q.table, q.value})
	}
	return out
}

// findNumber returns the number of the query's value, or -1.
func (q untypedQuery) findNumber(terms []queryTerm) int {
	return slices.IndexFunc(terms, func(t queryTerm) bool {
		return t.table == q.table && bsonval.EqualRaw(t.value, q.value)
	})
}

// makeFilter returns the query as a filter. leaf returns the filter of one value.
func (q untypedQuery) makeFilter(leaf func(untypedQuery) bson.D) bson.D {
	if q.kind == isValue {
		return leaf(q)
	}
	list := make(bson.A, len(q.parts))
	for i, p := range q.parts {
		list[i] = p.makeFilter(leaf)
	}
	switch q.kind {
	case combineOr:
		return bson.D{{Key: "$or", Value: list}}
	case combineMinus:
		return bson.D{{Key: "$and", Value: bson.A{list[0], bson.D{{Key: "$nor", Value: list[1:]}}}}}
	}
	return bson.D{{Key: "$and", Value: list}}
}

// checkQuery returns the terms of a query, or the reason why it can't run here.
func (in *untypedInverted) checkQuery(q untypedQuery) ([]queryTerm, error) {
	switch {
	case q.err != nil:
		return nil, q.err
	case q.index != in:
		return nil, in.docs.Refuse("query", nil, "is empty, or belongs to another inverted index")
	}
	terms := q.listTerms(nil)
	if len(terms) > maxTerms {
		return nil,
			in.docs.Refuse("query", nil, fmt.Sprintf("combines more than the %d values that are allowed", maxTerms))
	}
	return terms, nil
}

// A pipeline is a pipeline with its collection, which depends on the query's first value.
type pipeline struct {
	Collection string
	Stages     mongo.Pipeline
}

// findIDs returns the pipeline of a query's ids. See the protocol above. A single value
// needs no group: its entries are already in the order of _id.
func (in *untypedInverted) findIDs(q untypedQuery) (c pipeline, err error) {
	terms, err := in.checkQuery(q)
	if err != nil {
		return pipeline{in.tables[0].Entries(), nil}, err
	}
	c.Collection = in.tables[terms[0].table].Entries()
	if len(terms) == 1 && q.kind == isValue {
		c.Stages = mongo.Pipeline{
			mql.Match(in.matchEntries(in.divideTerms(terms)[0])...), mql.SortID(),
			mql.Project(mql.E("_id", "$_id.id")),
		}
		return c, nil
	}
	for n, part := range in.divideTerms(terms) {
		stages := mongo.Pipeline{mql.Match(in.matchEntries(part)...), {{Key: "$project", Value: projectNumber(part)}}}
		if n == 0 {
			c.Stages = stages
			continue
		}
		from := in.tables[part[0].table].Entries()
		c.Stages = append(c.Stages, bson.D{{
			Key:   "$unionWith",
			Value: bson.D{{Key: "coll", Value: from}, {Key: "pipeline", Value: stages}},
		}})
	}
	found := q.makeFilter(func(q untypedQuery) bson.D { return bson.D{{Key: "is", Value: q.findNumber(terms)}} })
	c.Stages = append(c.Stages,
		mql.Group("$id", mql.E("is", mql.Op("$addToSet", "$is"))),
		mql.Match(found...),
		mql.SortID(),
		mql.Project(mql.E("_id", 1)),
	)
	return c, nil
}

// maxSeparateTerms is the greatest number of values that are read separately, each by its
// own $unionWith. DocumentDB serves one range by the _id index, but no $or of several.
// Its time to plan unions grows with more than the square of their number.
const maxSeparateTerms = 16

// A numberedTerm is one of a query's values, with its number.
type numberedTerm struct {
	queryTerm
	number int
}

// divideTerms returns the values that are read together: few values each alone, many by
// table. The first value is in the first part, whose collection runs the pipeline.
func (in *untypedInverted) divideTerms(terms []queryTerm) (out [][]numberedTerm) {
	byTable := map[int]int{} // its part
	for i, t := range terms {
		part, ok := byTable[t.table]
		if !ok || len(terms) <= maxSeparateTerms {
			part = len(out)
			out, byTable[t.table] = append(out, nil), part
		}
		out[part] = append(out[part], numberedTerm{t, i})
	}
	return out
}

// matchEntries matches the entries of a part's values.
func (in *untypedInverted) matchEntries(part []numberedTerm) bson.D {
	ranges := make(bson.A, len(part))
	for i, t := range part {
		ranges[i] = in.tables[t.table].MatchValue(t.value)
	}
	if len(ranges) == 1 {
		return ranges[0].(bson.D)
	}
	return bson.D{{Key: "$or", Value: ranges}}
}

// projectNumber projects a part's entries to the document's _id and the number of the
// value.
func projectNumber(part []numberedTerm) bson.D {
	branches := make(bson.A, len(part))
	for i, t := range part {
		branches[i] = bson.D{
			{Key: "case", Value: mql.Op("$eq", "$_id.v", mql.Literal(t.value))},
			{Key: "then", Value: mql.Literal(t.number)},
		}
	}
	var number any = mql.Op("$switch", bson.D{{Key: "branches", Value: branches}, {Key: "default", Value: nil}})
	if len(branches) == 1 {
		number = mql.Literal(part[0].number)
	}
	return bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "is", Value: number}}
}

// countIDs counts the ids that a query finds.
func (in *untypedInverted) countIDs(q untypedQuery) (pipeline, error) {
	c, err := in.findIDs(q)
	c.Stages = append(slices.Clone(c.Stages), commands.CountDocuments()...)
	return c, err
}

// matchDocuments asks the documents themselves for the query's values, at paths below a
// prefix.
func (in *untypedInverted) matchDocuments(q untypedQuery, prefix string) bson.D {
	return q.makeFilter(func(q untypedQuery) bson.D {
		return bson.D{{Key: prefix + in.tables[q.table].Path(), Value: mql.Eq(q.value)}}
	})
}

// findDocuments returns the pipeline of the documents that a query finds.
func (in *untypedInverted) findDocuments(q untypedQuery) (pipeline, error) {
	c, err := in.findIDs(q)
	if err != nil {
		return c, err
	}
	c.Stages = append(slices.Clone(c.Stages), mql.Lookup(in.docs.Name(), "_id", "_id", "found"),
		mql.Unwind("$found"),
		mql.ReplaceRoot("$found"),
		bson.D{{Key: "$match", Value: in.matchDocuments(q, "")}},
	)
	return c, nil
}

// reportValues counts the documents that a query finds by the values of a field. It
// groups twice, so that an element that occurs twice in an array counts once.
func (in *untypedInverted) reportValues(q untypedQuery, path string) (pipeline, error) {
	c, err := in.findIDs(q)
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
		bson.D{{Key: "$match", Value: in.matchDocuments(q, "found.")}},
		mql.Project(mql.E("value", "$found."+f.Path)),
		mql.Unwind("$value"),
		mql.Match(mql.E("value", bson.D{{Key: "$ne", Value: nil}})),
		// an element that stands twice counts once
		mql.Group(bson.D{{Key: "value", Value: "$value"}, {Key: "id", Value: "$_id"}}),
		mql.Group("$_id.value", commands.CountEach()),
	)
	c.Stages = append(c.Stages, commands.SortByValue()...)
	return c, nil
}

// countValues counts documents by the values of a declared path.
func (in *untypedInverted) countValues(path string) (pipeline, error) {
	i, err := in.findTable(path)
	return pipeline{
		Collection: in.tables[i].Entries(),
		Stages:     append(mongo.Pipeline{mql.Group("$_id.v", commands.CountEach())}, commands.SortByValue()...),
	}, err
}

// findDirect returns the query of the values that documents have at the declared paths,
// without entries.
func (in *untypedInverted) findDirect(q model.Query, ids bson.A, err error) model.Query {
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
