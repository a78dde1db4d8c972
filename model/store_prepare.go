package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
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
	answers []Answer
	tx      bool
}

// storedDoc is a document that an action writes: as it is stored, and as it will be.
type storedDoc struct {
	collection    string
	id            bson.RawValue
	before, after bson.Raw
	deleted       bool // by a write that isn't weak
}

// result returns the document as the action stores or deletes it.
func (d storedDoc) result() bson.Raw {
	if d.after != nil {
		return d.after
	}
	return d.before
}

// prepare calls the reactions for the writes, and for the writes that the reactions ask
// for, until there are no more. It reads the documents that the reactions need.
func (s *store) prepare(ctx context.Context, db DB, token bson.ObjectID, writes ...StoreWrite) (out storeState, err error) {
	out.tx = runctx.InTransaction(ctx)
	for depth := 0; len(writes) > 0; depth++ {
		level := []*StoreWrite{}
		for _, w := range writes {
			w.Tx, w.Token = out.tx, token
			w, wanted, err := out.follow(w)
			if err != nil {
				return out, err
			}
			i := slices.IndexFunc(level, func(x *StoreWrite) bool { return x.Collection == w.Collection && sameValue(x.id(), w.id()) })
			switch {
			case wanted && i >= 0: // reactions see one write of the document
				level[i].After = w.After
			case wanted || depth == 0:
				level = append(level, &w)
			}
		}
		if depth == 0 {
			out.own = len(out.docs)
		}
		if len(out.docs) > mostWrites && depth > 0 {
			return out, s.docs.Refuse("_id", s.idOf(out), fmt.Sprintf("has more than %d documents that are written with it: "+
				"run the job of the technique that writes them, for example that of relate.OnDelete", mostWrites))
		}
		before := len(out.answers)
		if err := s.react(ctx, db, level, &out); err != nil {
			return out, err
		}
		writes = nil
		for _, a := range out.answers[before:] {
			writes = append(writes, a.Writes...)
		}
	}
	return out, out.check()
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

func (s *store) idOf(state storeState) any { return state.docs[0].id }

// follow returns a write as it is after the writes before it. wanted is false if it
// changes nothing.
func (s *storeState) follow(w StoreWrite) (_ StoreWrite, wanted bool, err error) {
	id := w.id()
	i := s.index(w.Collection, id)
	switch {
	case i < 0:
		if w.Change != nil {
			if w, err = w.changed(w.Before); err != nil {
				return w, false, err
			}
		}
		s.docs = append(s.docs, storedDoc{
			collection: w.Collection, id: id, before: w.Before, after: w.After, deleted: w.After == nil && !w.Weak,
		})
	case w.Before == nil:
		return w, false, fmt.Errorf("%w (%s)", ErrTaken, w)
	case s.docs[i].after == nil:
		s.docs[i].deleted = s.docs[i].deleted || w.After == nil && w.Change == nil && !w.Weak
		return w, false, nil
	case w.After == nil && w.Change == nil:
		w.Before, s.docs[i].after, s.docs[i].deleted = s.docs[i].after, nil, !w.Weak
	default:
		if w.Change == nil {
			fields := difference(w.Before, w.After)
			w.Change = func(bson.Raw) (bson.D, error) { return fields, nil }
		}
		if w, err = w.changed(s.docs[i].after); err != nil {
			return w, false, err
		}
		s.docs[i].after = w.After
	}
	return w, !w.isEmpty(), nil
}

// changed returns the write with the fields that its Change sets in a document.
func (e StoreWrite) changed(doc bson.Raw) (StoreWrite, error) {
	fields, err := e.Change(doc)
	if err != nil {
		return e, err
	}
	e.Before, e.After, e.Change = doc, doc, nil
	return e.With(fields)
}

func (e StoreWrite) id() bson.RawValue {
	if e.Before != nil {
		return e.Before.Lookup("_id")
	}
	return e.After.Lookup("_id")
}

func (e StoreWrite) isEmpty() bool {
	return e.Before == nil && e.After == nil || e.Before != nil && e.After != nil && len(difference(e.Before, e.After)) == 0
}

// reactionCall is a reaction that a write concerns.
type reactionCall struct {
	write    *StoreWrite
	reaction Reaction
	fetches  []Fetch
	found    [][]bson.Raw
}

// event returns the write as the reaction sees it.
func (c reactionCall) event() StoreWrite {
	e := *c.write
	e.found = c.found
	return e
}

// react amends the documents of one level of writes, and collects the answers.
func (s *store) react(ctx context.Context, db DB, level []*StoreWrite, out *storeState) error {
	calls, err := s.calls(ctx, db, level, out)
	if err != nil {
		return err
	}
	amended := make([]bson.D, len(calls))
	for i, c := range calls {
		if c.reaction.Amend != nil && c.write.After != nil {
			if amended[i], err = c.reaction.Amend(c.event()); err != nil {
				return err
			}
		}
	}
	for i, c := range calls {
		if len(amended[i]) > 0 {
			if *c.write, err = c.write.With(amended[i]); err != nil {
				return err
			}
		}
	}
	for _, w := range level {
		out.docs[out.index(w.Collection, w.id())].after = w.After
	}
	for _, c := range calls {
		if c.reaction.React == nil {
			continue
		}
		answer, err := c.reaction.React(c.event())
		if err != nil {
			return err
		}
		out.answers = append(out.answers, answer)
	}
	return nil
}

// calls returns the reactions that the writes concern, with the documents that they fetch.
func (s *store) calls(ctx context.Context, db DB, level []*StoreWrite, state *storeState) (out []reactionCall, err error) {
	var all []Fetch
	for _, w := range level {
		if w.isEmpty() {
			continue
		}
		changed := changedPaths(w.Before, w.After)
		for _, r := range s.reactions {
			if !r.concerns(*w, changed) {
				continue
			}
			c := reactionCall{write: w, reaction: r}
			if r.Fetch != nil {
				if c.fetches, err = r.Fetch(*w); err != nil {
					return nil, err
				}
			}
			out, all = append(out, c), append(all, c.fetches...)
		}
	}
	docs, err := s.fetch(ctx, db, all, state)
	if err != nil {
		return nil, err
	}
	for i := range out {
		n := len(out[i].fetches)
		out[i].found, docs = docs[:n], docs[n:]
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
