package relate

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Reach is what a deletion reaches, as it was read: the documents to be deleted, level by level, and what forbids it.
type Reach struct {
	Levels  []ReachLevel  // the first documents first; several of one depth where several collections are reached
	Blocked []BlockingRef // the first 10 references that forbid the deletion
	More    bool          // there are more of them
	Queries int           // how many queries were sent to find out, further batches not counted
}

// A ReachLevel is the documents of one collection that a deletion reaches in the same number of steps.
type ReachLevel struct {
	Depth      int // 0 for the first documents
	Collection string
	IDs        []bson.RawValue // each once, at the least depth
	Via        []ReachVia      // how they were reached; nil for the first documents
}

// A ReachVia is a way by which documents of a level were reached.
type ReachVia struct {
	Reference Reference
	Owned     bool            // along the reference, from Targets to the documents; else against it
	IDs       []bson.RawValue // of the documents
	Targets   []bson.RawValue // of those from which they were reached
}

// Count returns how many documents are to be deleted.
func (r Reach) Count() int {
	n := 0
	for _, level := range r.Levels {
		n += len(level.IDs)
	}
	return n
}

// A BlockingRef is a reference that forbids to delete its target.
type BlockingRef struct {
	Reference Reference
	Doc       bson.RawValue // the _id of the document that refers
	Target    bson.RawValue // what it refers to
}

// String is the reference for a reader: "products 'p1' parts → 'AAAA'".
func (b BlockingRef) String() string {
	return fmt.Sprintf("%s %s %s → %s", b.Reference.from, model.Shell(b.Doc), b.Reference.path, model.Shell(b.Target))
}

// RestrictError says which references forbid a deletion. Nothing was written.
type RestrictError struct {
	Refs []BlockingRef // the first 10
	More bool          // there are more
}

func (e *RestrictError) Error() string {
	s := "docmodel: the deletion is forbidden"
	if len(e.Refs) > 0 {
		s += " by " + e.Refs[0].String()
	}
	switch {
	case e.More:
		return s + fmt.Sprintf(" and more than %d others", len(e.Refs)-1)
	case len(e.Refs) > 1:
		return s + fmt.Sprintf(" and %d more", len(e.Refs)-1)
	}
	return s
}

// maxBlocked is how many references a RestrictError names.
const maxBlocked = 10

// Delete returns the change that reads what the deletion of some documents reaches, and deletes it; or returns a
// [*RestrictError], and writes nothing. Documents that don't exist are passed over; what refers to them goes all the same,
// so that a deletion that was cut is completed by running it again. The state that it returns is what was reached.
//
// Cost: for each level, one query for every rule about its collection and every 10,000 ids, and one per further batch of
// an answer; then those of [OnDelete.Plan]. Reach.Queries says how many it was.
func (o *OnDelete[D, K]) Delete(ids ...K) model.Change[Reach] {
	roots, err := o.roots(ids)
	return o.in.change(roots, err)
}

// Reach reads what the deletion of some documents would reach, and writes nothing: a dry run, with [OnDelete.Plan].
//
// Cost: as the reads of [OnDelete.Delete].
func (o *OnDelete[D, K]) Reach(ctx context.Context, db *mongo.Database, ids ...K) (Reach, error) {
	roots, err := o.roots(ids)
	if err != nil {
		return Reach{}, err
	}
	return o.in.walk(ctx, db, roots)
}

// Sweep returns the change that deletes, or lets go of, what has come to refer to deleted documents since they were
// reached: what was stored under them while they were being deleted. Documents that were reached and are there, for they
// were moved meanwhile, are left alone with what refers to them; so is what a deletion that was cut has not come to: run that
// again first. Rules that forbid can only report that it is too late, by a [*RestrictError].
//
// A cut leaves what is not deleted yet, and the same reach finds it again: run it again. Nothing stores the reach; where it
// died with its process, what came under documents below the first ones is found by [Dangling].
//
// Cost: for each level one query for every 10,000 ids, to see what is gone; then as [OnDelete.Delete] of that.
func (o *OnDelete[D, K]) Sweep(reach Reach) model.Change[Reach] {
	return o.in.sweep(reach)
}

