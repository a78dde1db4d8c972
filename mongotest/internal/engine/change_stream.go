package engine

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// changeStream is the source of a cursor over changes. Its next returns nil
// when there is nothing yet, and wake says when that may be over.
type changeStream struct {
	engine *Engine
	options
	scope scope
	pipe  *pipeline.Pipeline

	at     store.Position // what has been read
	token  bson.D         // from where a new stream goes on
	queue  []*store.Event // read from the history, and still to be looked at
	ending *store.Event   // what invalidates the stream, to be reported next
	over   bool           // the stream has been invalidated
	wake   <-chan struct{}
	watch  *interrupt.Watch
}

func (s *changeStream) Close()                   {}
func (s *changeStream) Position() bson.D         { return s.token }
func (s *changeStream) IsOver() bool             { return s.over }
func (s *changeStream) Changed() <-chan struct{} { return s.wake }

// scope is what a stream is about: a collection, a database, or all of them.
type scope struct{ db, coll string }

// sees reports whether the stream has an event of the change.
func (s scope) sees(e *store.Event) bool {
	switch {
	case s.coll != "" && e.Kind == store.DatabaseDropped:
		return false
	case s.coll != "":
		ns := store.Namespace{DB: s.db, Coll: s.coll}
		return e.NS == ns || e.Kind == store.Renamed && e.Of.To == ns
	case s.db != "":
		return e.NS.DB == s.db && !strings.HasPrefix(e.NS.Coll, "system.")
	}
	return !slices.Contains(forms.InternalDatabases, e.NS.DB) && !strings.HasPrefix(e.NS.Coll, "system.")
}

// sees reports whether the stream comes by the change. Views are seen by streams of expanded events, but not by those
// of a collection.
func (s *changeStream) sees(e *store.Event) bool {
	return s.scope.sees(e) && (!e.OfView() || s.expanded && s.scope.coll == "")
}

// hides reports whether the stream has no event of a change that it sees. It can go on from there.
func (s *changeStream) hides(e *store.Event) bool {
	return !s.expanded && slices.Contains(expandedKinds, e.Kind)
}

var expandedKinds = []string{store.Created, store.IndexesCreated, store.IndexesDropped, store.Modified}

// endsBy reports whether the change, which the scope sees, invalidates a stream.
func (s scope) endsBy(e *store.Event) bool {
	if s.coll != "" {
		return e.Kind == store.Dropped || e.Kind == store.Renamed
	}
	return s.db != "" && e.Kind == store.DatabaseDropped
}

// changeStages are the stages that may follow $changeStream.
var changeStages = []string{
	"$match", "$project", "$set", "$addFields", "$unset", "$replaceRoot", "$replaceWith", "$redact",
}

// isWatch reports whether a pipeline opens a change stream.
func isWatch(stages bson.A) bool {
	if len(stages) == 0 {
		return false
	}
	d, _ := stages[0].(bson.D)
	return len(d) == 1 && d[0].Key == "$changeStream"
}

// watch runs an aggregate command whose first stage is $changeStream.
func watch(r *request, stages bson.A) (reply, error) {
	r.watching = true
	a := r.args()
	batch := readBatchSize(a)
	a.Boolean("allowDiskUse", false)
	a.Boolean("bypassDocumentValidation", false)
	a.Refuse("explain", false)
	a.Refuse("hint")
	by := a.Collation(nil) // MongoDB doesn't take the collection's here
	now := r.engine.now()
	vars := a.Variables("let", now, by)
	if a.Err != nil {
		return nil, a.Err
	}
	if r.snapshot.asked {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "$changeStream cannot be used with a 'snapshot' read concern level")
	}
	if r.autocommit {
		return nil, mongoerr.New(mongoerr.OperationNotSupportedInTransaction, "$changeStream cannot be used in a transaction")
	}
	s := &changeStream{engine: r.engine, watch: r.watch}
	spec, ok := stages[0].(bson.D)[0].Value.(bson.D)
	if !ok {
		return nil, mongoerr.New(50808, "$changeStream stage expects a document as argument")
	}
	if err := s.options.read(&args.Reader{Place: "$changeStream", Doc: spec}); err != nil {
		return nil, err
	}
	if s.expanded && r.strict {
		return nil, mongoerr.New(mongoerr.APIStrictError,
			"The 'showExpandedEvents' parameter to $changeStream is not supported in API Version 1")
	}
	ns, err := s.locate(r)
	if err != nil {
		return nil, err
	}
	for _, v := range stages[1:] {
		if d, _ := v.(bson.D); len(d) == 1 && slices.Contains(pipeline.Stages(), d[0].Key) &&
			!slices.Contains(changeStages, d[0].Key) {
			return nil, mongoerr.New(mongoerr.IllegalOperation, "%s is not permitted in a $changeStream pipeline", d[0].Key)
		}
	}
	if s.pipe, err = pipeline.ParseVars(stages[1:],
		&environment{now: now, watch: r.watch, collation: by}, vars); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return r.openCursor(&cursor.Cursor{Namespace: ns, Source: s, Stream: s, Resume: s.token}, batch, false)
}

