package model

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Modify changes one document by findAndModify, and returns the document from before or
// after the change.
type Modify[D any] struct{ FindAndModify }

// A FindAndModify is the non-generic part of a [Modify]: its findAndModify command.
type FindAndModify struct {
	Collection   string
	Filter       bson.D
	Update       any    // a bson.D of operators, a mongo.Pipeline, or nil if Remove is set
	Sort         bson.D // order of the matches; only the first is used
	Projection   bson.D
	ArrayFilters bson.A
	Upsert       bool
	After        bool // return the document after the change
	Remove       bool // delete the document
	Keyed        bool // under a Scope, the _ids carry the tenant: see Write.Keyed
	Options      ModifyOptions
	Index        string // name of the filter's index, or "" if unknown
	Err          error  // error for bad input; Run returns it

	plain bool // made by a Collection, which knows no techniques
	codec *core.Codec
	used  []use
	keys  bson.D // the tenant that scopes put into the _ids
}

// Modify returns a findAndModify command. An empty filter matches any document. A nil
// filter makes Run return a [*ValueError]. To delete the document, pass a nil update and
// set [FindAndModify].Remove.
//
// Cost: one command, one document, which is returned.
//
// Consistency: the command is atomic. A second run can change another document.
func (c *Collection[D, K]) Modify(filter, update bson.D) *Modify[D] {
	m := new(Modify[D])
	declOf(c).findAndModify(&m.FindAndModify, filter, update)
	return m
}

// Run runs the command. It returns [ErrNotFound] if no document matches. An upsert that
// inserts a document returns ErrNotFound too, unless [FindAndModify].After is set.
func (m *Modify[D]) Run(ctx context.Context, db DB) (D, error) {
	var doc D
	err := runModify(ctx, db, &m.FindAndModify, &doc)
	return doc, err
}

//go:noinline
func (c declaration) findAndModify(m *FindAndModify, filter, update bson.D) {
	m.Collection, m.codec, m.Keyed = c.Name(), c.Codec(), c.Docs.IsKeyed()
	m.plain = true
	if m.Filter, m.Err = c.Codec().CopyD(filter); m.Err != nil {
		return
	}
	u, err := c.Codec().CopyD(update)
	if err == nil {
		err = cmp.Or(c.CheckFilter(m.Filter), c.CheckUpdate(u))
	}
	if m.Err = err; u != nil { // a nil bson.D means no update, for Remove
		m.Update = u
	}
}

// scopedModify returns the findAndModify under the database's scopes.
func scopedModify(db DB, m *FindAndModify) *FindAndModify {
	own := *m
	if w := rewriterOf(db); w != nil {
		w.findAndModify(&own)
	}
	return &own
}

//go:noinline
func runModify(ctx context.Context, db DB, m *FindAndModify, doc any) error {
	ctx, op := begin(ctx, db, "modify", "", m.Collection, 0)
	defer op.end()
	op.changes(m)
	err := sendModify(ctx, db, m, doc)
	op.settle(err)
	return err
}

func sendModify(ctx context.Context, db DB, m *FindAndModify, doc any) error {
	if err := core.CheckRun(ctx, db); err != nil {
		return err
	}
	m = scopedModify(db, m)
	if r := routerOf(withRouter(ctx, db)); r != nil && m.Err == nil {
		r.findAndModify(m)
	}
	if err := checkModify(m); err != nil {
		return err
	}
	if err := checkCollations(ctx, db, m.used); err != nil {
		return err
	}
	coll := collectionOf(ctx, db, m.codec, m.Collection)
	var res *mongo.SingleResult
	if m.Remove {
		res = coll.FindOneAndDelete(ctx, orEmpty(m.Filter), withModifyOptions(options.FindOneAndDelete(), m))
	} else {
		res = coll.FindOneAndUpdate(ctx, orEmpty(m.Filter), m.Update, updateOptions(m))
	}
	observationOf(ctx).modified(m, res.Err())
	res = withoutKeys(res, m.keys, m.codec)
	if m.codec.DecodesWhole(doc) {
		raw, err := res.Raw()
		if err == nil {
			err = m.codec.Decode(raw, doc)
		}
		return notFound(err, m.Collection, m.Filter)
	}
	return notFound(res.Decode(doc), m.Collection, m.Filter)
}