func (o *OnDelete[D, K]) roots(ids []K) ([]ReachLevel, error) {
	encoded, err := encodeIDs(o.root, o.in.root, "_id", ids)
	return o.in.roots(encoded, err)
}

// change is the change that deletes what is reached from some documents.
func (o *onDelete) change(roots []ReachLevel, err error) model.Change[Reach] {
	return model.Change[Reach]{
		Read:   func(ctx context.Context, db *mongo.Database) (Reach, error) { return o.walk(ctx, db, roots) },
		Decide: o.plan,
		Err:    err,
	}
}

// sweep is the change that deletes what refers to what was reached before, and is gone.
func (o *onDelete) sweep(reach Reach) model.Change[Reach] {
	var roots []ReachLevel
	for _, level := range reach.Levels {
		ids := make([]bson.RawValue, len(level.IDs))
		for i, id := range level.IDs {
			ids[i] = clone(id)
		}
		roots = append(roots, ReachLevel{Collection: level.Collection, IDs: ids})
	}
	change := o.change(nil, nil)
	change.Read = func(ctx context.Context, db *mongo.Database) (Reach, error) {
		gone, queries, err := o.gone(ctx, db, roots)
		if err != nil {
			return Reach{}, err
		}
		late, err := o.walk(ctx, db, gone)
		late.Queries += queries
		return late, err
	}
	change.Decide = func(late Reach) (model.Plan, error) { return o.planFrom(1, late) } // the first ones are gone
	return change
}

// gone is what of some documents is not there, and how many queries were sent to find out.
func (o *onDelete) gone(ctx context.Context, db *mongo.Database, levels []ReachLevel) (out []ReachLevel, queries int, _ error) {
	for _, level := range levels {
		there := map[string]bool{}
		for _, ids := range chunked(level.IDs, o.chunk) {
			queries++
			f := model.Find[bson.Raw]{Query: model.Query{Collection: level.Collection, Filter: idIn(ids), Projection: byID(), Index: model.IDIndex}}
			for doc, err := range f.Each(ctx, db) {
				if err != nil {
					return nil, queries, err
				}
				there[bsonval.Key(doc.Lookup("_id"))] = true
			}
		}
		level.IDs = slices.DeleteFunc(slices.Clone(level.IDs), func(id bson.RawValue) bool { return there[bsonval.Key(id)] })
		out = append(out, level)
	}
	return out, queries, nil
}

func (o *onDelete) roots(ids bson.A, err error) ([]ReachLevel, error) {
	if err != nil {
		return nil, err
	}
	level := ReachLevel{Collection: o.root}
	for _, id := range ids {
		raw, err := rawID(id)
		if err != nil {
			return nil, &model.ValueError{Collection: o.root, Field: "_id", Reason: err.Error()}
		}
		level.IDs = append(level.IDs, raw)
	}
	return []ReachLevel{level}, nil
}

// walker reads level by level.
type walker struct {
	db     *mongo.Database
	rules  []deleteRule
	chunk  int
	reach  Reach
	levels []*ReachLevel
	at     map[string]*ReachLevel // of each document that was reached
}

func (o *onDelete) walk(ctx context.Context, db *mongo.Database, roots []ReachLevel) (Reach, error) {
	w := &walker{db: db, rules: o.rules, chunk: o.chunk, at: map[string]*ReachLevel{}}
	for _, root := range roots {
		w.reached(0, root.Collection, root.IDs, nil)
	}
	for i := 0; i < len(w.levels); i++ { // levels are added in the order of their depth
		for _, r := range w.rules {
			if err := w.follow(ctx, w.levels[i], r); err != nil {
				return Reach{}, err
			}
		}
	}
	for _, level := range w.levels {
		for _, r := range w.rules {
			if r.action == restrict && r.ref.to == level.Collection && !w.reach.More {
				if err := w.block(ctx, level, r.ref); err != nil {
					return Reach{}, err
				}
			}
		}
	}
	for _, level := range w.levels {
		w.reach.Levels = append(w.reach.Levels, *level)
	}
	return w.reach, nil
}

