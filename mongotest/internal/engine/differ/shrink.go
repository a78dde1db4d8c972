package differ

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/grammar"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// shrink removes documents, fields and clauses from a case for as long as it still differs, and returns the
// smallest that it found. It asks at most limit times.
func shrink(c cases.Case, limit int, differs func(cases.Case) bool) cases.Case {
	for again := true; again; {
		again = false
		for _, next := range smaller(c) {
			if limit--; limit < 0 {
				return c
			}
			if differs(next) {
				c, again = next, true
				break
			}
		}
	}
	return c
}

// smaller lists the cases that have one thing less than c, the largest things first.
func smaller(c cases.Case) []cases.Case {
	var out []cases.Case
	for i := range c.Docs {
		next := c
		next.Docs = slices.Delete(slices.Clone(c.Docs), i, i+1)
		out = append(out, next)
	}
	if len(c.Other) > 0 {
		next := c
		next.Other = nil
		out = append(out, next)
	}
	for i := range c.Other {
		next := c
		next.Other = slices.Delete(slices.Clone(c.Other), i, i+1)
		out = append(out, next)
	}
	for i, e := range c.Command {
		if i == 0 || e.Key == "cursor" {
			continue
		}
		for _, v := range lessOf(e.Value) {
			next := c
			next.Command = slices.Clone(c.Command)
			next.Command[i].Value = v
			next.Ordered = c.Ordered && sorts(next) == sorts(c)
			out = append(out, next)
		}
	}
	for _, drop := range []string{"sort", "projection", "skip", "limit", "fields", "arrayFilters"} {
		if next := c; c.Get(drop) != nil && !(drop == "sort" && c.Ordered) {
			next.Command = slices.DeleteFunc(slices.Clone(c.Command), func(e bson.E) bool { return e.Key == drop })
			out = append(out, next)
		}
	}
	return append(out, smallerDocs(c)...)
}

// sorts counts the stages that put documents in order. A smaller case with fewer of them no longer counts as ordered.
func sorts(c cases.Case) int {
	n := 0
	tree.Walk(c.Command, func(key string, _ any) {
		if key == "$sort" {
			n++
		}
	})
	return n
}

// hidesUnstableFields reports whether what a stage tells about a collection is cut down to what two servers agree on.
func hidesUnstableFields(c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	for i, s := range stages {
		if s, ok := s.(bson.D); ok && len(s) == 1 && grammar.StableFields[s[0].Key] != nil &&
			(i == len(stages)-1 || tree.Lookup(stages[i+1], "$project") == nil) {
			return false
		}
	}
	return true
}

// keepsInputOrdered reports whether each stage whose result depends on the order of its input gets it in an order, as
// the generator sees to. Without it two servers differ for no reason. A group of whole documents is an exception: its
// elements are equal, so their order can't show.
func keepsInputOrdered(c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	ordered := len(stages) > 0
	for i, s := range stages {
		s, ok := s.(bson.D)
		if !ok || len(s) != 1 {
			continue
		}
		name := s[0].Key
		whole := tree.Lookup(s[0].Value, "_id") == "$$ROOT" // a group of equal documents
		if i > 0 && grammar.NeedsOrder[name] && !ordered && !whole {
			return false
		}
		switch name {
		case "$sort":
			ordered = true
		case "$group", "$sample", "$unionWith", "$sortByCount", "$bucket", "$bucketAuto", "$setWindowFields":
			ordered = false
		}
	}
	return true
}

// smallerDocs lists the cases in which one document has less. All documents keep their _id, since a backend would add
// a random one.
func smallerDocs(c cases.Case) []cases.Case {
	var out []cases.Case
	for i, doc := range c.Docs {
		for _, v := range lessOf(doc) {
			next := c
			next.Docs = slices.Clone(c.Docs)
			next.Docs[i] = v.(bson.D)
			if tree.Lookup(next.Docs[i], "_id") != nil {
				out = append(out, next)
			}
		}
	}
	for i, doc := range c.Other {
		for _, v := range lessOf(doc) {
			next := c
			next.Other = slices.Clone(c.Other)
			next.Other[i] = v.(bson.D)
			if tree.Lookup(next.Other[i], "_id") != nil {
				out = append(out, next)
			}
		}
	}
	return out
}

// lessOf lists values of the same type with one element less, or with one element that is less itself. A case is
// small when lessOf has nothing left that still differs, not when it is the smallest possible.
func lessOf(v any) []any {
	var out []any
	switch v := v.(type) {
	case bson.D:
		for i := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
		}
		for i, e := range v {
			for _, less := range append(insides(e.Value), lessOf(e.Value)...) {
				next := slices.Clone(v)
				next[i].Value = less
				out = append(out, next)
			}
		}
	case bson.A:
		for i := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
		}
		for i, x := range v {
			for _, less := range append(insides(x), lessOf(x)...) {
				next := slices.Clone(v)
				next[i] = less
				out = append(out, next)
			}
		}
	case []bson.D:
		for i := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
		}
	}
	return out
}

// insides lists what can stand for an operator: its operands, or a constant. Without it a difference deep in an
// expression would keep every operator around it.
func insides(v any) []any {
	doc, ok := v.(bson.D)
	if !ok || len(doc) != 1 {
		return nil
	}
	out := []any{doc[0].Value}
	if list, ok := doc[0].Value.(bson.A); ok {
		out = append(out, list...)
	}
	if in, ok := doc[0].Value.(bson.D); ok {
		for _, e := range in {
			out = append(out, e.Value)
		}
	}
	return append(out, int32(1))
}
