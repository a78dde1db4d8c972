package update

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// Applied is an update that made one document of another, for whoever asks later what it did.
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
	changes, err := a.Update.resolve(old, a.Input)
	if err != nil { // it would have failed
		return Describe(old, next)
	}
	c := comparison{document: next}
	for _, x := range changes {
		if x.from != nil {
			c.at(x.from, false, old)
		}
		c.at(x.path, x.action.appends, old)
	}
	return c.description()
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

// comparison collects what changes at paths made of a document.
type comparison struct {
	delta
	document bson.D // as it is now
}

// at tells of the change at a path, of which the beginning is enough where the update made the rest.
func (c *comparison) at(p bsonval.Path, appends bool, document bson.D) {
	var old, next any = document, c.document
	for i, f := range p {
		was, now := step(old, f), step(next, f)
		a, isArray := old.(bson.A)
		switch {
		case isArray && i > 0 && f.Index > len(a) && !bsonval.IsMissing(now): // nulls were added before it
			c.set(p[:i], next)
			return
		case bsonval.IsMissing(was) && bsonval.IsMissing(now):
			return
		case bsonval.IsMissing(was):
			c.set(p[:i+1], now)
			return
		case bsonval.IsMissing(now):
			c.remove(follow(p[:i+1], c.document))
			return
		}
		old, next = was, now
	}
	if bsonval.Equal(old, next) {
		return
	}
	before, _ := old.(bson.A)
	after, _ := next.(bson.A)
	if !appends || len(before) == 0 || len(before) > len(after) || !bsonval.Equal(before, after[:len(before)]) {
		c.set(p, next)
		return
	}
	for k := len(before); k < len(after); k++ {
		c.set(append(slices.Clone(p), bsonval.Field{Name: strconv.Itoa(k), Index: k}), after[k])
	}
}

// set notes a new value, once where several changes made a part of it.
func (c *comparison) set(p bsonval.Path, v any) {
	if bsonval.Index(c.updated, p.String()) < 0 {
		c.delta.set(follow(p, c.document), v)
	}
}