// follow reads what a rule reaches from a level.
func (w *walker) follow(ctx context.Context, level *ReachLevel, r deleteRule) error {
	switch {
	case r.action == cascade && r.ref.to == level.Collection:
	case r.action == owns && r.ref.from == level.Collection:
	default:
		return nil
	}
	for _, chunk := range chunked(level.IDs, w.chunk) {
		via := ReachVia{Reference: r.ref, Owned: r.action == owns, Targets: rawValues(chunk)}
		into, filter, path := r.ref.from, r.ref.refers(chunk), "_id"
		if via.Owned {
			into, filter, path = r.ref.to, idIn(chunk), r.ref.path
		}
		for doc, err := range w.query(r.ref, filter, path).Each(ctx, w.db) {
			if err != nil {
				return err
			}
			for _, id := range valuesAt(doc, path) {
				if canBeID(id) {
					via.IDs = append(via.IDs, id)
				}
			}
		}
		w.reached(level.Depth+1, into, via.IDs, &via)
	}
	return nil
}

func (w *walker) query(ref Reference, filter bson.D, fields ...string) model.Find[bson.Raw] {
	w.reach.Queries++
	f := model.Find[bson.Raw]{Query: model.Query{Collection: ref.from, Filter: filter}}
	for _, name := range fields {
		f.Projection = append(f.Projection, bson.E{Key: name, Value: 1})
	}
	return f
}

// reached notes documents: new ones at their depth, others as reached in one more way, unless they go in any case.
func (w *walker) reached(depth int, collection string, ids []bson.RawValue, via *ReachVia) {
	ways := map[*ReachLevel]*ReachVia{}
	for _, id := range ids {
		key := collection + "\x00" + bsonval.Key(id)
		level := w.at[key]
		if level == nil {
			level = w.level(depth, collection)
			level.IDs = append(level.IDs, id)
			w.at[key] = level
		}
		if via == nil || level.Depth == 0 {
			continue
		}
		if ways[level] == nil {
			level.Via = append(level.Via, ReachVia{Reference: via.Reference, Owned: via.Owned, Targets: via.Targets})
			ways[level] = &level.Via[len(level.Via)-1]
		}
		ways[level].IDs = append(ways[level].IDs, id)
	}
}

// level returns the level of a depth and a collection; a new one goes to the end, for depths are reached in order.
func (w *walker) level(depth int, collection string) *ReachLevel {
	for i := len(w.levels) - 1; i >= 0 && w.levels[i].Depth == depth; i-- {
		if w.levels[i].Collection == collection {
			return w.levels[i]
		}
	}
	level := &ReachLevel{Depth: depth, Collection: collection}
	w.levels = append(w.levels, level)
	return level
}

// block reads which documents that stay refer to a level.
func (w *walker) block(ctx context.Context, level *ReachLevel, ref Reference) error {
	for _, chunk := range chunked(level.IDs, w.chunk) {
		wanted := map[string]bool{}
		for _, id := range rawValues(chunk) {
			wanted[bsonval.Key(id)] = true
		}
		for doc, err := range w.query(ref, ref.refers(chunk), "_id", ref.path).Each(ctx, w.db) {
			if err != nil {
				return err
			}
			id := doc.Lookup("_id")
			if w.at[ref.from+"\x00"+bsonval.Key(id)] != nil {
				continue
			}
			for _, target := range valuesAt(doc, ref.path) {
				if !wanted[bsonval.Key(target)] {
					continue
				}
				if len(w.reach.Blocked) == maxBlocked {
					w.reach.More = true
					return nil
				}
				w.reach.Blocked = append(w.reach.Blocked, BlockingRef{ref, id, target})
			}
		}
	}
	return nil
}

func rawValues(ids bson.A) []bson.RawValue {
	out := make([]bson.RawValue, len(ids))
	for i, id := range ids {
		out[i] = id.(bson.RawValue)
	}
	return out
}
