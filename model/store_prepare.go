package model

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	answers []Answer
	tx      bool
	applied bool // an earlier run of the action wrote the document
}

// storedDoc is a document that an action writes: as it is stored, and as it will be.
type storedDoc struct {
	collection    string
	id            bson.RawValue
	before, after bson.Raw
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
	now := time.Now().Truncate(time.Millisecond)
	for depth := 0; len(writes) > 0; depth++ {
		level := []*StoreWrite{}
		for _, w := range writes {
			w.Tx, w.Token, w.Time = out.tx, token, now
			w, wanted, err := out.follow(w)
			if err != nil {
				return out, err
			}
			w.Given = w.After
			if wanted || depth == 0 {
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
		if depth == 0 && !out.tx {
			if out.applied, err = s.wasApplied(level); out.applied || err != nil {
				out.docs[0].after = out.docs[0].before
				return out, err
			}
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
	return out, nil
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

func (s *store) idOf(state storeState) any { return state.docs[0].id }

// follow returns a write as it is after the writes before it. wanted is false if it
// changes nothing.
func (s *storeState) follow(w StoreWrite) (_ StoreWrite, wanted bool, err error) {
	id := w.id()
	i := slices.IndexFunc(s.docs, func(d storedDoc) bool { return d.collection == w.Collection && sameValue(d.id, id) })
	switch {
	case i < 0:
		s.docs = append(s.docs, storedDoc{w.Collection, id, w.Before, w.After})
	case w.Before == nil:
		return w, false, fmt.Errorf("%w (%s)", ErrTaken, w)
	case s.docs[i].after == nil:
		return w, false, nil
	case w.After == nil:
		w.Before, s.docs[i].after = s.docs[i].after, nil
	default:
		fields := difference(w.Before, w.After)
		w.Before = s.docs[i].after
		w.After = nil
		if w, err = w.With(fields); err != nil {
			return w, false, err
		}
		s.docs[i].after = w.After
	}
	return w, !w.isEmpty(), nil
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

// react amends the documents of one level of writes, and collects the answers.
func (s *store) react(ctx context.Context, db DB, level []*StoreWrite, out *storeState) error {
	calls, err := s.calls(ctx, db, level)
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
		if err := s.checkDerived(w); err != nil {
			return err
		}
		i := slices.IndexFunc(out.docs, func(d storedDoc) bool { return d.collection == w.Collection && sameValue(d.id, w.id()) })
		out.docs[i].after = w.After
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
func (s *store) calls(ctx context.Context, db DB, level []*StoreWrite) (out []reactionCall, err error) {
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
	docs, err := s.fetch(ctx, db, all)
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
