package history

// This file has the queries of revisions, and the read of a change.

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

// A document is an encoded _id, and the filter by it, which may contain the keys of
// scopes.
type document struct {
	id bson.RawValue
	// The filter by _id.
	byID bson.D
}

// checkID encodes an _id.
func (h *untypedHistory) checkID(id any) (o document, err error) {
	if o.id, err = h.docs.RawID("_id", id); err == nil {
		o.byID, err = h.docs.ByID(id)
	}
	return o, err
}

// makeRevisionID returns the _id of a revision.
func (o document) makeRevisionID(version int64) bson.D {
	return bson.D{mql.E("id", o.id), mql.E("v", version)}
}

// matchRevisions matches the revisions of a document below a version; 0 for all. They are
// a range of _id, in the order of versions.
func (o document) matchRevisions(below int64) bson.D {
	last := bson.D{mql.E("id", o.id), mql.E("v", bson.MaxKey{})}
	if below > 0 {
		last[1].Value = below
	}
	return bson.D{mql.E("_id", bson.D{mql.E("$gte", bson.D{mql.E("id", o.id)}), mql.E("$lt", last)})}
}

// projectRevision is the stage that turns the current document into a revision.
func (h *untypedHistory) projectRevision() bson.D {
	return mql.Project(
		mql.E("_id", bson.D{mql.E("id", "$_id"), mql.E("v", mql.IfNull("$"+h.version, int64(0)))}),
		mql.E("at", mql.IfNull("$"+h.revised+".at", never)), mql.E("token", "$"+h.revised+".op"),
		mql.E("gone", mql.Op("$eq", "$"+h.revised+".gone", true)), mql.E("doc", "$$ROOT"),
	)
}

// never is the time of a document that was stored without a note.
var never = bson.NewDateTimeFromTime(time.Time{})

// unionRevisions is the stage that adds revisions to the current document.
func (h *untypedHistory) unionRevisions(stages ...bson.D) bson.D {
	return mql.Op("$unionWith", bson.D{mql.E("coll", h.revisions.Name()), mql.E("pipeline", mongo.Pipeline(stages))})
}

var (
	// Revisions of one document are in the order of _id, and so of their versions.
	newestFirst      = mql.Sort(mql.E("_id", -1))
	byTime           = mql.Sort(mql.E("at", -1), mql.E("_id", -1))
	excludeDeletions = mql.Match(mql.E("gone", bson.D{mql.E("$ne", true)}))
	hasDocument      = mql.E("doc", mql.Exists(true)) // not only the claim of a number
)

// limitTo is a $limit stage.
func limitTo(n int64) bson.D { return bson.D{mql.E("$limit", n)} }

// findAsOf finds the revision that a document had at a time: the newest of those that
// began before.
func (h *untypedHistory) findAsOf(id any, at time.Time) (mongo.Pipeline, error) {
	o, err := h.checkID(id)
	if err != nil {
		return nil, err
	}
	until := mql.E("at", mql.Op("$lte", bson.NewDateTimeFromTime(at)))
	return mongo.Pipeline{
		mql.Match(o.byID...), h.projectRevision(), mql.Match(until),
		h.unionRevisions(mql.Match(mql.E("_id.id", mql.Eq(o.id)), until, hasDocument), byTime, limitTo(1)),
		newestFirst, limitTo(1), excludeDeletions,
	}, nil
}

// findVersion finds one version, in the document or in its revisions.
func (h *untypedHistory) findVersion(id any, version int64) (mongo.Pipeline, error) {
	o, err := h.checkID(id)
	if err == nil {
		err = h.checkVersion(version)
	}
	if err != nil {
		return nil, err
	}
	is := mql.E("_id", mql.Eq(o.makeRevisionID(version)))
	return mongo.Pipeline{
		mql.Match(o.byID...), h.projectRevision(), mql.Match(is), h.unionRevisions(mql.Match(is, hasDocument)),
		limitTo(1), excludeDeletions,
	}, nil
}

