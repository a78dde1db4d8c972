package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxTerms is how many values a query combines; each is a range of entries.
const maxTerms = 256

// inverted is what of an [Inverted] doesn't depend on its types.
type inverted struct {
	docs   string
	tables indexTables
}

// An InvertedID is the _id of a document, as [Inverted.IDs] finds it.
type InvertedID[K any] struct {
	ID K `bson:"_id"`
}

// An InvertedCount is how many documents have a value.
type InvertedCount struct {
	Value bson.RawValue `bson:"value"`
	N     int64         `bson:"n"`
}

// An InvertedQuery says which documents are sought: those with a value, [Inverted.Is], and what And, Or and Minus make of
// several. It belongs to the Inverted that made it. It is never changed, so that a part can be used again. The zero
// InvertedQuery asks for nothing, and is refused.
type InvertedQuery struct {
	of    *inverted
	kind  setKind
	parts []InvertedQuery // of a combination
	table int             // of a value
	value bson.RawValue
	err   error
}

type setKind uint8

const (
	isValue setKind = iota
	intersection
	union
	complement // the first without all others
)

// And returns the query of the documents that this query and all others find.
func (q InvertedQuery) And(others ...InvertedQuery) InvertedQuery {
	return q.with(intersection, others)
}

// Or returns the query of the documents that this query or one of the others finds.
func (q InvertedQuery) Or(others ...InvertedQuery) InvertedQuery { return q.with(union, others) }

// Minus returns the query of the documents that this query finds and none of the others.
func (q InvertedQuery) Minus(others ...InvertedQuery) InvertedQuery {
	return q.with(complement, others)
}

func (q InvertedQuery) with(kind setKind, others []InvertedQuery) InvertedQuery {
	if len(others) == 0 {
		return q
	}
	out := InvertedQuery{of: q.of, kind: kind, parts: append([]InvertedQuery{q}, others...)}
	for _, p := range out.parts {
		switch {
		case p.err != nil && out.err == nil:
			out.err = p.err
		case p.of != q.of && out.err == nil:
			out.err = &model.ValueError{Field: "query", Reason: "combines queries of different inverted indexes, or an empty one"}
		}
	}
	return out
}

func (in *inverted) declare() {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewInverted of " + in.docs, Remedy: remedy})
	}
	if len(in.tables) == 0 {
		fail("no path", "name at least one field to find documents by")
	}
	for i, t := range in.tables {
		for _, other := range in.tables[:i] {
			if model.Overlap(t.path, other.path) {
				fail(fmt.Sprintf("the paths %q and %q overlap", other.path, t.path), "name each field once")
			}
		}
	}
}

func (in *inverted) table(path string) (int, error) {
	if i := slices.IndexFunc(in.tables, func(t *indexTable) bool { return t.path == path }); i >= 0 {
		return i, nil
	}
	return 0, in.tables[0].refused("path", path, "has no inverted index")
}

func (in *inverted) is(path string, value any) InvertedQuery {
	q := InvertedQuery{of: in}
	if q.table, q.err = in.table(path); q.err != nil {
		return q
	}
	t := in.tables[q.table]
	if _, q.err = t.find(value); q.err != nil {
		return q
	}
	q.value, q.err = t.rawValue(t.field, value, true)
	return q
}

// A queryTerm is a value of a query; its number is its index among them.
type queryTerm struct {
	table int
	value bson.RawValue
}

// terms lists the different values of a query. It stops after maxTerms+1 of them, which is one too many.
func (q InvertedQuery) terms(out []queryTerm) []queryTerm {
	for _, p := range q.parts {
		out = p.terms(out)
	}
	if q.kind == isValue && len(out) <= maxTerms && q.number(out) < 0 {
		out = append(out, queryTerm{q.table, q.value})
	}
	return out
}

func (q InvertedQuery) number(terms []queryTerm) int {
	return slices.IndexFunc(terms, func(t queryTerm) bool { return t.table == q.table && bsonval.EqualRaw(t.value, q.value) })
}

// filter is the query as a filter; leaf says what one value is.
func (q InvertedQuery) filter(leaf func(InvertedQuery) bson.D) bson.D {
	if q.kind == isValue {
		return leaf(q)
	}
	list := make(bson.A, len(q.parts))
	for i, p := range q.parts {
		list[i] = p.filter(leaf)
	}
	switch q.kind {
	case union:
		return bson.D{{Key: "$or", Value: list}}
	case complement:
		return bson.D{{Key: "$and", Value: bson.A{list[0], bson.D{{Key: "$nor", Value: list[1:]}}}}}
	}
	return bson.D{{Key: "$and", Value: list}}
}

// checked says why a query can't be asked here.
func (in *inverted) checked(q InvertedQuery) ([]queryTerm, error) {
	switch {
	case q.err != nil:
		return nil, q.err
	case q.of != in:
		return nil, in.tables[0].refused("query", nil, "is empty, or of another inverted index")
	}
	terms := q.terms(nil)
	if len(terms) > maxTerms {
		return nil, in.tables[0].refused("query", nil, fmt.Sprintf("combines more than %d values", maxTerms))
	}
	return terms, nil
}

// A collectionPipeline is a pipeline over a collection.
type collectionPipeline struct {
	collection string
	pipeline   mongo.Pipeline
}

