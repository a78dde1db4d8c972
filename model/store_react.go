package model

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type reactionCall struct {
	write    *StoreWrite
	reaction *Reaction
	fetches  []Fetch
	found    [][]bson.Raw
}

func (c *reactionCall) event() StoreWrite {
	e := *c.write
	e.found = c.found
	return e
}

func (s *store) checkDerived(w *StoreWrite) error {
	for _, r := range s.reactions {
		if r.Collection != w.Collection || w.After == nil {
			continue
		}
		for _, path := range r.Derives {
			computed, was := valuesAt(w.After, path), valuesAt(w.Before, path)
			for i, given := range valuesAt(w.Given, path) {
				isKept := slices.ContainsFunc(was, func(v bson.RawValue) bool { return bsonval.EqualRaw(v, given) })
				if isEmptyValue(given) || isKept || i >= len(computed) || r.Accepts != nil && r.Accepts(path, given, computed[i]) {
					continue
				}
				if !bsonval.EqualRaw(given, computed[i]) {
					return &ValueError{
						Collection: w.Collection, Field: path, Value: given,
						Reason: "isn't the value that the technique computes, which is " + shell(computed[i]) + ": leave the field empty",
					}
				}
			}
		}
	}
	return nil
}

// valuesAt returns the values of a document at a path, one for each element of arrays on
// the path. A missing value is of type 0.
func valuesAt(doc bson.Raw, path string) []bson.RawValue {
	return appendValues(nil, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, strings.Split(path, "."))
}

func appendValues(out []bson.RawValue, at bson.RawValue, path []string) []bson.RawValue {
	if len(path) == 0 {
		return append(out, at)
	}
	if at.Type == bson.TypeArray {
		for _, e := range core.Elements(at) {
			out = appendValues(out, e, path)
		}
		return out
	}
	doc, ok := at.DocumentOK()
	if !ok || len(doc) == 0 {
		return append(out, bson.RawValue{})
	}
	return appendValues(out, doc.Lookup(path[0]), path[1:])
}

const mostRounds = 10

func (s *store) react(ctx context.Context, db DB, level []*StoreWrite, out *storeState) error {
	var calls []*reactionCall
	seen := make([]bson.Raw, len(level)) // the documents before the last round
	for i, w := range level {
		seen[i] = w.Before
	}
	for round := 0; ; round++ {
		if round > mostRounds {
			return s.docs.Refuse("reactions", nil,
				"change each other's fields without an end: let only one of them write a field")
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

func (s *storeState) answer(calls []*reactionCall) error {
	for _, c := range calls {
		for _, f := range c.fetches {
			if f.Hold && s.tx {
				s.hold(heldDoc{f, false, c.reaction.technique})
			}
		}
		if c.reaction.Correct != nil && c.write.After != nil && len(c.fetches) > 0 && !s.tx {
			s.corrects = append(s.corrects, c)
		}
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
		answer.label(c.reaction.technique)
		s.answers = append(s.answers, answered{answer, s.index(c.write.Collection, c.write.id())})
	}
	return nil
}

func (a *Answer) label(technique string) {
	for _, steps := range []*[]Step{&a.First, &a.Undo, &a.Then} {
		*steps = slices.Clone(*steps)
		for i, step := range *steps {
			if w, ok := step.(Write); ok {
				w.asked = technique
				(*steps)[i] = w
			}
		}
	}
	a.Writes = slices.Clone(a.Writes)
	for i := range a.Writes {
		a.Writes[i].asked = technique
	}
	a.Once = slices.Clone(a.Once)
	for i := range a.Once {
		a.Once[i].asked = technique
	}
}

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
			if !reaction.On.includes(w.occasion()) ||
				!reaction.concerns(StoreWrite{Collection: w.Collection, Before: seen[i], After: w.After}, changed) {
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
			for i := range fetches {
				fetches[i].parents = w.Collection
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
		if err := c.missing(state); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *reactionCall) missing(state *storeState) error {
	for i, f := range c.fetches {
		unread := f.isFoundOutByHold(state.tx) && state.index(f.Collection, f.ID) < 0
		if f.Missing != nil && len(c.found[i]) == 0 && !state.resumed && !unread {
			return f.Missing
		}
	}
	return nil
}
