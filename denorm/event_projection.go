package denorm

import (
	"time"

	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// ProjectionSpec says how views are computed from events. Fold is required.
type ProjectionSpec[V, E any] struct {
	// Fold applies an event to a view and returns the new view. It must be pure. The
	// first view is the zero V.
	Fold func(view V, event E) (V, error)

	// Revision is the version number of Fold. Raise it when Fold changes, then run
	// [Projection.Rebuild] and [Projection.Switch]. Rebuild writes the views into a new
	// collection (a generation). Before Switch, readers read the old generation. Only
	// programs with the old Revision update the old generation.
	Revision int

	// Places is the collection that stores which generation readers read, and the
	// position of [Projection.Stream]. "" means "docmodel.projections".
	Places string

	// Poll is for servers without change streams, where [Projection.Stream] polls every
	// model.StreamOptions.Interval. Poll is the longest delay that you expect from a
	// commit's At to the moment when the commit can be read. A commit with a longer delay
	// is missed until the aggregate's next commit or [Projection.CatchUp]. If Poll is 0,
	// the stream fails on such a server with model.ErrNoChangeStreams.
	Poll time.Duration
}

// Projection stores a view of each aggregate of an [EventLog] in another collection. A
// view is {_id: key, version, at, revision, state}.
//
// A generation is a collection with all views: accounts.1, accounts.2. Readers read the
// live generation. A document, the pointer, names it. Under a [model.Scope], use
// [Projection.CatchUp] instead of a stream.
//
// # Consistency
//
// [Projection.Stream] updates the views some time after the commits. Read a view with
// [Projection.Load], or call [Projection.Generations] and [Projection.In] before each
// query. If you do, no view returns to a lower version.
//
// Source: Materialized View pattern
// (https://learn.microsoft.com/azure/architecture/patterns/materialized-view); CQRS
// pattern (https://learn.microsoft.com/azure/architecture/patterns/cqrs).
//
// Indexes returns the index for polling, if the spec has Poll. Create the views' own
// indexes on each generation's collection: see [Projection.In].
type Projection[K, E, V any] struct {
	model.Parts

	views *model.Collection[EventState[K, V], K]
	p     *eventlog.Projection
	rev   int
}

// NewProjection declares a projection of a log. A collection with all views has the name
// of views, a dot and a number: see [Projection]. NewProjection panics with a
// [*model.DeclarationError] if Fold is missing or Poll is negative. It also panics if two
// of views, ProjectionSpec.Places and the log's commits are the same collection.
func NewProjection[K, E, S, V any](
	log *EventLog[K, E, S], views *model.Collection[EventState[K, V], K], spec ProjectionSpec[V, E],
) *Projection[K, E, V] {
	if log == nil || log.l == nil {
		core.Place("NewProjection of "+views.Name()).Fail("the log is nil", "give a result of NewEventLog")
	}
	p := &Projection[K, E, V]{views: views, rev: spec.Revision}
	p.p = eventlog.DeclareProjection(log.l, views.Docs(), spec.Fold != nil,
		foldOf[K](log.commits, views.Docs(), spec.Fold, spec.Revision), spec.Places, spec.Poll)
	var needs []model.Need
	if spec.Poll == 0 {
		needs = []model.Need{{Feature: "change streams", Why: "Stream follows " + log.commits.Name() + " without Poll"}}
	}
	p.Parts = model.NewParts(p.p.Indexes, nil, nil, p.p.Footprints, needs...)
	return p
}

// CatchUp returns the change that updates an aggregate's view in the live generation (see
// [Projection]). Before [Projection.Switch], it also updates the new generation. A
// generation of another ProjectionSpec.Revision stays unchanged. A retry is safe.
//
// Cost: five commands, by _id, one document. Two generations cost two more commands and
// one more document.
func (p *Projection[K, E, V]) CatchUp(key K) model.Change[any] { return p.p.CatchUp(key) }

// Stream returns the stream that updates the views as commits come in. Run it with
// [model.Stream.Run]. A new ProjectionSpec.Revision makes the stream read all commits
// again.
//
// Cost: three commands for each commit, by _id. They read the pointer (see [Projection]),
// read the view and write the view. A commit out of order costs one more command.
func (p *Projection[K, E, V]) Stream() model.Stream { return p.p.Stream() }

// Load returns the change that reads the stored view of the [EventLog] aggregate with
// this key, in the live generation (see [Projection]). A missing view gives
// model.ErrNotFound.
//
// Cost: two commands, each one document by _id; one more if the view is missing.
func (p *Projection[K, E, V]) Load(key K) model.Change[EventState[K, V]] {
	return readAs(p.p.Load(key), func(s eventlog.State) EventState[K, V] { return stateOf[K, V](key, s, p.rev) })
}

// Generations contains the numbers of a [Projection]'s generations.
type Generations struct {
	Live     int64 // the generation that readers read
	Building int64 // the new generation, between Rebuild and Switch; 0 for none
}

// Generations returns a change that only reads: the number of the live generation, and
// the number of the generation being built.
//
// Cost: one command, one document by _id.
func (p *Projection[K, E, V]) Generations() model.Change[Generations] {
	return readAs(p.p.Generations(), func(at eventlog.Pointer) Generations { return Generations{at.Live, at.Building} })
}

// In returns the collection of a generation's views. Read the generation's number with
// [Projection.Generations] before each query.
func (p *Projection[K, E, V]) In(generation int64) *model.Collection[EventState[K, V], K] {
	return p.views.Named(p.p.Name(generation))
}

// Rebuild returns the job that writes all views into a new generation, while events come
// in. Readers don't see it before [Projection.Switch]. After a crash, run the job again.
//
// Cost: three commands for each 100 aggregates and two for each aggregate. It examines
// all commits by _id.
func (p *Projection[K, E, V]) Rebuild() model.Job { return p.p.Rebuild() }

// Switch returns the job that makes readers read the views that [Projection.Rebuild]
// wrote. If [Generations].Building is 0, the job does nothing. The job first stops the
// updates of the old views. After a crash, run the job again.
//
// Cost: as [Projection.Rebuild], but the job writes only new views that lack commits. The
// first and last commands write the pointer (see [Projection]), one document each.
func (p *Projection[K, E, V]) Switch() model.Job { return p.p.Switch() }

// Drop returns the change that deletes the views of a generation (see [Projection]). If
// the generation is being built, Drop ends the rebuild. The live generation gives a
// [*model.ValueError]. After a crash or a concurrent write, run the change again.
//
// Cost: two commands, and all documents of the generation. Ending a rebuild costs one
// more command.
func (p *Projection[K, E, V]) Drop(generation int64) model.Change[any] { return p.p.Drop(generation) }
