package denorm

import (
	"time"

	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// ProjectionSpec says how events make a view. Fold is required.
type ProjectionSpec[V, E any] struct {
	// Fold applies an event to a view and returns the new view. It must be pure. The
	// first view is the zero V.
	Fold func(view V, event E) (V, error)

	// Revision is the version number of Fold. After raising it, run Rebuild and Switch.
	// Until then, old processes write the live generation, and new processes the new
	// generation.
	Revision int

	// Places is the collection of the pointer to the live generation and of the stream's
	// place. "" means "docmodel.projections".
	Places string

	// Poll lets the stream poll a server without change streams, by [Projection.Indexes].
	// It is the greatest delay between a commit's time and its visibility, because of
	// slow writes and different clocks. Polling misses a later commit until the
	// aggregate's next commit or [Projection.CatchUp]. 0 refuses servers without change
	// streams.
	Poll time.Duration
}

// Projection stores a view of each aggregate of an [EventLog] in another collection, for
// queries and indexes: {_id: key, version, at, revision, state}. Make it with
// [NewProjection].
//
// Views are stored in generations, each in a collection: accounts.1, accounts.2. A
// pointer document names the live generation. Rebuild fills a new generation while events
// come in. Switch makes it live.
//
// # Consistency
//
// Views are as late as the stream. A write replaces only a lower version, so that
// repeated or reordered deliveries do nothing. A reader by [Projection.Load], or by
// [Projection.Generations] and [Projection.In] each time, never sees a view return to a
// lower version, even across a switch. For this, Switch stops writes to the live
// generation and goes through all aggregates once more before it moves the pointer.
//
// Under a [model.Scope] each tenant has its own pointer. Streams are refused there: use
// [Projection.CatchUp].
//
// Source: Materialized View pattern
// (https://learn.microsoft.com/azure/architecture/patterns/materialized-view); CQRS
// pattern (https://learn.microsoft.com/azure/architecture/patterns/cqrs).
//
// Indexes returns the index for polling, if the spec has Poll. Create indexes of the
// views on [Projection.In] before Rebuild.
type Projection[K, E, V any] struct {
	model.Parts

	views *model.Collection[EventState[K, V], K]
	p     *eventlog.Projection
	rev   int
}

// NewProjection declares a projection of a log. The generations' names begin with the
// name of views. It panics with a [*model.DeclarationError] when Fold is missing, Poll is
// negative, or views, places and commits share a collection.
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

// CatchUp returns the change that updates an aggregate's view in each generation that
// takes writes of this Revision. It is idempotent. A Revision above those of all
// generations is a [*model.ValueError]. A lower Revision writes nothing.
//
// Cost: five commands, one document: four read the last commit, the pointer, the view and
// the commits after it, by _id, and one writes the view. Without new commits, three.
// While a generation is built, two commands and one document more. The first call also
// stores the pointer. A crash leaves one or both views as they were.
func (p *Projection[K, E, V]) CatchUp(key K) model.Change[any] { return p.p.CatchUp(key) }

// Stream returns the stream that updates the views as commits come in: see
// [model.Stream.Run]. Its name contains the Revision, so that a new Revision goes through
// all commits.
//
// Cost: three commands for each commit: the pointer and the view by _id, and a write of
// one document. One more for a commit out of order.
func (p *Projection[K, E, V]) Stream() model.Stream { return p.p.Stream() }

// Load returns the change that reads an aggregate's view in the live generation. A
// missing view gives model.ErrNotFound.
//
// Cost: two commands, each one document by _id; one more if the view is missing.
func (p *Projection[K, E, V]) Load(key K) model.Change[EventState[K, V]] {
	return readAs(p.p.Load(key), func(s eventlog.State) EventState[K, V] { return stateOf[K, V](key, s, p.rev) })
}

// Generations contains the numbers of a projection's generations.
type Generations struct {
	Live     int64 // readers read it
	Building int64 // between Rebuild and Switch; 0 for none
}

// Generations returns the change that reads the numbers of the generations.
//
// Cost: one command, one document by _id.
func (p *Projection[K, E, V]) Generations() model.Change[Generations] {
	return readAs(p.p.Generations(), func(at eventlog.Pointer) Generations { return Generations{at.Live, at.Building} })
}

// In returns the collection of a generation's views. Read the number again for each
// query.
func (p *Projection[K, E, V]) In(generation int64) *model.Collection[EventState[K, V], K] {
	return p.views.Named(p.p.Name(generation))
}

// Rebuild returns the job that begins a new generation, unless one is being built, and
// writes all views there, while events come in. Readers don't see it before
// [Projection.Switch].
//
// Cost: one command for each 100 aggregates, which examines all commits by _id, and one
// to write their views; two for each aggregate, to read its view and commits. After a
// crash, run it again.
func (p *Projection[K, E, V]) Rebuild() model.Job { return p.p.Rebuild() }

// Switch returns the job that makes the new generation live. It stops writes to the live
// generation, updates the new one, and moves the pointer. Without a new generation it
// does nothing.
//
// Cost: as [Projection.Rebuild], but only for views that are behind, and two commands and
// two documents for the pointer. After a crash readers read the live generation, but it
// isn't updated until the job runs again or the new generation is dropped.
func (p *Projection[K, E, V]) Switch() model.Job { return p.p.Switch() }

// Drop returns the change that deletes the views of a generation. A generation that is
// being built is given up. The live one is a [*model.ValueError].
//
// Cost: two commands, and all documents of the generation; one more to give it up. Views
// may remain after a crash, or if a writer read the pointer before: run it again.
func (p *Projection[K, E, V]) Drop(generation int64) model.Change[any] { return p.p.Drop(generation) }
