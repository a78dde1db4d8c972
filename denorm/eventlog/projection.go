package eventlog

import (
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// ProjectionSpec says how a [Projection] computes views from events. Fold is required.
type ProjectionSpec[V, E any] struct {
	// Fold returns the view after an event. The result must depend only on the arguments.
	// The first view is the zero V.
	Fold func(view V, event E) (V, error)

	// Revision is the version number of Fold. If you change Fold, raise Revision, run
	// [Projection.Rebuild], and run [Projection.Switch]. Until Switch, readers read the
	// old views. A program with the old Revision must update these.
	Revision int

	// Places is the collection of the projection's state. "" means
	// "docmodel.projections".
	Places string

	// A commit can become visible later than its Commit.At. Set Poll to the longest
	// delay. Each poll begins at the previous poll's newest At, minus Poll. After a
	// longer delay, run [Projection.CatchUp]. On servers without change streams, 0 gives
	// model.ErrNoChangeStreams.
	Poll time.Duration
}

// Projection stores a view of each [EventLog] aggregate in another collection. A view is
// {_id: key, version, at, revision, state}.
//
// A generation is a collection with all views, such as accounts.1. Readers read the live
// generation. A document (the pointer) stores the live generation's number.
//
// Under a [model.Scope], use [Projection.CatchUp] instead of [Projection.Stream].
//
// # Consistency
//
// Stream updates a view some time after the commit. Read one view by [Projection.Load].
// For other queries, call [Projection.Generations] and [Projection.In] before each query.
// In both cases, a view's version never decreases.
//
// Source: Materialized View pattern
// (https://learn.microsoft.com/azure/architecture/patterns/materialized-view); CQRS
// pattern (https://learn.microsoft.com/azure/architecture/patterns/cqrs).
//
// # Indexes
//
// Indexes returns an index only if ProjectionSpec.Poll is set. To index the views, create
// indexes on each generation's collection ([Projection.In]).
type Projection[K, E, V any] struct {
	model.Parts

	views *model.Collection[State[K, V], K]
	p     *untypedProjection
}

// NewProjection declares a projection of a log. If the collection views is named
// accounts, the views are stored in accounts.1 or accounts.2: see [Projection].
//
// NewProjection panics with a [*model.DeclarationError] if Fold is missing or Poll is
// negative. The names of views, ProjectionSpec.Places and the log must differ.
func NewProjection[K, E, S, V any](
	log *EventLog[K, E, S], views *model.Collection[State[K, V], K], spec ProjectionSpec[V, E],
) *Projection[K, E, V] {
	if log == nil || log.l == nil {
		core.Place("NewProjection of "+views.Name()).Fail("the log is nil", "give a result of eventlog.New")
	}
	p := &Projection[K, E, V]{views: views}
	p.p = declareProjection(log.l, views.Docs(), spec.Fold != nil,
		foldOf[K](log.commits, views.Docs(), spec.Fold, spec.Revision), spec.Places, spec.Poll)
	var needs []model.Need
	if spec.Poll == 0 {
		needs = []model.Need{{Feature: "change streams", Why: "Stream follows " + log.commits.Name() + " without Poll"}}
	}
	p.Parts = model.NewParts(p.p.listIndexes, nil, nil, p.p.listFootprints, needs...).
		WithDocs(log.commits.Docs(), views.Docs()).
		WithoutReactions("EventLog.Append and Projection.CatchUp")
	return p
}

// CatchUp returns the change that updates the view of the [EventLog] aggregate with this
// key. The change writes to the generations (see [Projection]) that have p's
// ProjectionSpec.Revision. If no generation has this revision, the change gives a
// [*model.ValueError]. A retry is safe.
//
// Cost: five commands, one document, by _id. A projection's first CatchUp costs one more
// command and document, the pointer. Two generations cost two more commands and one more
// document.
func (p *Projection[K, E, V]) CatchUp(key K) model.Change { return p.p.catchUpKey(key) }

// Stream returns the stream that updates the views after each commit to the [EventLog].
// Run it with [model.Stream.Run]. After a change of ProjectionSpec.Revision, run
// [Projection.Rebuild] before the stream. The stream then reads all old commits, except
// with [model.StreamOptions].FromNow.
//
// Cost: two reads and one write for each commit, by _id. A commit out of order costs one
// more command. Between Rebuild and [Projection.Switch], each commit costs two more
// commands.
func (p *Projection[K, E, V]) Stream() model.Stream { return p.p.makeStream() }

// Load returns the change that reads one stored view. The key is the [EventLog]
// aggregate's key. Load reads the live generation (see [Projection]). The result has the
// revision of the program that wrote the view. A missing view gives model.ErrNotFound.
//
// Cost: two commands, each one document by _id; one more if the view is missing.
func (p *Projection[K, E, V]) Load(key K) model.ChangeOf[State[K, V]] {
	return readAs(p.p.loadView(key), func(s untypedState) State[K, V] {
		return stateOf[K, V](key, s, s.Revision)
	})
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
func (p *Projection[K, E, V]) Generations() model.ChangeOf[Generations] {
	return readAs(p.p.readGenerations(), func(at viewPointer) Generations {
		return Generations{at.Live, at.Building}
	})
}

// In returns the collection of one generation (see [Projection]). Before each query, read
// the live generation's number with [Projection.Generations].
func (p *Projection[K, E, V]) In(generation int64) *model.Collection[State[K, V], K] {
	views := p.views.Named(p.p.nameGeneration(generation))
	views.Docs().MakeKeyed()
	return views
}

// Rebuild returns the job that writes all views into a new generation: see [Projection].
// Commits can continue. Readers see the views after [Projection.Switch]. After a crash,
// run the job again.
//
// Cost: two commands per aggregate, plus three per 100 aggregates. The job examines all
// commits by _id.
func (p *Projection[K, E, V]) Rebuild() model.Job { return p.p.makeRebuildJob() }

// Switch returns the job that makes readers read the views that [Projection.Rebuild]
// wrote. If [Generations].Building is 0, the job does nothing. First, the job stops the
// updates of the old views. After a crash, run the job again. If Rebuild and
// Switch run at the same time, the slower job can end with a [*model.ValueError].
//
// Cost: the job reads as much as [Projection.Rebuild]. It writes only new views that lack
// events. Two more commands begin and end the switch.
func (p *Projection[K, E, V]) Switch() model.Job { return p.p.makeSwitchJob() }

// Drop returns the change that deletes a generation's views (see [Projection]). If the
// generation is being built, the change ends the rebuild. The live generation gives a
// [*model.ValueError]. If a crash or a concurrent write leaves views, run the change
// again.
//
// Cost: two commands. Ending a rebuild costs one more command.
func (p *Projection[K, E, V]) Drop(generation int64) model.Change {
	return p.p.dropGeneration(generation)
}
