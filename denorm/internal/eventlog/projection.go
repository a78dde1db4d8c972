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

// DefaultPlaces is the collection of the pointers and of the streams' places.
const DefaultPlaces = "docmodel.projections"

// Projection is the non-generic core of denorm.Projection.
//
// A writer reads in this order: the last commit of a key, the pointer, the documents. So what it writes to a generation
// was in the log before it read that this generation takes writes. When the pointer is set to closing, the live
// generation takes no more: a writer that doesn't know brings nothing that a pass which begins afterwards could miss.
type Projection struct {
	log    *Log
	docs   *core.Docs // of the views, under the name that generations begin with
	fold   Fold
	places string
	poll   time.Duration
}

// DeclareProjection checks a declaration, and panics if it doesn't fit the documents.
func DeclareProjection(
	log *Log, docs *core.Docs, hasFold bool, fold Fold, places string, poll time.Duration,
) *Projection {
	places = cmp.Or(places, DefaultPlaces)
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
	return &Projection{log, docs, fold, places, poll}
}

// Name is the collection of a generation.
func (p *Projection) Name(generation int64) string {
	return fmt.Sprintf("%s.%d", p.docs.Name(), generation)
}

func (p *Projection) Footprints() []model.Footprint {
	out := []model.Footprint{{Collection: p.places, Path: model.Whole, Document: p.docs.Name(), Use: model.Owns}}
	out = append(out, p.fold.footprints(p.Name(1))...)
	return append(out, model.Reads.In(p.log.Docs.Name(), "key", "first", "last", "at", "events")...)
}

func (p *Projection) Indexes() []model.Index {
	if p.poll == 0 {
		return nil
	}
	return []model.Index{
		commands.MakeIndex(p.log.Docs.Name(), "the commits since the last poll", mql.E("at", 1), mql.E("_id", 1)),
	}
}

// A Pointer says which generations there are. The zero Pointer says that nothing is stored.
type Pointer struct {
	ID               string `bson:"_id"`
	Live             int64  `bson:"live"` // readers read it
	LiveRevision     int    `bson:"liveRevision"`
	Building         int64  `bson:"building"` // 0 for none
	BuildingRevision int    `bson:"buildingRevision"`
	Closing          bool   `bson:"closing"` // the live generation takes no writes
	Last             int64  `bson:"last"`    // the greatest generation that there was
}

// pointer reads the pointer. Without one, Live is the first generation, and Last is 0.
func (p *Projection) pointer(ctx context.Context, db model.DB) (Pointer, error) {
	id := p.docs.Name()
	if tenant := core.Tenant(db); tenant != "" {
		if err := core.CheckTenantNames(ctx, db, p.places); err != nil {
			return Pointer{}, err
		}
		id += " " + tenant
	}
	at, err := (&model.Find[Pointer]{Query: model.Query{
		Collection: p.places, Filter: commands.MatchID(id), Index: model.IDIndex,
	}}).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return Pointer{ID: id, Live: 1, LiveRevision: p.fold.Revision}, nil
	}
	return at, err
}

// move is the write of a pointer in the place of the one that was read.
func (p *Projection) move(from, to Pointer) model.Write {
	if from.Last == 0 {
		doc, err := bson.Marshal(to)
		id := bson.D{mql.E("_id", to.ID)}
		return model.Write{
			Collection: p.places, Index: model.IDIndex, Err: err, Model: &mongo.InsertOneModel{Document: bson.Raw(doc)},
			Reasons: []model.Reason{{If: id, Err: model.ErrStale}},
		}
	}
	fields := func(x Pointer) bson.D {
		return bson.D{
			mql.E("live", x.Live), mql.E("liveRevision", x.LiveRevision), mql.E("building", x.Building),
			mql.E("buildingRevision", x.BuildingRevision), mql.E("closing", x.Closing), mql.E("last", x.Last),
		}
	}
	w := commands.UpdateOne(p.places, append(bson.D{mql.E("_id", from.ID)}, fields(from)...),
		mql.Op("$set", fields(to)))
	w.Done = append(bson.D{mql.E("_id", to.ID)}, fields(to)...)
	return w
}

