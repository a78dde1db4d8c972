package update

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Applied is an update that made one document of another. The store keeps it with the change, and package changestream
// asks it what the update did.
type Applied struct {
	Update *Update
	Input  Input
}

// Describe returns the updateDescription of the change event
// (https://www.mongodb.com/docs/manual/reference/change-events/update/). A pipeline's tells the difference, with the
// arrays that it cut off. Operators' names the paths that they are on, with the new value of each: an array that gets
// shorter is set as a whole, $push at the end alone names the elements.
func (a Applied) Describe(old, next bson.D) bson.D {
	if a.Update.kind != operators {
		return Describe(old, next)
	}
	changes, err := a.Update.resolvePaths(old, a.Input)
	if err != nil { // can't happen: the update was applied to old
		return Describe(old, next)
	}
	c := comparison{document: next}
	for _, x := range changes {
		if x.from != nil {
			c.comparePath(x.from, false, old)
		}
		c.comparePath(x.path, x.action.appends, old)
	}
	return c.makeDescription()
}

// IsLoggedWhole reports whether the change event of the update is a replacement. Operators always log a difference.
func (a Applied) IsLoggedWhole(old, next bson.D) bool {
	return a.Update.kind == pipeline && IsLoggedWhole(old, next)
}

// Transformed is an update by the pipeline of a $merge, which MongoDB runs and logs as any update by a pipeline.
type Transformed struct{}

// Describe returns the updateDescription of the change event: see [Applied.Describe].
func (Transformed) Describe(old, next bson.D) bson.D { return Describe(old, next) }

// IsLoggedWhole reports whether the change event of the update is a replacement.
func (Transformed) IsLoggedWhole(old, next bson.D) bool { return IsLoggedWhole(old, next) }

// comparison collects what changes at certain paths made of a document. Unlike delta alone it compares no other paths.
type comparison struct {
	delta
	document bson.D // as it is now
}

// comparePath notes the change at a path. document is the one before the update. Where the update had to make the
// beginning of the path, the first part that it made is noted with its value:
//
//	{$set: {"a.b.c": 1}} on {}               →   updatedFields: {a: {b: {c: 1}}}
//	{$push: {a: 3}} on {a: [1, 2]}           →   updatedFields: {"a.2": 3}
//	{$pull: {a: 1}} on {a: [1, 2]}           →   updatedFields: {a: [2]}
//
// appends is the action's.
func (c *comparison) comparePath(p bsonval.Path, appends bool, document bson.D) {
	var old, next any = document, c.document
	for i, f := range p {
		was, now := stepInto(old, f), stepInto(next, f)
		a, isArray := old.(bson.A)
		switch {
		case isArray && i > 0 && f.Index > len(a) && !bsonval.IsMissing(now): // nulls were added before it
			c.noteSet(p[:i], next)
			return
		case bsonval.IsMissing(was) && bsonval.IsMissing(now):
			return
		// The update made this part and the rest.
		case bsonval.IsMissing(was):
			c.noteSet(p[:i+1], now)
			return
		case bsonval.IsMissing(now):
			c.noteRemoved(followPath(p[:i+1], c.document))
			return
		}
		old, next = was, now
	}
	if bsonval.Equal(old, next) {
		return
	}
	// $push that adds at the end: only the new elements are named.
	before, _ := old.(bson.A)
	after, _ := next.(bson.A)
	if !appends || len(before) == 0 || len(before) > len(after) || !bsonval.Equal(before, after[:len(before)]) {
		c.noteSet(p, next)
		return
	}
	for k := len(before); k < len(after); k++ {
		c.noteSet(append(slices.Clone(p), bsonval.Field{Name: strconv.Itoa(k), Index: k}), after[k])
	}
}

// noteSet notes a new value, once if several changes made parts of it.
func (c *comparison) noteSet(p bsonval.Path, v any) {
	if bsonval.Index(c.updated, p.String()) < 0 {
		c.delta.noteSet(followPath(p, c.document), v)
	}
}
