package model

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// mostWrites is the number of documents that an action may write, besides those that only
// counters and copies of other documents write.
const mostWrites = 1000

// storeState is what a store's change has read and decided.
type storeState struct {
	docs    []storedDoc // the caller's documents first
	own     int         // how many documents are the caller's
	answers []answered
	tx      bool
	applied bool // an earlier run of the action wrote the document
	ensures bool // a document that another client inserts meanwhile is read again
	hidden  bool // a document of the _id was there, and a read didn't find it: it's another tenant's, or deleted
	resumed bool // the document tells of the action, whose other writes are missing
	again   bool // the writes finish another action, so that the change must run again
	action  bson.ObjectID
	time    time.Time

	chain []*unfinishedError // the unfinished actions that wait for this one

	each []storeState // instead of all others: one state for each of the caller's documents

	plain *Write // instead of all others: a write that needs no read, and returns the document
}

// storedDoc is a document that an action writes: as it is stored, and as it will be.
type storedDoc struct {
	collection    string
	id            bson.RawValue
	read          bson.Raw      // the stored document, with the store's field
	before, after bson.Raw      // without the store's field
	token         bson.ObjectID // of this write
	deleted       bool          // by a write that isn't weak
	other         *unfinished   // the action of which the document tells, if this action can't wait for it
}

// answered is the answer to the write of a document of the action.
type answered struct {
	Answer
	doc int
}

// result returns the document as the action stores or deletes it.
func (d storedDoc) result() bson.Raw {
	if d.after != nil {
		return d.after
	}
	return d.before
}

// result returns the last of the caller's documents as it is stored or deleted.
func (s storeState) result() bson.Raw {
	switch {
	case s.plain != nil:
		return s.plain.returning.doc
	case len(s.each) > 0:
		return s.each[len(s.each)-1].result()
	case s.own > 0:
		return s.docs[s.own-1].result()
	}
	return nil
}

// prepare calls the reactions for the writes, and for the writes that the reactions ask
// for, until there are no more. It reads the documents that the reactions need.
func (s *store) prepare(ctx context.Context, db DB, writes ...StoreWrite) (storeState, error) {
	out := newState(ctx, runctx.Token(ctx))
	err := s.prepareLevels(ctx, db, &out, writes)
	return s.settled(ctx, db, out, err)
}

func newState(ctx context.Context, action bson.ObjectID) storeState {
	return storeState{tx: runctx.InTransaction(ctx), action: action, time: runctx.ActionTime(ctx)}
}

// prepareLevels prepares the writes of a level, and of the levels that follow from it. The
// first level has the caller's documents, unless the state has them already.
func (s *store) prepareLevels(ctx context.Context, db DB, out *storeState, writes []StoreWrite) error {
	for depth := pick(out.own > 0, 1, 0); len(writes) > 0; depth++ {
		level, err := out.level(writes, depth)
		if err != nil {
			return err
		}
		if len(out.docs) > mostWrites && depth > 0 {
			return s.docs.Refuse("_id", out.docs[0].id, fmt.Sprintf("has more than %d documents that are written with it: "+
				"run the job of the technique that writes them, for example that of relate.OnDelete", mostWrites))
		}
		if depth == 0 && !out.tx {
			if out.applied, err = s.wasApplied(level); out.applied || err != nil {
				out.docs[0].after = out.docs[0].before
				return err
			}
		}
		before := len(out.answers)
		if err := s.react(ctx, db, level, out); err != nil {
			return err
		}
		writes = out.writesOf(before)
	}
	if out.resumed {
		return nil
	}
	return out.check()
}

// level returns the writes of one level as they are after the writes before them, without
// those that change nothing.
func (s *storeState) level(writes []StoreWrite, depth int) (level []*StoreWrite, err error) {
	for _, w := range writes {
		w, wanted, err := s.follow(w)
		if err != nil {
			return nil, err
		}
		w.Given = w.After
		i := slices.IndexFunc(level, func(x *StoreWrite) bool {
			return x.Collection == w.Collection && sameValue(x.id(), w.id())
		})
		switch {
		case wanted && i >= 0: // reactions see one write of the document
			level[i].After, level[i].Given = w.After, w.After
		case wanted || depth == 0:
			level = append(level, &w)
		}
	}
	if depth == 0 {
		s.own = len(s.docs)
	}
	return level, nil
}

// writesOf returns the writes that the answers from the i-th on ask for.
func (s *storeState) writesOf(i int) (writes []StoreWrite) {
	for _, a := range s.answers[i:] {
		writes = append(writes, a.Writes...)
	}
	return writes
}

