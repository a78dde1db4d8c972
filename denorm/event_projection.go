package denorm

import (
	"time"

	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// ProjectionSpec says how a view is made of an aggregate's events. Fold is required.
type ProjectionSpec[V, E any] struct {
	// Fold applies an event to a view. It must be pure. The first view is the zero V.
	Fold func(view V, event E) (V, error)

	// Revision counts the versions of Fold. After it is raised, run Rebuild and Switch. Until
	// the switch, processes of the old revision go on writing the live generation, and those
	// of the new one write the generation that is being built.
	Revision int

	// Places is the collection in which is stored which generation is live, and the place of
	// the stream; "" means "docmodel.projections".
	Places string

	// Poll is how much later than its time a commit may become visible: the writers' clocks
	// may differ, and writes take time. By it a server without change streams can be polled,
	// with the index of [Projection.Indexes]. What becomes visible later is missed until the
	// aggregate's next commit, or [Projection.CatchUp]. 0 refuses such servers.
	Poll time.Duration
}

// Projection keeps a view of each aggregate of an [EventLog] in another collection, as
// documents that can be queried and indexed: {_id: key, version, at, revision, state}. Make
// it with [NewProjection].
//
// The views are stored in generations, each a collection of its own: accounts.1, accounts.2.
// A pointer document says which one is live. Rebuild fills a new one while events come in,
// Switch lets readers read it.
//
// # Consistency
//
// Views are late by what the stream has not yet applied. A view is a function of the commits
// up to its version, and a write replaces only a lower version. So repeated and reordered
// deliveries do nothing. A reader who reads by [Projection.Load], or by
// [Projection.Generations] and [Projection.In] each time, never sees a view go back to a
// lower version, also not across a switch: before it moves the pointer, Switch lets the live
// generation take no more writes, and goes through all aggregates once more.
//
// Under a tenant's [model.Scope] each tenant has a pointer of its own. A stream is refused
// there: use [Projection.CatchUp].
//
// Source: Materialized View pattern
// (https://learn.microsoft.com/azure/architecture/patterns/materialized-view); CQRS pattern
// (https://learn.microsoft.com/azure/architecture/patterns/cqrs).
//
// Indexes returns the index that polling reads by; none without Poll. Indexes of the views
// are the caller's: create them on [Projection.In] before Rebuild.
type Projection[K, E, V any] struct {
	model.Parts

	views *model.Collection[EventState[K, V], K]
	p     *eventlog.Projection
	rev   int
}

// NewProjection declares a projection of a log. The name of views is that which the
// generations' names begin with. It panics with a [*model.DeclarationError] when there is no
// Fold, when Poll is negative, or when views, places and commits share a collection.
func NewProjection[K, E, S, V any](
	log *EventLog[K, E, S], views *model.Collection[EventState[K, V], K], spec ProjectionSpec[V, E],
) *Projection[K, E, V] {
	if log == nil || log.l == nil {
		core.Place("NewProjection of "+views.Name()).Fail("the log is nil", "give what NewEventLog returned")
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

// CatchUp returns the change that brings an aggregate's view up to date, in each generation
// that takes writes of this Revision. It is idempotent. A Revision that is higher than that
// of all generations is a [*model.ValueError]; a lower one writes nothing.
//
// Cost: four commands, the last commit, the pointer and the view by _id, the commits after
// the view by a range of _id, and one for the view, one document; without new commits three.
// While a generation is built two commands and one document more. The first of all stores
// the pointer too. A cut leaves the view, or that of one generation, as it was.
func (p *Projection[K, E, V]) CatchUp(key K) model.Change[any] { return p.p.CatchUp(key) }

// Stream returns the stream that brings the views up to date as commits come in: see
// [model.Stream.Run]. Its name holds the Revision, so that a new one goes through all
// commits.
//
// Cost: three commands for a commit that follows its view, the pointer and the view by _id,
// and the write of one document; one more for a commit that came out of order.
func (p *Projection[K, E, V]) Stream() model.Stream { return p.p.Stream() }

// Load returns the change that reads an aggregate's view from the live generation. It writes
// nothing. No view is model.ErrNotFound.
//
// Cost: two commands, each one document by _id; one more where there is no view.
func (p *Projection[K, E, V]) Load(key K) model.Change[EventState[K, V]] {
	return readAs(p.p.Load(key), func(s eventlog.State) EventState[K, V] { return stateOf[K, V](key, s, p.rev) })
}

// Generations are the numbers of a projection's generations.
type Generations struct {
	Live     int64 // readers read it
	Building int64 // Rebuild has begun it, and Switch hasn't ended; 0 for none
}

// Generations returns the change that reads which generations there are. It writes nothing.
//
// Cost: one command, one document by _id.
func (p *Projection[K, E, V]) Generations() model.Change[Generations] {
	return readAs(p.p.Generations(), func(at eventlog.Pointer) Generations { return Generations{at.Live, at.Building} })
}

// In returns the collection of a generation, for queries of views. Read the generation
// anew for each query.
func (p *Projection[K, E, V]) In(generation int64) *model.Collection[EventState[K, V], K] {
	return p.views.Named(p.p.Name(generation))
}

// Rebuild returns the job that begins a new generation, unless one is being built, and
// brings the views of all aggregates up to date there. Events may come in meanwhile. Readers
// notice nothing until [Projection.Switch]. Run again, it goes through all aggregates again.
//
// Cost: one command for each 100 aggregates, served by _id, which examines all commits; two
// for each aggregate that read its view and its commits; one for the views of a batch, one
// document each. A cut leaves a generation that the next run goes on with.
func (p *Projection[K, E, V]) Rebuild() model.Job { return p.p.Rebuild() }

// Switch returns the job that lets readers read the new generation. It lets the live one
// take no more writes, brings the new one up to date in a last pass, and moves the pointer.
// If no generation is being built, it does nothing.
//
// Cost: as [Projection.Rebuild], but that it writes only the views that are behind, and two
// commands and two documents for the pointer. A cut leaves the live generation readable, and
// standing still until the job is run again, or the new generation dropped.
func (p *Projection[K, E, V]) Switch() model.Job { return p.p.Switch() }

// Drop returns the change that deletes the views of a generation that is not live. One that
// is being built is given up. The live one is a [*model.ValueError].
//
// Cost: two commands, and all documents of the generation; one more to give it up. A cut
// leaves some: run it again. So may a writer that had read the pointer before.
func (p *Projection[K, E, V]) Drop(generation int64) model.Change[any] { return p.p.Drop(generation) }