// findRevisions finds the revisions before the version after, newest first. It reads one
// more than n, because the current version can be stored twice.
func (h *untypedHistory) findRevisions(id any, after, n int64) (mongo.Pipeline, error) {
	o, err := h.checkID(id)
	switch {
	case err != nil:
		return nil, err
	case after < 0:
		return nil, h.docs.Refuse("version", after, "is negative: give 0 to begin with the newest")
	case n < 0 || n == math.MaxInt64:
		return nil, h.docs.Refuse("n", n, "is negative: give 0 for all revisions")
	}
	rows := []bson.D{mql.Match(append(o.matchRevisions(after), hasDocument)...)}
	if n > 0 {
		rows = append(rows, newestFirst, limitTo(n+1))
	}
	out := mongo.Pipeline{mql.Match(o.byID...), h.projectRevision()}
	if after > 0 {
		out = append(out, mql.Match(mql.E("_id.v", mql.Op("$lt", after))))
	}
	out = append(append(out, h.unionRevisions(rows...)), keepEachOnce()...)
	if n > 0 {
		out = append(out, limitTo(n))
	}
	return out, nil
}

// findBetween finds the revisions that began within a span of time, newest first.
func (h *untypedHistory) findBetween(id any, from, to time.Time) (mongo.Pipeline, error) {
	o, err := h.checkID(id)
	switch {
	case err != nil:
		return nil, err
	case !from.Before(to):
		return nil, h.docs.Refuse("end", to, "isn't after start: give a later time")
	}
	within := mql.E("at", bson.D{
		mql.E("$gte", bson.NewDateTimeFromTime(from)), mql.E("$lt", bson.NewDateTimeFromTime(to)),
	})
	out := mongo.Pipeline{
		mql.Match(o.byID...), h.projectRevision(), mql.Match(within),
		h.unionRevisions(mql.Match(mql.E("_id.id", mql.Eq(o.id)), within, hasDocument)),
	}
	return append(out, keepEachOnce()...), nil
}

// keepEachOnce keeps each revision once: a change that is running has already stored the
// current version.
func keepEachOnce() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Group("$_id", mql.E("row", mql.Op("$first", "$$ROOT"))),
		mql.ReplaceRoot("$row"), newestFirst,
	}
}

// checkVersion refuses numbers after which no version could come.
func (h *untypedHistory) checkVersion(version int64) error {
	switch {
	case version < 0:
		return h.docs.Refuse(h.version, version, "must not be negative")
	case version == math.MaxInt64:
		return h.docs.Refuse(h.version, version, "is the largest possible version")
	}
	return nil
}

// A state is what a change reads: the document, and facts from its revisions.
type state struct {
	// Nil if the document isn't stored.
	doc     bson.Raw
	applied bool // a revision says that the operation was applied
	// The _id, at and token of the newest revision, if it was read.
	last bson.Raw
	// The revision to restore, if it was read.
	wanted bson.Raw
}

// A reading says what a change needs to read. wanted is a version to restore, or -1.
type reading struct {
	document
	op bson.ObjectID
	// Read the newest revision even in the first attempt.
	last   bool
	wanted int64 // -1: none
}

// readState reads everything in one command. Each result has one field, whose name says
// what it is.
func (h *untypedHistory) readState(ctx context.Context, db model.DB, r reading) (s state, err error) {
	project := func(as string) bson.D { return mql.Project(mql.E("_id", 0), mql.E(as, "$$ROOT")) }
	pipeline := mongo.Pipeline{
		mql.Match(r.byID...), project("doc"),
		h.unionRevisions(mql.Match(mql.E("token", r.op), mql.E("_id.id", mql.Eq(r.id))), limitTo(1),
			mql.Project(mql.E("_id", 0), mql.E("applied", mql.Literal(true)))),
	}
	if r.last || !runctx.HopeFirst(ctx) { // a change that meets another revision of its number reads again
		pipeline = append(pipeline, h.unionRevisions(mql.Match(r.matchRevisions(0)...), newestFirst, limitTo(1),
			mql.Project(mql.E("_id", 1), mql.E("at", 1), mql.E("token", 1)), project("last")))
	}
	if r.wanted >= 0 {
		pipeline = append(pipeline,
			h.unionRevisions(mql.Match(mql.E("_id", mql.Eq(r.makeRevisionID(r.wanted)))), project("wanted")))
	}
	a := &model.Aggregate[bson.Raw]{
		Aggregation: model.Aggregation{Collection: h.docs.Name(), Pipeline: pipeline, Index: model.IDIndex},
	}
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

// readVersion returns a stored document's version; 0 if it is missing.
func (h *untypedHistory) readVersion(doc bson.Raw) (int64, error) {
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

// readNote returns what a stored document says of its last change.
func (h *untypedHistory) readNote(doc bson.Raw) (at time.Time, op bson.ObjectID, gone bool) {
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
