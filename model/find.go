package model

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Find is a query that returns documents as values of type D. It does nothing until All, Each, One or Count runs it
// ([Find.All]); Where, Project, Under and After return changed copies. The fields may be set by hand; the filter is the
// driver's own bson.D.
type Find[D any] struct {
	Collection  string
	Filter      bson.D
	Projection  bson.D
	Sort        bson.D
	Skip, Limit int64 // Limit 0 means all
	Options     ReadOptions
	Index       string // the index that serves the filter and sort; "" means not known
	Err         error  // bad input: returned by every run, before anything is sent

	codec  *codec
	layout *layout
}

// Find returns a query of the collection. The filter may be nil, for all documents. It is copied.
func (c Collection[D, K]) Find(filter bson.D) Find[D] {
	f := Find[D]{Collection: c.name, codec: c.codec, layout: c.layout}
	f.Filter, f.Err = c.codec.copyD(filter)
	return f
}

// ByID returns the query of one document by its _id: one command, served by the _id index.
func (c Collection[D, K]) ByID(id K) Find[D] {
	f := Find[D]{Collection: c.name, codec: c.codec, layout: c.layout, Limit: 1, Index: IDIndex}
	if f.Err = c.CheckID("_id", id); f.Err != nil {
		return f
	}
	v, err := c.codec.value(id)
	f.Filter, f.Err = bson.D{{Key: "_id", Value: Eq(v)}}, err
	return f
}

// Where returns the query with the filter ANDed to it. A condition on a field that the query already has a condition
// on narrows it; it never replaces it.
func (f Find[D]) Where(filter bson.D) Find[D] {
	more, err := f.codec.copyD(filter)
	if err != nil && f.Err == nil {
		f.Err = err
	}
	f.Filter = And(f.Filter, more)
	return f
}

// Sorted returns the query with another sort order. Nothing says any longer which index serves it.
func (f Find[D]) Sorted(sort bson.D) Find[D] {
	f.Sort, f.Index = slices.Clone(sort), ""
	return f
}

// Limited returns the query with at most n documents. A negative n is refused.
func (f Find[D]) Limited(n int64) Find[D] {
	if n < 0 {
		return f.refused("limit", n, "must not be negative")
	}
	f.Limit = n
	return f
}

func (f Find[D]) refused(field string, v any, reason string) Find[D] {
	if f.Err == nil {
		f.Err = &ValueError{Collection: f.Collection, Field: field, Value: v, Reason: reason}
	}
	return f
}

// After returns the next page: the documents that sort after one whose sort fields hold the given values; without values,
// the first page. The sort is made total by _id, in the direction of its last field, so that equal keys are neither
// skipped nor repeated; a query without a sort is paged by _id. Give one value for each field of that sort: for a sort by
// {time: -1}, the time and the _id of the last document seen. Each page, the first too, must come from After, for it is
// After that makes the sort total.
//
// Comparisons are MongoDB's: a document whose sort field is missing, null, or of another BSON type than the value is on
// no page after the first. A null is refused, for the documents that have a value would be on none. Skip is for the first
// page, and not kept.
func (f Find[D]) After(values ...any) Find[D] {
	f = f.totalOrder()
	if len(values) == 0 {
		return f
	}
	f.Skip = 0
	if len(values) != len(f.Sort) {
		return f.refused("After", len(values), fmt.Sprintf("needs %d values, one for each field of the sort %s", len(f.Sort), shell(f.Sort)))
	}
	var branches bson.A
	equal := bson.D{}
	for i, s := range f.Sort {
		v, err := f.codec.value(values[i])
		if err != nil {
			return f.refused("After", nil, err.Error())
		}
		if f64, isFloat := v.(float64); v == nil || isFloat && math.IsNaN(f64) {
			return f.refused("After", nil, fmt.Sprintf("can't go on after a %s that is null or not a number: documents of other types would be lost", s.Key))
		}
		op, bound, ok := direction(s.Value)
		if !ok {
			return f.refused("Sort", s.Value, "After pages by 1 and -1 only")
		}
		if i == 0 {
			f.Filter = And(f.Filter, bson.D{{Key: s.Key, Value: bson.D{{Key: pick(len(values) == 1, op, bound), Value: v}}}})
		}
		branches = append(branches, append(slices.Clone(equal), bson.E{Key: s.Key, Value: bson.D{{Key: op, Value: v}}}))
		equal = append(equal, bson.E{Key: s.Key, Value: Eq(v)})
	}
	if len(branches) > 1 {
		f.Filter = And(f.Filter, bson.D{{Key: "$or", Value: branches}})
	}
	return f
}

