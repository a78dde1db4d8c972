package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// defaultPlaces is the collection of the pointers and of the streams' places.
const defaultPlaces = "docmodel.projections"

// An untypedProjection is the Projection without its Go types.
type untypedProjection struct {
	log    *untypedLog
	docs   *core.Docs // of the views, under the name that generations begin with
	fold   folding
	places string
	poll   time.Duration
}

// declareProjection checks a declaration. It panics with a *model.DeclarationError if the
// declaration doesn't fit.
func declareProjection(
	log *untypedLog, docs *core.Docs, hasFold bool, fold folding, places string, poll time.Duration,
) *untypedProjection {
	places = cmp.Or(places, defaultPlaces)
	place := core.Place("NewProjection of " + docs.Name())
	switch {
	case !hasFold:
		place.Fail("Fold is nil", "give a function that applies an event to a view")
	case poll < 0:
		place.Fail(fmt.Sprintf("Poll is %v", poll), "give the longest delay after which a commit becomes visible, or 0")
	case docs.Name() == log.Docs.Name() || places == log.Docs.Name() || places == docs.Name():
		place.Fail("views, ProjectionSpec.Places and the commits share a collection",
			"give each of them a collection of its own")
	}
	docs.MustField("state")
	return &untypedProjection{log: log, docs: docs, fold: fold, places: places, poll: poll}
}

// nameGeneration returns the name of a generation's collection.
func (p *untypedProjection) nameGeneration(generation int64) string {
	return fmt.Sprintf("%s.%d", p.docs.Name(), generation)
}

// listFootprints returns the paths that the projection uses, of its first generation.
func (p *untypedProjection) listFootprints() []model.Footprint {
	out := []model.Footprint{{Collection: p.places, Path: model.Whole, Document: p.docs.Name(), Use: model.Owns}}
	out = append(out, p.fold.listFootprints(p.nameGeneration(1))...)
	return append(out, model.Reads.In(p.log.Docs.Name(), "key", "first", "last", "at", "events")...)
}

// listIndexes returns the index by which a stream polls, if it polls.
func (p *untypedProjection) listIndexes() []model.Index {
	if p.poll == 0 {
		return nil
	}
	return []model.Index{
		commands.MakeIndex(p.log.Docs.Name(), "the commits since the last poll", mql.E("at", 1), mql.E("_id", 1)),
	}
}

// A viewPointer says which generations there are. The zero viewPointer isn't stored.
type viewPointer struct {
	ID               string `bson:"_id"`
	Live             int64  `bson:"live"` // readers read it
	LiveRevision     int    `bson:"liveRevision"`
	Building         int64  `bson:"building"` // 0 for none
	BuildingRevision int    `bson:"buildingRevision"`
	Closing          bool   `bson:"closing"` // the live generation takes no writes
	Last             int64  `bson:"last"`    // the greatest generation that there was
}

