package model

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/direction"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Query is what a [Find] sends, whatever it decodes into. The fields may be set by hand; the filter is the driver's own
// bson.D.
type Query struct {
	Collection  string
	Filter      bson.D
	Projection  bson.D
	Sort        bson.D
	Skip, Limit int64 // Limit 0 means all
	Options     ReadOptions
	Deleted     bool   // under a Policy, also read documents that its Delete has marked; see Write.Deleted
	Index       string // the index that serves the filter and sort; "" means not known
	Err         error  // bad input: returned by every run, before anything is sent

	codec  *codec
	layout *layout
}

// query fills in a query of the collection.
//
//go:noinline
func (c *declaration) query(q *Query, filter bson.D) {
	c = c.orZero()
	q.Collection, q.codec, q.layout = c.name, c.codec, c.layout
	q.Filter, q.Err = c.codec.copyD(filter)
}

//go:noinline
func (c *declaration) queryByID(q *Query, id any) {
	c = c.orZero()
	q.Collection, q.codec, q.layout, q.Limit, q.Index = c.name, c.codec, c.layout, 1, IDIndex
	q.Filter, q.Err = c.idFilter(id)
}

//go:noinline
func where(q *Query, filter bson.D) {
	more, err := q.codec.copyD(filter)
	if err != nil && q.Err == nil {
		q.Err = err
	}
	q.Filter = And(q.Filter, more)
}

func refuse(q *Query, field string, v any, reason string) {
	if q.Err == nil {
		q.Err = &ValueError{Collection: q.Collection, Field: field, Value: v, Reason: reason}
	}
}

//go:noinline
func limit(q *Query, n int64) {
	if n < 0 {
		refuse(q, "limit", n, "must not be negative")
		return
	}
	q.Limit = n
}

//go:noinline
func sorted(q *Query, sort bson.D) { q.Sort, q.Index = slices.Clone(sort), "" }

//go:noinline
func queryUnder(q *Query, p *Policy) {
	if !p.holds(q.Collection) {
		return
	}
	filter, err := p.reaching(q.Collection, q.Deleted)
	if err != nil && q.Err == nil {
		q.Err = err
	}
	where(q, filter)
}

// nextPage makes the query its next page: see [Find.After].
func nextPage(q *Query, values []any) {
	totalOrder(q)
	if len(values) == 0 {
		return
	}
	q.Skip = 0
	if len(values) != len(q.Sort) {
		refuse(q, "After", len(values), fmt.Sprintf("needs %d values, one for each field of the sort %s", len(q.Sort), shell(q.Sort)))
		return
	}
	var branches bson.A
	equal := bson.D{}
	for i, s := range q.Sort {
		v, err := q.codec.value(values[i])
		if err != nil {
			refuse(q, "After", nil, err.Error())
			return
		}
		if f64, isFloat := v.(float64); v == nil || isFloat && math.IsNaN(f64) {
			refuse(q, "After", nil, fmt.Sprintf("can't go on after a %s that is null or not a number: documents of other types would be lost", s.Key))
			return
		}
		op, bound, ok := directed(s.Value)
		if !ok {
			refuse(q, "Sort", s.Value, "After pages by 1 and -1 only")
			return
		}
		if i == 0 {
			q.Filter = And(q.Filter, bson.D{{Key: s.Key, Value: bson.D{{Key: pick(len(values) == 1, op, bound), Value: v}}}})
		}
		branches = append(branches, append(slices.Clone(equal), bson.E{Key: s.Key, Value: bson.D{{Key: op, Value: v}}}))
		equal = append(equal, bson.E{Key: s.Key, Value: Eq(v)})
	}
	if len(branches) > 1 {
		q.Filter = And(q.Filter, bson.D{{Key: "$or", Value: branches}})
	}
}

// totalOrder appends _id to a sort that doesn't hold it.
func totalOrder(q *Query) {
	if !slices.ContainsFunc(q.Sort, func(e bson.E) bool { return e.Key == "_id" }) {
		dir := any(1)
		if n := len(q.Sort); n > 0 {
			dir = q.Sort[n-1].Value
		}
		q.Sort = append(slices.Clone(q.Sort), bson.E{Key: "_id", Value: dir})
	}
}