// totalOrder appends _id to a sort that doesn't hold it.
func (f Find[D]) totalOrder() Find[D] {
	if !slices.ContainsFunc(f.Sort, func(e bson.E) bool { return e.Key == "_id" }) {
		dir := any(1)
		if n := len(f.Sort); n > 0 {
			dir = f.Sort[n-1].Value
		}
		f.Sort = append(slices.Clone(f.Sort), bson.E{Key: "_id", Value: dir})
	}
	return f
}

// direction gives the operators for what sorts strictly after a value, and for that or equal.
func direction(dir any) (op, bound string, ok bool) {
	switch fmt.Sprint(dir) {
	case "1":
		return "$gt", "$gte", true
	case "-1":
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

// Project returns the query decoding into R, with the projection that R's fields ask for, so that a half-read D can't be
// saved back as a whole one. A field of R that D doesn't store puts an error into the query that names it. R must be a
// struct; use the Projection field for anything else.
func Project[R, D any](f Find[D]) Find[R] {
	out := Find[R]{
		Collection: f.Collection, Filter: f.Filter, Sort: f.Sort, Skip: f.Skip, Limit: f.Limit,
		Options: f.Options, Index: f.Index, Err: f.Err, codec: f.codec,
	}
	jsonTags := f.codec != nil && f.codec.options != nil && f.codec.options.UseJSONStructTags
	l, err := layoutOf(reflect.TypeFor[R](), jsonTags)
	if err != nil || l.open || len(l.order) == 0 {
		return out.refused("projection", reflect.TypeFor[R]().String(), "must be a struct whose fields are known")
	}
	out.layout = l
	for _, name := range l.order {
		if err := CheckKey(name); err != nil {
			return out.refused("projection", name, "is no field's name; name the outer field and decode into a struct")
		}
		if f.layout != nil {
			if _, err := f.layout.resolve(name, f.codec); err != nil {
				return out.refused("projection", name, err.Error())
			}
		}
		out.Projection = append(out.Projection, bson.E{Key: name, Value: 1})
	}
	if _, ok := l.fields["_id"]; !ok {
		out.Projection = append(out.Projection, bson.E{Key: "_id", Value: 0})
	}
	return out
}

// Command is the find command as the server is sent it, less what the driver adds.
func (f Find[D]) Command() bson.D {
	cmd := bson.D{{Key: "find", Value: f.Collection}, {Key: "filter", Value: orEmpty(f.Filter)}}
	add := func(key string, v any) { cmd = append(cmd, bson.E{Key: key, Value: v}) }
	if len(f.Projection) > 0 {
		add("projection", f.Projection)
	}
	if len(f.Sort) > 0 {
		add("sort", f.Sort)
	}
	if f.Skip != 0 {
		add("skip", f.Skip)
	}
	if f.Limit != 0 {
		add("limit", f.Limit)
	}
	if f.Options.BatchSize != 0 {
		add("batchSize", f.Options.BatchSize)
	}
	return f.Options.commandOptions(cmd)
}

// String is the query as a mongosh command.
func (f Find[D]) String() string {
	if f.Err != nil {
		return "// refused: " + f.Err.Error()
	}
	args := []any{orEmpty(f.Filter)}
	if len(f.Projection)+len(f.Options.Let) > 0 {
		args = append(args, orEmpty(f.Projection))
	}
	if len(f.Options.Let) > 0 {
		args = append(args, bson.D{{Key: "let", Value: f.Options.Let}})
	}
	var b strings.Builder
	b.WriteString(shellCall(f.Collection, "find", args...))
	if len(f.Sort) > 0 {
		b.WriteString(".sort(" + shell(f.Sort) + ")")
	}
	if f.Skip != 0 {
		fmt.Fprintf(&b, ".skip(%d)", f.Skip)
	}
	if f.Limit != 0 {
		fmt.Fprintf(&b, ".limit(%d)", f.Limit)
	}
	if f.Options.Hint != nil {
		b.WriteString(".hint(" + shell(f.Options.Hint) + ")")
	}
	if f.Options.Collation != nil {
		b.WriteString(".collation(" + shell(collationD(f.Options.Collation)) + ")")
	}
	if f.Options.Comment != nil {
		b.WriteString(".comment(" + shell(f.Options.Comment) + ")")
	}
	if f.Options.BatchSize != 0 {
		fmt.Fprintf(&b, ".batchSize(%d)", f.Options.BatchSize)
	}
	if f.Options.AllowDiskUse {
		b.WriteString(".allowDiskUse()")
	}
	return b.String()
}

// Cost is the query's price: one command, and one more for each further batch of its answer.
func (f Find[D]) Cost() Cost { return readCost(f.Index) }

func orEmpty(d bson.D) bson.D {
	if d == nil {
		return bson.D{}
	}
	return d
}
