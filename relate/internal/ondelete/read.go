package ondelete

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxBlocked is how many findings forbid a deletion: the others are not told.
const maxBlocked = 10

// gone is what of some documents is not there, and how many queries were sent to find
// out.
func (o *Deletion) gone(ctx context.Context, db model.DB, levels []Level) (out []Level, queries int, _ error) {
	for _, level := range levels {
		there := map[string]bool{}
		for _, ids := range idref.Chunked(level.IDs, o.chunk) {
			queries++
			f := &model.Find[bson.Raw]{Query: model.Query{
				Collection: level.Collection, Filter: commands.AmongIDs(ids), Projection: commands.Fields(), Index: model.IDIndex,
				Options: model.ReadOptions{BatchSize: commands.WholeReply(0, len(ids))},
			}}
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

// Roots is the level of the documents with some ids of the caller's.
func (o *Deletion) Roots(ids []any) ([]Level, error) {
	if len(ids) == 0 {
		return nil, o.root.Refuse("_id", nil, "no id was given: give at least one")
	}
	level := Level{Collection: o.root.Name(), IDs: make([]bson.RawValue, len(ids))}
	for i, id := range ids {
		var err error
		if level.IDs[i], err = o.root.RawID("_id", id); err != nil {
			return nil, err
		}
	}
	return []Level{level}, nil
}

// Reach is what a deletion reaches: documents level by level, the first of them first.
type Reach struct {
	Levels  []Level
	Blocked []model.Finding // the first 10 documents and ids that forbid the deletion
	More    bool            // there are more of them
	Queries int             // how many queries were sent
}

// Level is the documents of one collection that are reached in the same number of steps.
type Level struct {
	Depth      int // 0 for the first documents
	Collection string
	IDs        []bson.RawValue // each once, at the least depth
	Via        []Via           // how they were reached; nil for the first documents
}

// Via is a way by which documents of a level were reached.
type Via struct {
	From, Path, To string          // the reference
	Owned          bool            // along the reference, from Sources to the documents; else against it
	IDs            []bson.RawValue // of the documents
	Sources        []bson.RawValue // of those from which they were reached
}

// by reports whether the documents were reached along a reference.
func (v Via) by(ref idref.Ref) bool {
	return v.From == ref.From && v.Path == ref.Path && v.To == ref.To
}

// walker reads level by level.
type walker struct {
	db     model.DB
	rules  []rule
	chunk  int
	reach  Reach
	levels []*Level
	at     map[string]*Level // of each document that was reached
}

func (o *Deletion) walk(ctx context.Context, db model.DB, roots []Level) (Reach, error) {
	w := &walker{db: db, rules: o.rules, chunk: o.chunk, at: map[string]*Level{}}
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
			if r.action == restrict && r.ref.To == level.Collection && !w.reach.More {
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
func (w *walker) follow(ctx context.Context, level *Level, r rule) error {
	switch {
	case r.action == cascade && r.ref.To == level.Collection:
	case r.action == owns && r.ref.From == level.Collection:
	default:
		return nil
	}
	for _, chunk := range idref.Chunked(level.IDs, w.chunk) {
		via := Via{From: r.ref.From, Path: r.ref.Path, To: r.ref.To, Owned: r.action == owns, Sources: rawValues(chunk)}
		into, filter, path := r.ref.From, r.ref.Refers(chunk), "_id"
		if via.Owned {
			into, filter, path = r.ref.To, commands.AmongIDs(chunk), r.ref.Path
		}
		for doc, err := range w.query(r.ref, filter, path).Each(ctx, w.db) {
			if err != nil {
				return err
			}
			for _, id := range idref.ValuesAt(doc, path) {
				if idref.CanBeID(id) {
					via.IDs = append(via.IDs, id)
				}
			}
		}
		w.reached(level.Depth+1, into, via.IDs, &via)
	}
	return nil
}

func (w *walker) query(ref idref.Ref, filter bson.D, fields ...string) *model.Find[bson.Raw] {
	w.reach.Queries++
	f := &model.Find[bson.Raw]{Query: model.Query{Collection: ref.From, Filter: filter}}
	for _, name := range fields {
		f.Projection = append(f.Projection, bson.E{Key: name, Value: 1})
	}
	return f
}

// reached notes documents: new ones at their depth, others as reached in one more way,
// unless they go in any case.
func (w *walker) reached(depth int, collection string, ids []bson.RawValue, via *Via) {
	ways := map[*Level]*Via{}
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
			way := *via
			way.IDs = nil
			level.Via = append(level.Via, way)
			ways[level] = &level.Via[len(level.Via)-1]
		}
		ways[level].IDs = append(ways[level].IDs, id)
	}
}

// level returns the level of a depth and a collection; a new one goes to the end, for
// depths are reached in order.
func (w *walker) level(depth int, collection string) *Level {
	for i := len(w.levels) - 1; i >= 0 && w.levels[i].Depth == depth; i-- {
		if w.levels[i].Collection == collection {
			return w.levels[i]
		}
	}
	level := &Level{Depth: depth, Collection: collection}
	w.levels = append(w.levels, level)
	return level
}

// block reads which documents that stay refer to a level.
func (w *walker) block(ctx context.Context, level *Level, ref idref.Ref) error {
	for _, chunk := range idref.Chunked(level.IDs, w.chunk) {
		wanted := map[string]bool{}
		for _, id := range rawValues(chunk) {
			wanted[bsonval.Key(id)] = true
		}
		for doc, err := range w.query(ref, ref.Refers(chunk), "_id", ref.Path).Each(ctx, w.db) {
			if err != nil {
				return err
			}
			id := doc.Lookup("_id")
			if w.at[ref.From+"\x00"+bsonval.Key(id)] != nil {
				continue
			}
			for _, target := range idref.ValuesAt(doc, ref.Path) {
				if !wanted[bsonval.Key(target)] {
					continue
				}
				if len(w.reach.Blocked) == maxBlocked {
					w.reach.More = true
					return nil
				}
				f, err := blockedBy(ref, id, target)
				if err != nil {
					return err
				}
				w.reach.Blocked = append(w.reach.Blocked, f)
			}
		}
	}
	return nil
}

// blockedBy returns the finding that a document's reference forbids a deletion.
func blockedBy(ref idref.Ref, doc, target bson.RawValue) (model.Finding, error) {
	detail, err := bson.Marshal(idref.Stored{Doc: doc, Path: ref.Path, ID: target})
	return model.Finding{
		Check: "restrict " + ref.String(), Collection: ref.From, ID: doc, Problem: ref.Path + " → " + model.Shell(target), Detail: detail,
	}, err
}

func rawValues(ids bson.A) []bson.RawValue {
	out := make([]bson.RawValue, len(ids))
	for i, id := range ids {
		out[i] = id.(bson.RawValue)
	}
	return out
}