// locate reads what the stream is about.
func (s *changeStream) locate(r *request) (store.Namespace, error) {
	if n, ok := args.ReadWhole(r.body[0].Value); !ok || n != 1 {
		ns, err := r.namespace()
		switch {
		case err != nil:
			return ns, err
		case s.all:
			return ns, notCluster(ns)
		case slices.Contains(forms.InternalDatabases, ns.DB):
			return ns, mongoerr.New(mongoerr.InvalidNamespace,
				"$changeStream may not be opened on the internal %s database", ns.DB)
		case strings.HasPrefix(ns.Coll, "system."):
			return ns, mongoerr.New(mongoerr.InvalidNamespace,
				"$changeStream may not be opened on the internal %s collection", ns)
		case r.isView():
			return ns, store.OnView(ns)
		}
		if c := r.state().Collection(ns); c != nil && c.Series != nil {
			return ns, mongoerr.New(mongoerr.CommandNotSupportedOnView, "Namespace %s is a timeseries collection", ns)
		}
		s.scope = scope{ns.DB, ns.Coll}
		return ns, nil
	}
	ns := store.Namespace{DB: r.db, Coll: collectionless}
	switch {
	case s.all && r.db != "admin":
		return ns, notCluster(ns)
	case s.all:
		return ns, nil
	case slices.Contains(forms.InternalDatabases, r.db):
		return ns, mongoerr.New(mongoerr.InvalidNamespace,
			"$changeStream may not be opened on the internal %s database", r.db)
	}
	s.scope = scope{db: r.db}
	return ns, nil
}

func notCluster(ns store.Namespace) error {
	return mongoerr.New(mongoerr.InvalidOptions, "A $changeStream with 'allChangesForCluster:true' may only be opened "+
		"on the 'admin' database, and with no collection name; found %s", ns)
}

// start finds the place from which the stream reads.
func (s *changeStream) start() error {
	st := s.engine.store
	switch {
	case s.hasToken:
		return s.resume(s.from)
	case s.hasTime:
		s.at = store.Position{Timestamp: s.time}
		if s.at.Compare(st.Forgotten()) < 0 {
			return historyLost()
		}
	default:
		s.at = st.Latest()
	}
	s.token = token{s.at, mark}.document()
	return nil
}

func (s *changeStream) resume(t token) error {
	st := s.engine.store
	s.at, s.token = t.at, t.document()
	lost := t.at.Compare(st.Forgotten())
	if lost < 0 || lost == 0 && t.kind != mark {
		return historyLost()
	}
	if t.kind == mark {
		return nil
	}
	e := st.Event(t.at)
	if e == nil || !s.sees(e) || t.kind == invalidated && !s.scope.endsBy(e) {
		return fatal(mongoerr.ChangeStreamFatalError, "cannot resume stream; the resume token was not found. %s",
			store.Show(t.document()))
	}
	if t.kind == changed && s.scope.endsBy(e) {
		s.ending = e
	}
	return nil
}

func historyLost() error {
	return fatal(mongoerr.ChangeStreamHistoryLost,
		"Resume of change stream was not possible, as the resume point may no longer be in the oplog.")
}

func fatal(code int32, format string, args ...any) error {
	err := mongoerr.New(code, format, args...)
	err.Labels = []string{"NonResumableChangeStreamError"}
	return err
}

const readAhead = 256 // changes that are read from the history at a time

// Next returns the next event, or nil when there is none yet, or no more.
func (s *changeStream) Next() (bson.D, error) {
	for !s.over {
		if err := s.watch.Step(); err != nil {
			return nil, err
		}
		if e := s.ending; e != nil {
			s.ending, s.over = nil, true
			doc, err := s.transform(s.invalidation(e), token{e.Position, invalidated})
			if doc != nil || err != nil {
				return doc, err
			}
			continue
		}
		if len(s.queue) == 0 {
			var kept bool
			if s.queue, s.wake, kept = s.engine.store.Events(s.at, readAhead); !kept {
				return nil, historyLost()
			}
			if len(s.queue) == 0 {
				return nil, nil
			}
		}
		e := s.queue[0]
		s.queue = s.queue[1:]
		s.at = e.Position
		s.token = token{s.at, mark}.document()
		if !s.sees(e) || s.hides(e) {
			continue
		}
		if s.scope.endsBy(e) {
			s.ending = e
		}
		doc, err := s.event(e)
		if err != nil {
			return nil, err
		}
		if doc, err = s.transform(doc, token{s.at, changed}); doc != nil || err != nil {
			return doc, err
		}
	}
	return nil, nil
}

// transform puts an event through the stages that follow $changeStream. They
// may leave it out.
func (s *changeStream) transform(doc bson.D, t token) (bson.D, error) {
	id := t.document()
	in := func(yield func(bson.D, error) bool) { yield(doc, nil) }
	for out, err := range s.pipe.Run(in) {
		if err != nil {
			return nil, err
		}
		if got, _ := bsonval.Get(out, "_id"); !bsonval.Equal(got, id) {
			return nil, fatal(mongoerr.ChangeStreamFatalError,
				"Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. "+
					"Modifying the _id field of an event makes it impossible to resume the stream from that point. "+
					"Only transformations that retain the unmodified _id field are allowed. Expected: %s but found: %s",
				store.Show(bson.D{{Key: "_id", Value: id}}), store.Show(bson.D{{Key: "_id", Value: got}}))
		}
		if n := bsonval.Size(out); n > store.MaxDocument {
			return nil, mongoerr.New(mongoerr.BSONObjectTooLarge, "BSONObj size: %d is invalid: a change event may have 16MB", n)
		}
		s.token = id
		return out, nil
	}
	return nil, nil
}