// targets are the generations that take writes of this revision.
func (p *Projection) targets(at Pointer) (out []int64, err error) {
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

// A catching is what a catch-up decides from.
type catching struct {
	key     Key
	pointer Pointer
	views   []view // of the generations that take writes
	commits []bson.Raw
}

// CatchUp brings a key's documents up to date.
func (p *Projection) CatchUp(key any) model.Change {
	k, err := p.log.Key(key)
	if err != nil {
		return commands.RefuseChange(p.docs.Name(), err)
	}
	return model.ChangeOf[catching]{
		Name: "catch up " + p.docs.Name(), Attempts: 8,
		Read: func(ctx context.Context, db model.DB) (catching, error) {
			h, err := p.log.head(ctx, db, k)
			if err != nil || h.Last == 0 {
				return catching{}, err
			}
			return p.read(ctx, db, k, h.Last, nil)
		},
		Decide: p.decide,
	}.Change()
}

// read reads what brings a key's documents up to a version. commit is one that was read before, and ends there, or nil.
func (p *Projection) read(
	ctx context.Context, db model.DB, k Key, upTo int64, commit bson.Raw,
) (c catching, err error) {
	c.key = k
	if c.pointer, err = p.pointer(ctx, db); err != nil {
		return c, err
	}
	generations, err := p.targets(c.pointer)
	if err != nil {
		return c, err
	}
	least := int64(math.MaxInt64)
	for _, g := range generations {
		doc, err := p.fold.stored(ctx, db, p.Name(g), k.value)
		var is status
		if err == nil && doc != nil {
			is, err = statusOf(doc)
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
		if h, err := headOf(commit); err == nil && h.First == least+1 {
			c.commits = []bson.Raw{commit}
			return c, nil
		}
	}
	c.commits, err = p.log.commits(k.From(least+1, upTo)).All(ctx, db)
	return c, err
}

// decide folds the commits, and writes the documents that they change.
func (p *Projection) decide(c catching) (model.Plan, error) {
	var steps []model.Step
	if c.pointer.Last == 0 && len(c.views) > 0 { // so that a later revision knows whose the generation is
		first := c.pointer
		first.Last = first.Live
		steps = append(steps, p.move(c.pointer, first))
	}
	for _, v := range c.views {
		s, err := p.fold.state(v.doc)
		if err != nil {
			return model.Plan{}, err
		}
		for _, commit := range c.commits {
			h, err := headOf(commit)
			if err == nil && h.Last > s.Version {
				s, err = p.log.next(p.fold, c.key, s, commit, maxVersion)
			}
			if err != nil {
				return model.Plan{}, err
			}
		}
		w, err := p.fold.put(p.Name(v.generation), c.key, s)
		if err != nil {
			return model.Plan{}, err
		}
		steps = append(steps, w)
	}
	return commands.PlanLeaving("a document that is up to date in one generation only", steps...), nil
}

// Stream is the stream of commits that brings documents up to date.
func (p *Projection) Stream() model.Stream {
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
			h, err := headOf(commit)
			if err != nil {
				return model.Plan{}, err
			}
			k, err := p.keyOf(commit)
			if err != nil {
				return model.Plan{}, err
			}
			c, err := p.read(ctx, db, k, h.Last, commit)
			if err != nil {
				return model.Plan{}, err
			}
			return p.decide(c)
		},
	}
	if p.poll > 0 {
		s.Since, s.Overlap = "at", p.poll
	}
	return s
}

func (p *Projection) keyOf(commit bson.Raw) (Key, error) {
	typed, err := p.log.key(commit)
	if err != nil {
		return Key{}, err
	}
	return p.log.Key(typed)
}

// Load reads a key's document in the live generation. Where there is none, another generation may have come meanwhile.
func (p *Projection) Load(key any) model.ChangeOf[State] {
	return reading(p.log, "read "+p.docs.Name()+" of", key, nil,
		func(ctx context.Context, db model.DB, k Key) (State, error) {
			at, err := p.pointer(ctx, db)
			for err == nil {
				raw, err := (&model.Find[bson.Raw]{Query: model.Query{
					Collection: p.Name(at.Live), Keyed: true, Filter: commands.MatchID(k.value),
					Index: model.IDIndex, Deleted: true,
				}}).One(ctx, db)
				if err == nil {
					return p.fold.state(raw)
				}
				now, err2 := p.pointer(ctx, db)
				if err2 != nil || now.Live == at.Live || !errors.Is(err, model.ErrNotFound) {
					return State{}, cmp.Or(err2, err)
				}
				at = now
			}
			return State{}, err
		})
}

// Generations reads the pointer.
func (p *Projection) Generations() model.ChangeOf[Pointer] {
	return model.ChangeOf[Pointer]{
		Name: "generations " + p.docs.Name(), Attempts: 1, Read: p.pointer,
		Decide: func(Pointer) (model.Plan, error) { return model.Plan{}, nil },
	}
}

// Drop deletes a generation that is not live. One that is being built is given up first.
func (p *Projection) Drop(generation int64) model.Change {
	if generation < 1 {
		return commands.RefuseChange(p.docs.Name(),
			p.docs.Refuse("generation", generation, "must be 1 or more: generations are numbered from 1"))
	}
	return model.ChangeOf[Pointer]{
		Name: "drop " + p.docs.Name(), Attempts: 8, Read: p.pointer,
		Decide: func(at Pointer) (model.Plan, error) {
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
				steps = append(steps, p.move(at, to))
			}
			steps = append(steps, model.Write{
				Collection: p.Name(generation), Once: true, Final: true,
				Model: &mongo.DeleteManyModel{Filter: bson.D{}},
			})
			return commands.PlanLeaving("some documents of a generation that nobody reads; run Drop again", steps...),
				nil
		},
	}.Change()
}
