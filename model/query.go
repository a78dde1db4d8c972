package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Query is the find command of a [Find], without the type of the documents.
type Query struct {
	Collection  string
	Filter      bson.D
	Projection  bson.D
	Sort        bson.D
	Skip, Limit int64 // documents to skip, and to return at most; 0 means no skip, no limit
	Options     ReadOptions
	Deleted     bool   // under a Scope, also read documents that Scope.Delete marked
	Keyed       bool   // under a Scope, the _ids carry the tenant: see Write.Keyed
	Index       string // name of the expected index, only for reports; "" if unknown
	Err         error  // reports bad input; each run returns it

	docs   *core.Docs // checks Where and Sorted, or nil for a query made by hand
	codec  *core.Codec
	layout *core.Layout
	used   []use
	keys   bson.D // the tenant that scopes put into the _ids
	stored bool   // the _ids are as they are stored, also in a keyed collection
}

// query sets the fields of a query of the collection.
//
//go:noinline
func (c declaration) query(q *Query, filter bson.D) {
	q.Collection, q.docs, q.codec, q.layout = c.Name(), c.Docs, c.Codec(), c.Layout()
	q.Keyed = c.Docs.IsKeyed()
	if q.Filter, q.Err = c.Codec().CopyD(filter); q.Err == nil {
		q.Err = c.CheckFilter(q.Filter)
	}
}

//go:noinline
func (c declaration) queryByID(q *Query, id any) {
	q.Collection, q.docs, q.codec, q.layout, q.Limit, q.Index = c.Name(), c.Docs, c.Codec(), c.Layout(), 1, IDIndex
	q.Keyed = c.Docs.IsKeyed()
	q.Filter, q.Err = c.ByID(id)
}

// where sets q to from with one more filter. Like similar functions here, it isn't
// generic: its code is compiled only once.
//
//go:noinline
func where(q, from *Query, filter bson.D) {
	*q = *from
	more := narrow(q, filter)
	if q.Err == nil {
		q.Err = q.known().CheckFilter(more)
	}
}

// known returns the declaration that checks filters and sorts. It returns nil if the
// query reads another collection.
func (q *Query) known() *core.Docs {
	if q.docs == nil || q.docs.Name() != q.Collection {
		return nil
	}
	return q.docs
}

// narrow adds a filter to a query and returns the copied filter.
func narrow(q *Query, filter bson.D) bson.D {
	more, err := q.codec.CopyD(filter)
	if err != nil && q.Err == nil {
		q.Err = err
	}
	q.Filter = bsondoc.JoinFilters(q.Filter, more)
	return more
}

func refuse(q *Query, field string, v any, reason string) {
	if q.Err == nil {
		q.Err = &ValueError{Collection: q.Collection, Field: field, Value: v, Reason: reason}
	}
}

//go:noinline
func limited(q, from *Query, n int64) {
	if *q = *from; n < 0 {
		refuse(q, "limit", n, "is negative: give 0 or more")
		return
	}
	q.Limit = n
}

//go:noinline
func sorted(q, from *Query, sort bson.D) {
	*q = *from
	q.Sort = slices.Clone(sort)
	if !reverses(sort, from.Sort) {
		q.Index = ""
	}
	if q.Err == nil {
		q.Err = q.known().CheckSort(sort)
	}
}

// reverses reports whether a is b in reverse order. The same index serves both sorts.
func reverses(a, b bson.D) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y bson.E) bool {
		return x.Key == y.Key && direction.Parse(x.Value) != 0 && direction.Parse(x.Value) == -direction.Parse(y.Value)
	})
}

// project sets q to from with the projection of a struct's fields.
//
//go:noinline
func project(q, from *Query, as reflect.Type) {
	*q = *from
	whole := q.layout
	q.Projection, q.layout = nil, nil
	l, err := core.LayoutOf(as, q.codec)
	if err != nil || l.Open || len(l.Names) == 0 {
		refuse(q, "projection", as.String(), "must be a struct whose fields are known")
		return
	}
	q.layout = l
	for _, name := range l.Names {
		if err := core.CheckKey(name); err != nil {
			refuse(q, "projection", name, "isn't a field's name: name the outer field and decode into a struct")
			return
		}
		if whole != nil {
			if _, err := whole.Resolve(name, q.codec); err != nil {
				refuse(q, "projection", name, err.Error())
				return
			}
		}
		q.Projection = append(q.Projection, bson.E{Key: name, Value: 1})
	}
	if !l.HasField("_id") {
		q.Projection = append(q.Projection, bson.E{Key: "_id", Value: 0})
	}
}

// Command returns the find command, without the fields that the driver adds.
func (q *Query) Command() bson.D {
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
	return q.Options.appendTo(cmd)
}

// String returns the query in mongosh syntax.
func (q *Query) String() string {
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

// Cost returns the price: one command, and one more for each further batch.
//
//go:noinline
func (q *Query) Cost() Cost { return readCost(q.Index) }