// directed gives the operators for what sorts strictly after a value, and for that or equal.
func directed(dir any) (op, bound string, ok bool) {
	switch direction.Of(dir) {
	case 1:
		return "$gt", "$gte", true
	case -1:
		return "$lt", "$lte", true
	}
	return "", "", false
}

func pick[T any](cond bool, a, b T) T {
	if cond {
		return a
	}
	return b
}

// project is the query with the projection that a struct's fields ask for.
func project(q Query, as reflect.Type) Query {
	from := q.layout
	q.Projection, q.layout = nil, nil
	jsonTags := q.codec != nil && q.codec.options != nil && q.codec.options.UseJSONStructTags
	l, err := layoutOf(as, jsonTags)
	if err != nil || l.open || len(l.order) == 0 {
		refuse(&q, "projection", as.String(), "must be a struct whose fields are known")
		return q
	}
	q.layout = l
	for _, name := range l.order {
		if err := CheckKey(name); err != nil {
			refuse(&q, "projection", name, "is no field's name; name the outer field and decode into a struct")
			return q
		}
		if from != nil {
			if _, err := from.resolve(name, q.codec); err != nil {
				refuse(&q, "projection", name, err.Error())
				return q
			}
		}
		q.Projection = append(q.Projection, bson.E{Key: name, Value: 1})
	}
	if _, ok := l.fields["_id"]; !ok {
		q.Projection = append(q.Projection, bson.E{Key: "_id", Value: 0})
	}
	return q
}

// Command is the find command as the server is sent it, less what the driver adds.
func (q Query) Command() bson.D {
	cmd := bson.D{{Key: "find", Value: q.Collection}, {Key: "filter", Value: orEmpty(q.Filter)}}
	add := func(key string, v any) { cmd = append(cmd, bson.E{Key: key, Value: v}) }
	if len(q.Projection) > 0 {
		add("projection", q.Projection)
	}
	if len(q.Sort) > 0 {
		add("sort", q.Sort)
	}
	if q.Skip != 0 {
		add("skip", q.Skip)
	}
	if q.Limit != 0 {
		add("limit", q.Limit)
	}
	if q.Options.BatchSize != 0 {
		add("batchSize", q.Options.BatchSize)
	}
	return q.Options.commandOptions(cmd)
}

// String is the query as a mongosh command.
func (q Query) String() string {
	if q.Err != nil {
		return "// refused: " + q.Err.Error()
	}
	args := []any{orEmpty(q.Filter)}
	if len(q.Projection)+len(q.Options.Let) > 0 {
		args = append(args, orEmpty(q.Projection))
	}
	if len(q.Options.Let) > 0 {
		args = append(args, bson.D{{Key: "let", Value: q.Options.Let}})
	}
	var b strings.Builder
	b.WriteString(shellCall(q.Collection, "find", args...))
	if len(q.Sort) > 0 {
		b.WriteString(".sort(" + shell(q.Sort) + ")")
	}
	if q.Skip != 0 {
		fmt.Fprintf(&b, ".skip(%d)", q.Skip)
	}
	if q.Limit != 0 {
		fmt.Fprintf(&b, ".limit(%d)", q.Limit)
	}
	if q.Options.Hint != nil {
		b.WriteString(".hint(" + shell(q.Options.Hint) + ")")
	}
	if q.Options.Collation != nil {
		b.WriteString(".collation(" + shell(collationD(q.Options.Collation)) + ")")
	}
	if q.Options.Comment != nil {
		b.WriteString(".comment(" + shell(q.Options.Comment) + ")")
	}
	if q.Options.BatchSize != 0 {
		fmt.Fprintf(&b, ".batchSize(%d)", q.Options.BatchSize)
	}
	if q.Options.AllowDiskUse {
		b.WriteString(".allowDiskUse()")
	}
	return b.String()
}

// Cost is the query's price: one command, and one more for each further batch of its answer.
func (q Query) Cost() Cost { return readCost(q.Index) }

func orEmpty(d bson.D) bson.D {
	if d == nil {
		return bson.D{}
	}
	return d
}