// readPointer reads the pointer. If none is stored, Live is the first generation, and
// Last 0. Each tenant has a pointer of its own.
func (p *untypedProjection) readPointer(ctx context.Context, db model.DB) (viewPointer, error) {
	// The pointer isn't a keyed document: the tenant is in its _id.
	id := p.docs.Name()
	if tenant := core.Tenant(db); tenant != "" {
		if err := core.CheckTenantNames(ctx, db, p.places); err != nil {
			return viewPointer{}, err
		}
		id += " " + tenant
	}
	at, err := (&model.Find[viewPointer]{Query: model.Query{
		Collection: p.places, Filter: commands.MatchID(id), Index: model.IDIndex,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return viewPointer{ID: id, Live: 1, LiveRevision: p.fold.Revision}, nil
	}
	return at, err
}

// movePointer replaces the pointer that was read. If it has changed since, the plan is
// stale.
func (p *untypedProjection) movePointer(from, to viewPointer) model.Write {
	// Nothing is stored yet. Another writer that stores the first pointer makes this
	// insert stale.
	if from.Last == 0 {
		doc, err := bson.Marshal(to)
		id := bson.D{mql.E("_id", to.ID)}
		return model.Write{
			Collection: p.places, Index: model.IDIndex, Err: err, Model: &mongo.InsertOneModel{Document: bson.Raw(doc)},
			Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
		}
	}
	fields := func(x viewPointer) bson.D {
		return bson.D{
			mql.E("live", x.Live), mql.E("liveRevision", x.LiveRevision), mql.E("building", x.Building),
			mql.E("buildingRevision", x.BuildingRevision), mql.E("closing", x.Closing), mql.E("last", x.Last),
		}
	}
	// All fields are compared, so no change between the read and this write is lost.
	w := commands.UpdateOne(p.places, append(bson.D{mql.E("_id", from.ID)}, fields(from)...),
		mql.Op("$set", fields(to)))
	w.Done = append(bson.D{mql.E("_id", to.ID)}, fields(to)...)
	return w
}

// listTargets returns the generations that take writes of this revision. A revision
// without a generation is refused, except while the live generation closes: then the
// switch fills the new one.
func (p *untypedProjection) listTargets(at viewPointer) (out []int64, err error) {
	if at.Building != 0 && at.BuildingRevision == p.fold.Revision {
		out = append(out, at.Building)
	}
	if at.LiveRevision == p.fold.Revision && !at.Closing {
		out = append(out, at.Live)
	}
	switch {
	case len(out) > 0 || at.Closing && at.LiveRevision == p.fold.Revision: // Switch fills the new generation
	case p.fold.Revision > max(at.LiveRevision, at.BuildingRevision):
		err = p.docs.Refuse("Revision", p.fold.Revision,
			"is higher than the revision of every generation: run Projection.Rebuild")
	default:
		err = p.docs.Refuse("Revision", p.fold.Revision,
			fmt.Sprintf("is the revision of no generation: the live one has %d, "+
				"so end this program or run it with that revision", at.LiveRevision))
	}
	return out, err
}

// A view is a key's document in a generation.
type view struct {
	generation int64
	doc        bson.Raw // as it is stored; nil for none
}

// A catching is the state from which a catch-up decides.
type catching struct {
	key     logKey
	pointer viewPointer
	views   []view // of the generations that take writes
	commits []bson.Raw
}

// catchUpKey brings a key's documents up to date.
func (p *untypedProjection) catchUpKey(key any) model.Change {
	k, err := p.log.encodeKey(key)
	if err != nil {
		return commands.RefuseChange(p.docs.Name(), err)
	}
	return model.ChangeOf[catching]{
		Name: "catch up " + p.docs.Name(), Attempts: 8,
		Read: func(ctx context.Context, db model.DB) (catching, error) {
			h, err := p.log.readHead(ctx, db, k)
			if err != nil || h.Last == 0 {
				return catching{}, err
			}
			return p.readViews(ctx, db, k, h.Last, nil)
		},
		Decide: p.planCatchUp,
	}.Change()
}

// readViews reads a key's documents that are below a version, and the commits that they
// lack. commit is the commit that ends at the version, if the caller has it: it saves the
// read if the documents lack only this one.
func (p *untypedProjection) readViews(
	ctx context.Context, db model.DB, k logKey, upTo int64, commit bson.Raw,
) (c catching, err error) {
	c.key = k
	if c.pointer, err = p.readPointer(ctx, db); err != nil {
		return c, err
	}
	generations, err := p.listTargets(c.pointer)
	if err != nil {
		return c, err
	}
	// The lowest version of all documents decides which commits are read.
	least := int64(math.MaxInt64)
	for _, g := range generations {
		doc, err := p.fold.readStored(ctx, db, p.nameGeneration(g), k.value)
		var is status
		if err == nil && doc != nil {
			is, err = decodeStatus(doc)
		}
		if err != nil {
			return c, err
		}
		if is.Version < upTo {
			c.views, least = append(c.views, view{g, doc}), min(least, is.Version)
		}
	}
	if len(c.views) == 0 {
		return c, nil
	}
	if commit != nil {
		if h, err := decodeHead(commit); err == nil && h.First == least+1 {
			c.commits = []bson.Raw{commit}
			return c, nil
		}
	}
	c.commits, err = p.log.findCommits(k.matchFrom(least+1, upTo)).All(ctx, db)
	return c, err
}

// planCatchUp folds the commits, and writes the documents that they change.
func (p *untypedProjection) planCatchUp(c catching) (model.Plan, error) {
	var steps []model.Step
	if c.pointer.Last == 0 && len(c.views) > 0 { // so that a later revision knows whose the generation is
		first := c.pointer
		first.Last = first.Live
		steps = append(steps, p.movePointer(c.pointer, first))
	}
	// Each document is folded by itself, because their versions can differ.
	for _, v := range c.views {
		s, err := p.fold.decodeState(v.doc)
		if err != nil {
			return model.Plan{}, err
		}
		for _, commit := range c.commits {
			h, err := decodeHead(commit)
			if err == nil && h.Last > s.Version {
				s, err = p.log.foldCommit(p.fold, c.key, s, commit, maxVersion)
			}
			if err != nil {
				return model.Plan{}, err
			}
		}
		w, err := p.fold.putState(p.nameGeneration(v.generation), c.key, s)
		if err != nil {
			return model.Plan{}, err
		}
		steps = append(steps, w)
	}
	return commands.PlanLeaving("a document that is up to date in one generation only", steps...), nil
}

// makeStream is the stream of commits that brings documents up to date.
func (p *untypedProjection) makeStream() model.Stream {
	s := model.Stream{
		Name:       fmt.Sprintf("%s, revision %d", p.docs.Name(), p.fold.Revision),
		Collection: p.log.Docs.Name(), Places: p.places,
		Work: func(ctx context.Context, db model.DB, e model.Event) (model.Plan, error) {
			if e.Document == nil {
				return model.Plan{}, nil
			}
			commit := slices.Clone(e.Document)
			if commit.Lookup("_id").Type != bson.TypeString { // it carries a tenant, and isn't used here
				commit, _ = core.WithKeyID(commit, "")
			}
			h, err := decodeHead(commit)
			if err != nil {
				return model.Plan{}, err
			}
			k, err := p.decodeKey(commit)
			if err != nil {
				return model.Plan{}, err
			}
			c, err := p.readViews(ctx, db, k, h.Last, commit)
			if err != nil {
				return model.Plan{}, err
			}
			return p.planCatchUp(c)
		},
	}
	// at is the writers' clock, so a poll goes back by the longest delay.
	if p.poll > 0 {
		s.Since, s.Overlap = "at", p.poll
	}
	return s
}

// decodeKey returns the key of a commit.
func (p *untypedProjection) decodeKey(commit bson.Raw) (logKey, error) {
	typed, err := p.log.key(commit)
	if err != nil {
		return logKey{}, err
	}
	return p.log.encodeKey(typed)
}

// loadView reads a key's document in the live generation. If there is none, another
// generation may have become live meanwhile, so it reads the pointer again.
func (p *untypedProjection) loadView(key any) model.ChangeOf[untypedState] {
	read := func(ctx context.Context, db model.DB, k logKey) (untypedState, error) {
		at, err := p.readPointer(ctx, db)
		for err == nil {
			raw, err := (&model.Find[bson.Raw]{Query: model.Query{
				Collection: p.nameGeneration(at.Live), Keyed: true, Filter: commands.MatchID(k.value),
				Index: model.IDIndex, Deleted: true,
			}}).One(ctx, db)
			if err == nil {
				return p.fold.decodeState(raw)
			}
			now, err2 := p.readPointer(ctx, db)
			if err2 != nil || now.Live == at.Live || !errors.Is(err, model.ErrNotFound) {
				return untypedState{}, cmp.Or(err2, err)
			}
			at = now
		}
		return untypedState{}, err
	}
	return makeReading(p.log, "read "+p.docs.Name()+" of", key, nil, read)
}

// readGenerations reads the pointer.
func (p *untypedProjection) readGenerations() model.ChangeOf[viewPointer] {
	return model.ChangeOf[viewPointer]{
		Name: "generations " + p.docs.Name(), Attempts: 1, Read: p.readPointer,
		Decide: func(viewPointer) (model.Plan, error) { return model.Plan{}, nil },
	}
}

// dropGeneration deletes a generation that isn't live. If it is being built, the pointer
// gives it up first, so that no writer fills it again.
func (p *untypedProjection) dropGeneration(generation int64) model.Change {
	if generation < 1 {
		return commands.RefuseChange(p.docs.Name(),
			p.docs.Refuse("generation", generation, "must be 1 or more: generations are numbered from 1"))
	}
	return model.ChangeOf[viewPointer]{
		Name: "drop " + p.docs.Name(), Attempts: 8, Read: p.readPointer,
		Decide: func(at viewPointer) (model.Plan, error) {
			switch {
			case generation == at.Live:
				return model.Plan{}, p.docs.Refuse("generation", generation,
					"is the live generation, which readers use: switch to another generation first")
			case generation > at.Last:
				return model.Plan{}, p.docs.Refuse("generation", generation,
					"doesn't exist: no generation has this number yet")
			}
			var steps []model.Step
			if generation == at.Building {
				to := at
				to.Building, to.BuildingRevision, to.Closing = 0, 0, false
				steps = append(steps, p.movePointer(at, to))
			}
			// No reader uses the generation any more, so its documents can go one after
			// the other.
			steps = append(steps, model.Write{
				Collection: p.nameGeneration(generation), Idempotent: true, Final: true,
				Model: &mongo.DeleteManyModel{Filter: bson.D{}},
			})
			return commands.PlanLeaving("some documents of a generation that nobody reads; run Drop again", steps...),
				nil
		},
	}.Change()
}