// check calls the checks of the answers.
func (s *storeState) check() error {
	for _, a := range s.answers {
		if a.Check != nil {
			if err := a.Check(s.deleted); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleted reports whether a write that isn't weak deletes a document.
func (s *storeState) deleted(collection string, id bson.RawValue) bool {
	i := s.index(collection, id)
	return i >= 0 && s.docs[i].deleted
}

// index returns the index of a document that the action writes, or -1.
func (s *storeState) index(collection string, id bson.RawValue) int {
	return slices.IndexFunc(s.docs, func(d storedDoc) bool { return d.collection == collection && bsonval.EqualRaw(d.id, id) })
}

// wasApplied reports whether a document shows that an earlier run of the action wrote it.
func (s *store) wasApplied(level []*StoreWrite) (bool, error) {
	for _, w := range level {
		for _, r := range s.reactions {
			if r.Applied == nil || r.Collection != w.Collection || w.Before == nil || w.After == nil {
				continue
			}
			if is, err := r.Applied(*w); is || err != nil {
				return is, err
			}
		}
	}
	return false, nil
}

// reactionCall is a reaction that a write concerns.
type reactionCall struct {
	write    *StoreWrite
	reaction *Reaction
	fetches  []Fetch
	found    [][]bson.Raw
}

// event returns the write as the reaction sees it.
func (c *reactionCall) event() StoreWrite {
	e := *c.write
	e.found = c.found
	return e
}

// checkDerived refuses the caller's values that differ from the computed ones.
func (s *store) checkDerived(w *StoreWrite) error {
	for _, r := range s.reactions {
		if r.Collection != w.Collection || w.After == nil {
			continue
		}
		for _, path := range r.Derives {
			given, _ := core.ValueAt(w.Given, path)
			computed, _ := core.ValueAt(w.After, path)
			was, _ := core.ValueAt(w.Before, path)
			if !isEmptyValue(given) && !sameValue(given, was) && !sameValue(given, computed) {
				return &ValueError{
					Collection: w.Collection, Field: path, Value: given,
					Reason: "isn't the value that the technique computes, which is " + shell(computed) + ": leave the field empty",
				}
			}
		}
	}
	return nil
}

// mostRounds is how often the amendments of one reaction may concern another one.
const mostRounds = 10

// react amends the documents of one level of writes, and collects the answers. An
// amendment may concern other reactions. So it amends in rounds, until nothing changes.
func (s *store) react(ctx context.Context, db DB, level []*StoreWrite, out *storeState) error {
	var calls []*reactionCall
	seen := make([]bson.Raw, len(level)) // the documents before the last round
	for i, w := range level {
		seen[i] = w.Before
	}
	for round := 0; ; round++ {
		if round > mostRounds {
			return s.docs.Refuse("reactions", nil, "change each other's fields without an end: let only one of them write a field")
		}
		concerned, err := s.concerned(ctx, db, level, seen, &calls, out)
		if err != nil {
			return err
		}
		for i, w := range level {
			seen[i] = w.After
		}
		if changed, err := amend(concerned); err != nil || !changed {
			if err != nil {
				return err
			}
			break
		}
	}
	for _, w := range level {
		if err := s.checkDerived(w); err != nil {
			return err
		}
		out.docs[out.index(w.Collection, w.id())].after = w.After
	}
	return out.answer(calls)
}

// answer collects the answers to writes.
func (s *storeState) answer(calls []*reactionCall) error {
	for _, c := range calls {
		if c.reaction.React == nil {
			continue
		}
		answer, err := c.reaction.React(c.event())
		switch {
		case s.resumed && errors.Is(err, ErrNotFound): // what the document names was deleted since
			continue
		case err != nil:
			return err
		}
		s.answers = append(s.answers, answered{answer, s.index(c.write.Collection, c.write.id())})
	}
	return nil
}

// amend sets the fields that reactions return. All reactions see the same document.
func amend(calls []*reactionCall) (changed bool, err error) {
	amended := make([]bson.D, len(calls))
	for i, c := range calls {
		if c.reaction.Amend != nil && c.write.After != nil {
			if amended[i], err = c.reaction.Amend(c.event()); err != nil {
				return false, err
			}
		}
	}
	for i, c := range calls {
		if len(amended[i]) == 0 {
			continue
		}
		before := c.write.After
		if *c.write, err = c.write.With(amended[i]); err != nil {
			return false, err
		}
		changed = changed || len(difference(before, c.write.After)) > 0
	}
	return changed, nil
}

// concerned returns the reactions that the changes since the last round concern, with the
// documents that they fetch. It adds new ones to calls.
func (s *store) concerned(
	ctx context.Context, db DB, level []*StoreWrite, seen []bson.Raw, calls *[]*reactionCall, state *storeState,
) (out []*reactionCall, err error) {
	var reading []*reactionCall
	var all []Fetch
	for i, w := range level {
		if w.isEmpty() {
			continue
		}
		changed := changedPaths(seen[i], w.After)
		for r := range s.reactions {
			reaction := &s.reactions[r]
			if !reaction.concerns(StoreWrite{Collection: w.Collection, Before: seen[i], After: w.After}, changed) {
				continue
			}
			at := slices.IndexFunc(*calls, func(c *reactionCall) bool { return c.write == w && c.reaction == reaction })
			if at < 0 {
				at, *calls = len(*calls), append(*calls, &reactionCall{write: w, reaction: reaction})
			}
			c := (*calls)[at]
			out = append(out, c)
			if reaction.Fetch == nil {
				continue
			}
			fetches, err := reaction.Fetch(*w)
			if err != nil {
				return nil, err
			}
			if !reflect.DeepEqual(fetches, c.fetches) {
				c.fetches, reading, all = fetches, append(reading, c), append(all, fetches...)
			}
		}
	}
	docs, err := s.fetch(ctx, db, all, state)
	if err != nil {
		return nil, err
	}
	for _, c := range reading {
		n := len(c.fetches)
		c.found, docs = docs[:n], docs[n:]
	}
	return out, nil
}

// changedPaths returns the paths whose values differ in an update.
func changedPaths(before, after bson.Raw) (out []string) {
	if before == nil || after == nil {
		return nil
	}
	for _, e := range difference(before, after) {
		out = append(out, e.Key)
	}
	return out
}

func (s *store) read(ctx context.Context, db DB, filter bson.D) (bson.Raw, error) {
	find := Find[bson.Raw]{Query: Query{Collection: s.docs.Name(), Filter: filter, Index: IDIndex, Keyed: s.docs.IsKeyed()}}
	return find.One(runctx.Deciding(ctx), db)
}
