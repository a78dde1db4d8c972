package update

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// state is what an action may need to know beside the old value. Each change has its own.
type state struct {
	in   Input
	id   any          // the document's _id, for messages
	path bsonval.Path // the change's path

	watch *interrupt.Watch
}

// showDocument names the document as MongoDB's messages do.
func (s *state) showDocument() string { return showField("_id", s.id) }

// maxPadding is how many nulls a $set beyond an array's end may add. MongoDB has the same limit.
const maxPadding = 1_500_000

// applyChanges applies an update by operators: all changes, one after the other.
func (u *Update) applyChanges(doc bson.D, in Input) (bson.D, error) {
	changes, err := u.resolvePaths(doc, in)
	if err != nil {
		return nil, err
	}
	id, _ := bsonval.Get(doc, "_id")
	if bsonval.IsMissing(id) {
		id = nil
	}
	var v any = doc
	for _, c := range changes {
		if err := u.watch.Step(); err != nil {
			return nil, err
		}
		s := &state{in: in, id: id, path: c.path, watch: u.watch}
		if c.from != nil {
			v, err = applyRename(v, c, s)
		} else {
			v, err = c.action.applyAt(v, c.path, 0, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return v.(bson.D), nil
}

// resolvePaths returns the changes with the paths that they have in this document, sorted by path. One change with $[]
// becomes a change for each element:
//
//	{$inc: {"a.$[].n": 1}} on {a: [{n: 1}, {n: 5}]}   →   a.0.n, a.1.n
//
// Expanded paths can be in conflict where the written ones weren't.
func (u *Update) resolvePaths(doc bson.D, in Input) ([]change, error) {
	out := make([]change, 0, len(u.changes))
	resolved := false // whether a path was expanded
	for _, c := range u.changes {
		// $setOnInsert does nothing to a stored document, but its path must be possible there.
		idle := c.insert && !in.IsInsert
		if !slices.ContainsFunc(c.path, func(f bsonval.Field) bool { return f.Name[0] == '$' }) {
			if !idle {
				out = append(out, c)
			}
			continue
		}
		resolved = true
		err := u.expandPath(doc, c.path, 0, in, func(p bsonval.Path) {
			if !idle {
				next := c
				next.path = p
				out = append(out, next)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b change) int { return bsonval.ComparePaths(a.path, b.path) })
	// After the sort only neighbours can be in conflict.
	for i := 1; resolved && i < len(out); i++ {
		if err := checkConflict(out[i-1].path, out[i].path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// expandPath calls f with every path that p stands for in the document. v is the value at the first i parts of p, which
// are expanded already. The query must have matched by an element if p has a $: in.Position is the element's place.
func (u *Update) expandPath(v any, p bsonval.Path, i int, in Input, f func(bsonval.Path)) error {
	for ; i < len(p); i++ {
		name := p[i].Name
		switch {
		case name == "$":
			if in.Position < 0 {
				return mongoerr.New(mongoerr.BadValue,
					"The positional operator did not find the match needed from the query.")
			}
			p = replaceStep(p, i, in.Position)
		case isArrayOperator(name):
			return u.expandArray(v, p, i, in, f)
		}
		v = stepInto(v, p[i])
	}
	f(p)
	return nil
}

// expandArray is expandPath for a part $[] or $[x]. The value must be an array.
func (u *Update) expandArray(v any, p bsonval.Path, i int, in Input, f func(bsonval.Path)) error {
	a, ok := v.(bson.A)
	switch {
	case bsonval.IsMissing(v):
		return mongoerr.New(mongoerr.BadValue,
			"The path '%s' must exist in the document in order to apply array updates.", p[:i])
	case !ok:
		return mongoerr.New(mongoerr.BadValue,
			"Cannot apply array updates to non-array element %s: %s", p[i-1].Name, show(v))
	}
	// There is no filter for $[], whose name is empty.
	filter := u.filters[p[i].Name[2:len(p[i].Name)-1]]
	for k, x := range a {
		if err := u.watch.Step(); err != nil {
			return err
		}
		if filter != nil {
			if matched, err := filter.matches(x); err != nil {
				return err
			} else if !matched {
				continue
			}
		}
		if err := u.expandPath(x, replaceStep(p, i, k), i+1, in, f); err != nil {
			return err
		}
	}
	return nil
}

// replaceStep returns the path with the i-th part replaced by a place in an array.
func replaceStep(p bsonval.Path, i, index int) bsonval.Path {
	next := slices.Clone(p)
	next[i] = bsonval.Field{Name: strconv.Itoa(index), Index: index}
	return next
}

// stepInto returns the value of a field or an element, bsonval.Missing if v doesn't have it.
func stepInto(v any, f bsonval.Field) any {
	switch x := v.(type) {
	case bson.D:
		v, _ := bsonval.Get(x, f.Name)
		return v
	case bson.A:
		if f.Index >= 0 && f.Index < len(x) {
			return x[f.Index]
		}
	}
	return bsonval.Missing
}

// applyAt applies the action to what v has at the path from its i-th part on, and returns v with the result: v itself
// if nothing changed. So for the path a.b the call with i = 0 gets the document, that with i = 1 the value of a, and
// that with i = 2 the value of a.b, which goes to the action.
func (a action) applyAt(v any, p bsonval.Path, i int, s *state) (any, error) {
	if i == len(p) {
		return a.apply(v, s)
	}
	switch x := v.(type) {
	case bson.D:
		return a.applyInDocument(x, p, i, s)
	case bson.A:
		return a.applyInArray(x, p, i, s)
	}
	// v is a value without fields, or missing.
	switch {
	case bsonval.IsMissing(v) && !a.creates:
		return v, nil
	case bsonval.IsMissing(v):
		inner, err := a.applyAt(bsonval.Missing, p, i+1, s)
		if err != nil || bsonval.IsMissing(inner) {
			return bsonval.Missing, err
		}
		return bson.D{{Key: p[i].Name, Value: inner}}, nil
	case a.tolerant:
		return v, nil
	case !a.creates:
		return nil, newNotTraversable(p, i, v)
	}
	return nil, newNotViable(p, i, v)
}

// newNotTraversable returns the error of an operator that only changes what exists, and meets a value without fields.
func newNotTraversable(p bsonval.Path, i int, v any) error {
	return mongoerr.New(mongoerr.PathNotViable, "Cannot use the part (%s) of (%s) to traverse the element (%s)",
		p[i].Name, p, showField(p[i-1].Name, v))
}

// newNotViable returns the error of an operator that would have to make a field in a value without fields.
func newNotViable(p bsonval.Path, i int, v any) error {
	return mongoerr.New(mongoerr.PathNotViable, "Cannot create field '%s' in element %s",
		p[i].Name, showField(p[i-1].Name, v))
}

// applyInDocument is applyAt for a document.
func (a action) applyInDocument(d bson.D, p bsonval.Path, i int, s *state) (any, error) {
	name := p[i].Name
	old, has := bsonval.Get(d, name)
	next, err := a.applyAt(old, p, i+1, s)
	switch {
	case err != nil:
		return nil, err
	case bsonval.IsMissing(next):
		return bsonval.RemoveField(d, name), nil
	case has && bsonval.Equal(old, next):
		return d, nil
	}
	return bsonval.SetField(d, name, next), nil
}

// applyInArray is applyAt for an array, whose element the path must name by a number:
//
//	{$set: {"a.3": 5}} on {a: [1]}     →   {a: [1, null, null, 5]}
//	{$unset: {"a.0": 1}} on {a: [1]}   →   {a: [null]}
func (a action) applyInArray(x bson.A, p bsonval.Path, i int, s *state) (any, error) {
	k := p[i].Index
	switch {
	case k < 0 && a.tolerant:
		return x, nil
	case k < 0 && !a.creates:
		return nil, newNotTraversable(p, i, x)
	case k < 0:
		return nil, newNotViable(p, i, x)
	case k >= len(x) && !a.creates:
		return x, nil
	case k >= len(x)+maxPadding:
		return nil, mongoerr.New(mongoerr.BadValue, "can't backfill more than %d elements", maxPadding)
	}
	var old any = bsonval.Missing
	if k < len(x) {
		old = x[k]
	}
	next, err := a.applyAt(old, p, i+1, s)
	switch {
	case err != nil:
		return nil, err
	case bsonval.IsMissing(next) && k >= len(x):
		return x, nil
	case bsonval.IsMissing(next):
		next = nil // an element that is unset becomes null
	}
	if k < len(x) && bsonval.Equal(old, next) {
		return x, nil
	}
	out := make(bson.A, max(len(x), k+1))
	copy(out, x)
	out[k] = next
	return out, nil
}

// show writes a value in MongoDB's shell syntax, for messages.
func show(v any) string { return bsonval.Text(v) }

// showField writes a field as MongoDB's messages do.
func showField(name string, v any) string { return "{" + name + ": " + show(v) + "}" }