// withoutKeys returns the result with the _id without the tenant.
func withoutKeys(res *mongo.SingleResult, tenant bson.D, c *core.Codec) *mongo.SingleResult {
	if len(tenant) == 0 {
		return res
	}
	raw, err := res.Raw()
	if err != nil {
		return res
	}
	return mongo.NewSingleResultFromDocument(core.WithoutTenant(raw, tenant), nil, c.Registry())
}

// Command returns the findAndModify command, without the fields that the driver adds.
func (m *FindAndModify) Command() bson.D {
	cmd := bson.D{{Key: "findAndModify", Value: m.Collection}, {Key: "query", Value: orEmpty(m.Filter)}}
	add := func(on bool, key string, v any) {
		if on {
			cmd = append(cmd, bson.E{Key: key, Value: v})
		}
	}
	add(len(m.Sort) > 0, "sort", m.Sort)
	add(m.Remove, "remove", true)
	add(!m.Remove, "update", m.Update)
	add(m.After, "new", true)
	add(m.Upsert, "upsert", true)
	add(len(m.Projection) > 0, "fields", m.Projection)
	add(len(m.ArrayFilters) > 0, "arrayFilters", m.ArrayFilters)
	return m.Options.appendTo(cmd)
}

// String returns the command in mongosh syntax.
func (m *FindAndModify) String() string {
	if err := checkModify(m); err != nil {
		return "// refused: " + err.Error()
	}
	return shellCall(m.Collection, "findAndModify", m.Command()[1:])
}

// Cost returns the price: one command, one document written, one returned. Nothing is
// written or returned if no document matches. An upsert that inserts a document returns it
// only with After.
//
//go:noinline
func (m *FindAndModify) Cost() Cost {
	return Cost{Commands: 1, Written: 1, Returned: 1, Indexes: indexes(m.Index)}
}

func checkModify(m *FindAndModify) error {
	switch {
	case m.Err != nil:
		return m.Err
	case m.Collection == "":
		return errNoCollection("a findAndModify")
	case m.Filter == nil:
		return &ValueError{Collection: m.Collection, Field: "Filter", Reason: "is nil: give bson.D{} to match any document"}
	case m.Remove && (m.Update != nil || m.After || m.Upsert):
		return &ValueError{Collection: m.Collection, Field: "Remove", Reason: "takes no Update, After or Upsert"}
	case !m.Remove && m.Update == nil:
		return &ValueError{Collection: m.Collection, Field: "Update", Reason: "is missing"}
	}
	return cmp.Or(core.CheckDepth(m.Filter), core.CheckDepth(m.Update), core.CheckDepth(m.Sort),
		core.CheckDepth(m.Projection), core.CheckDepth(m.ArrayFilters), m.Options.check())
}

// A modifyBuilder builds the driver's options of a findAndModify command.
type modifyBuilder[B any] interface {
	optionsBuilder[B]
	SetSort(any) B
	SetProjection(any) B
}

// withModifyOptions is withOptions for findAndModify commands.
func withModifyOptions[B modifyBuilder[B]](b B, m *FindAndModify) B {
	if len(m.Sort) > 0 {
		b.SetSort(m.Sort)
	}
	if len(m.Projection) > 0 {
		b.SetProjection(m.Projection)
	}
	return withOptions(b, m.Options)
}

func updateOptions(m *FindAndModify) *options.FindOneAndUpdateOptionsBuilder {
	o := withModifyOptions(options.FindOneAndUpdate(), m)
	if m.Upsert {
		o.SetUpsert(true)
	}
	if m.After {
		o.SetReturnDocument(options.After)
	}
	if len(m.ArrayFilters) > 0 {
		o.SetArrayFilters(m.ArrayFilters)
	}
	return o
}
