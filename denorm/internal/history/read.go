package history

import (
	"context"
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// one is a document's _id, checked.
type one struct {
	id   bson.RawValue
	byID bson.D
}

func (h *History) one(id any) (o one, err error) {
	if o.id, err = h.docs.RawID("_id", id); err == nil {
		o.byID, err = h.docs.ByID(id)
	}
	return o, err
}

// rowID is the _id of a revision.
func (o one) rowID(version int64) bson.D {
	return bson.D{mql.E("id", o.id), mql.E("v", version)}
}

// rows matches the revisions of a document. They are a range of _id, in the order of versions.
func (o one) rows(below int64) bson.D {
	last := bson.D{mql.E("id", o.id), mql.E("v", bson.MaxKey{})}
	if below > 0 {
		last[1].Value = below
	}
	return bson.D{mql.E("_id", bson.D{mql.E("$gte", bson.D{mql.E("id", o.id)}), mql.E("$lt", last)})}
}

// current is the stored document as a revision.
func (h *History) current() bson.D {
	return mql.Project(
		mql.E("_id", bson.D{mql.E("id", "$_id"), mql.E("v", mql.IfNull("$"+h.version, int64(0)))}),
		mql.E("at", mql.IfNull("$"+h.revised+".at", never)), mql.E("token", "$"+h.revised+".op"),
		mql.E("gone", mql.Op("$eq", "$"+h.revised+".gone", true)), mql.E("doc", "$$ROOT"),
	)
}

// never is the time of a document that was stored without one.
var never = bson.NewDateTimeFromTime(time.Time{})

func (h *History) union(stages ...bson.D) bson.D {
	return mql.Op("$unionWith", bson.D{mql.E("coll", h.revisions.Name()), mql.E("pipeline", mongo.Pipeline(stages))})
}

var (
	newestFirst = mql.Sort(mql.E("_id", -1))
	byTime      = mql.Sort(mql.E("at", -1), mql.E("_id", -1))
	there       = mql.Match(mql.E("gone", bson.D{mql.E("$ne", true)}))
	whole       = mql.E("doc", mql.Exists(true)) // not only the claim of a number
)

func limit(n int64) bson.D { return bson.D{mql.E("$limit", n)} }

// AsOf finds the revision that a document had at a time.
func (h *History) AsOf(id any, at time.Time) (mongo.Pipeline, error) {
	o, err := h.one(id)
	if err != nil {
		return nil, err
	}
	until := mql.E("at", mql.Op("$lte", bson.NewDateTimeFromTime(at)))
	return mongo.Pipeline{
		mql.Match(o.byID...), h.current(), mql.Match(until),
		h.union(mql.Match(mql.E("_id.id", mql.Eq(o.id)), until, whole), byTime, limit(1)),
		newestFirst, limit(1), there,
	}, nil
}

// Version finds one revision.
func (h *History) Version(id any, version int64) (mongo.Pipeline, error) {
	o, err := h.one(id)
	if err == nil {
		err = h.checkVersion(version)
	}
	if err != nil {
		return nil, err
	}
	is := mql.E("_id", mql.Eq(o.rowID(version)))
	return mongo.Pipeline{mql.Match(o.byID...), h.current(), mql.Match(is), h.union(mql.Match(is, whole)), limit(1), there}, nil
}

// Revisions finds the revisions before the version after, newest first.
func (h *History) Revisions(id any, after, n int64) (mongo.Pipeline, error) {
	o, err := h.one(id)
	switch {
	case err != nil:
		return nil, err
	case after < 0:
		return nil, h.docs.Refuse("version", after, "is negative: give 0 to begin with the newest")
	case n < 0 || n == math.MaxInt64:
		return nil, h.docs.Refuse("n", n, "is negative: give 0 for all revisions")
	}
	rows := []bson.D{mql.Match(append(o.rows(after), whole)...)}
	if n > 0 {
		rows = append(rows, newestFirst, limit(n+1))
	}
	out := mongo.Pipeline{mql.Match(o.byID...), h.current()}
	if after > 0 {
		out = append(out, mql.Match(mql.E("_id.v", mql.Op("$lt", after))))
	}
	out = append(append(out, h.union(rows...)), once()...)
	if n > 0 {
		out = append(out, limit(n))
	}
	return out, nil
}

// Between finds the revisions that began within a time, newest first.
func (h *History) Between(id any, from, to time.Time) (mongo.Pipeline, error) {
	o, err := h.one(id)
	switch {
	case err != nil:
		return nil, err
	case !from.Before(to):
		return nil, h.docs.Refuse("end", to, "isn't after start: give a later time")
	}
	within := mql.E("at", bson.D{mql.E("$gte", bson.NewDateTimeFromTime(from)), mql.E("$lt", bson.NewDateTimeFromTime(to))})
	out := mongo.Pipeline{
		mql.Match(o.byID...), h.current(), mql.Match(within), h.union(mql.Match(mql.E("_id.id", mql.Eq(o.id)), within, whole)),
	}
	return append(out, once()...), nil
}

// once keeps each revision once: a change under way has stored the current version already.
func once() mongo.Pipeline {
	return mongo.Pipeline{mql.Group("$_id", mql.E("row", mql.Op("$first", "$$ROOT"))), mql.ReplaceRoot("$row"), newestFirst}
}

func (h *History) checkVersion(version int64) error {
	switch {
	case version < 0:
		return h.docs.Refuse(h.version, version, "must not be negative")
	case version == math.MaxInt64:
		return h.docs.Refuse(h.version, version, "is the largest possible version")
	}
	return nil
}

// state is what a change reads: the document, and what its revisions tell.
type state struct {
	doc     bson.Raw // nil: it isn't stored
	applied bool     // a revision says that the operation was applied
	last    bson.Raw // the _id, at and token of the newest revision, where it was asked for
	wanted  bson.Raw // the revision to restore, where it was asked for
}

// reading says what a change needs.
type reading struct {
	one
	op     bson.ObjectID
	last   bool
	wanted int64 // -1: none
}

func (h *History) read(ctx context.Context, db model.DB, r reading) (s state, err error) {
	project := func(as string) bson.D { return mql.Project(mql.E("_id", 0), mql.E(as, "$$ROOT")) }
	pipeline := mongo.Pipeline{
		mql.Match(r.byID...), project("doc"),
		h.union(mql.Match(mql.E("token", r.op), mql.E("_id.id", mql.Eq(r.id))), limit(1), mql.Project(mql.E("_id", 0), mql.E("applied", mql.Literal(true)))),
	}
	if r.last || !runctx.HopeFirst(ctx) { // a change that meets another revision of its number reads again
		pipeline = append(pipeline, h.union(mql.Match(r.rows(0)...), newestFirst, limit(1),
			mql.Project(mql.E("_id", 1), mql.E("at", 1), mql.E("token", 1)), project("last")))
	}
	if r.wanted >= 0 {
		pipeline = append(pipeline, h.union(mql.Match(mql.E("_id", mql.Eq(r.rowID(r.wanted)))), project("wanted")))
	}
	a := &model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: h.docs.Name(), Pipeline: pipeline, Index: model.IDIndex}}
	rows, err := a.All(ctx, db)
	for _, row := range rows {
		elements, err := row.Elements()
		if err != nil || len(elements) != 1 {
			return s, h.docs.Refuse("history", nil, "the server's answer can't be read")
		}
		doc, _ := elements[0].Value().DocumentOK()
		switch elements[0].Key() {
		case "doc":
			s.doc = doc
		case "applied":
			s.applied = true
		case "last":
			s.last = doc
		case "wanted":
			s.wanted = doc
		}
	}
	return s, err
}

// versionOf is a stored document's version.
func (h *History) versionOf(doc bson.Raw) (int64, error) {
	v, _ := core.ValueAt(doc, h.version)
	if v.Type == 0 || v.Type == bson.TypeNull {
		return 0, nil
	}
	n, ok := v.AsInt64OK()
	if !ok {
		return 0, h.docs.Refuse(h.version, v, "isn't a version: give 1 or more")
	}
	return n, h.checkVersion(n)
}

// revisedOf is what a stored document says of its last change.
func (h *History) revisedOf(doc bson.Raw) (at time.Time, op bson.ObjectID, gone bool) {
	v, _ := core.ValueAt(doc, h.revised)
	note, ok := v.DocumentOK()
	if !ok {
		return at, op, false
	}
	at, _ = note.Lookup("at").TimeOK()
	op, _ = note.Lookup("op").ObjectIDOK()
	gone, _ = note.Lookup("gone").BooleanOK()
	return at, op, gone
}