// ids is the pipeline of a query's ids. Each entry gives its id and the number of its value; an id's numbers are grouped,
// and say whether the query finds it. What comes last sorts: a single value's entries are in order as they are.
func (in *inverted) ids(q InvertedQuery) (c collectionPipeline, err error) {
	terms, err := in.checked(q)
	if err != nil {
		return collectionPipeline{in.tables[0].entries, nil}, err
	}
	c.collection = in.tables[terms[0].table].entries
	if len(terms) == 1 && q.kind == isValue {
		c.pipeline = mongo.Pipeline{
			{{Key: "$match", Value: in.entries(terms, terms[0].table)}}, {{Key: "$sort", Value: byID()}},
			{{Key: "$project", Value: bson.D{{Key: "_id", Value: "$_id.id"}}}},
		}
		return c, nil
	}
	for n, t := range in.tables {
		table := (n + terms[0].table) % len(in.tables) // the first value's first
		t = in.tables[table]
		match := in.entries(terms, table)
		if match == nil {
			continue
		}
		stages := mongo.Pipeline{{{Key: "$match", Value: match}}, {{Key: "$project", Value: numbering(terms, table)}}}
		if n == 0 {
			c.pipeline = stages
			continue
		}
		c.pipeline = append(c.pipeline, bson.D{{Key: "$unionWith", Value: bson.D{{Key: "coll", Value: t.entries}, {Key: "pipeline", Value: stages}}}})
	}
	found := q.filter(func(q InvertedQuery) bson.D { return bson.D{{Key: "is", Value: q.number(terms)}} })
	c.pipeline = append(c.pipeline,
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$id"}, {Key: "is", Value: mql.Op("$addToSet", "$is")}}}},
		bson.D{{Key: "$match", Value: found}},
		bson.D{{Key: "$sort", Value: byID()}},
		bson.D{{Key: "$project", Value: byID()}},
	)
	return c, nil
}

// entries matches a table's entries of the values; nil if there are none.
func (in *inverted) entries(terms []queryTerm, table int) bson.D {
	ranges := bson.A{}
	for _, t := range terms {
		if t.table == table {
			ranges = append(ranges, in.tables[table].ofValue(t.value))
		}
	}
	switch len(ranges) {
	case 0:
		return nil
	case 1:
		return ranges[0].(bson.D)
	}
	return bson.D{{Key: "$or", Value: ranges}}
}

// numbering projects a table's entries to the id, and the number of the value.
func numbering(terms []queryTerm, table int) bson.D {
	branches := bson.A{}
	for i, t := range terms {
		if t.table == table {
			branches = append(branches, bson.D{{Key: "case", Value: mql.Op("$eq", "$_id.v", mql.Literal(t.value))}, {Key: "then", Value: mql.Literal(i)}})
		}
	}
	var number any = mql.Op("$switch", bson.D{{Key: "branches", Value: branches}, {Key: "default", Value: nil}})
	if len(branches) == 1 {
		number = branches[0].(bson.D)[1].Value
	}
	return bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "is", Value: number}}
}

func (in *inverted) count(q InvertedQuery) (collectionPipeline, error) {
	c, err := in.ids(q)
	c.pipeline = append(slices.Clone(c.pipeline), oneTotal()...)
	return c, err
}

// holding asks the documents themselves for what the query asks, below a prefix.
func (in *inverted) holding(q InvertedQuery, prefix string) bson.D {
	return q.filter(func(q InvertedQuery) bson.D {
		return bson.D{{Key: prefix + in.tables[q.table].path, Value: model.Eq(q.value)}}
	})
}

func (in *inverted) documents(q InvertedQuery) (collectionPipeline, error) {
	c, err := in.ids(q)
	if err != nil {
		return c, err
	}
	c.pipeline = append(slices.Clone(c.pipeline), mql.Lookup(in.docs, "_id", "_id", "found"),
		bson.D{{Key: "$unwind", Value: "$found"}},
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$found"}}}},
		bson.D{{Key: "$match", Value: in.holding(q, "")}},
	)
	return c, nil
}

func (in *inverted) report(q InvertedQuery, f model.Field, err error) (collectionPipeline, error) {
	c, queryErr := in.ids(q)
	switch {
	case queryErr != nil:
		return c, queryErr
	case err != nil:
		return c, err
	case f.Arrays > 1:
		return c, in.tables[0].refused("path", f.Path, "crosses several arrays: a value of it can't be told")
	}
	c.pipeline = append(slices.Clone(c.pipeline), mql.Lookup(in.docs, "_id", "_id", "found"),
		bson.D{{Key: "$unwind", Value: "$found"}},
		bson.D{{Key: "$match", Value: in.holding(q, "found.")}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "value", Value: "$found." + f.Path}}}},
		bson.D{{Key: "$unwind", Value: "$value"}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "value", Value: bson.D{{Key: "$ne", Value: nil}}}}}},
		grouped(bson.D{{Key: "value", Value: "$value"}, {Key: "id", Value: "$_id"}}), // an element that stands twice counts once
		grouped("$_id.value", number1()),
	)
	c.pipeline = append(c.pipeline, counted()...)
	return c, nil
}

func (in *inverted) values(path string) (collectionPipeline, error) {
	i, err := in.table(path)
	return collectionPipeline{in.tables[i].entries, append(mongo.Pipeline{grouped("$_id.v", number1())}, counted()...)}, err
}

// counted sorts and names the counts of values.
func counted() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$sort", Value: byID()}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "value", Value: "$_id"}, {Key: "n", Value: 1}}}},
	}
}

func (in *inverted) direct(q model.Query, ids bson.A, err error) model.Find[bson.Raw] {
	if err == nil && len(ids) == 0 {
		err = in.tables[0].refused("_id", nil, "no id was given")
	}
	q.Filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
	q.Projection, q.Sort, q.Index = in.tables.projection(), byID(), model.IDIndex
	if err != nil {
		q.Err = err
	}
	return model.Find[bson.Raw]{Query: q}
}
