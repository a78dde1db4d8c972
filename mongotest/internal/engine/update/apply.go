package update

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// state is what an action may need to know.
type state struct {
	in   Input
	id   any          // the document's _id, for messages
	path bsonval.Path // the change's path

	watch *interrupt.Watch
}

func (s *state) document() string { return element("_id", s.id) }

// maxPadding is how many nulls a set beyond an array's end may add.
const maxPadding = 1_500_000

// applyChanges resolves the positional parts of the paths, orders the changes
// by path, as MongoDB does, and applies one after another.
func (u *Update) applyChanges(doc bson.D, in Input) (bson.D, error) {
	changes, err := u.resolve(doc, in)
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
			v, err = rename(v, c, s)
		} else {
			v, err = c.action.at(v, c.path, 0, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return v.(bson.D), nil
}

func (u *Update) resolve(doc bson.D, in Input) ([]change, error) {
	out := make([]change, 0, len(u.changes))
	resolved := false
	for _, c := range u.changes {
		idle := c.insert && !in.IsInsert // but what its path says of arrays has to hold
		if !slices.ContainsFunc(c.path, func(f bsonval.Field) bool { return f.Name[0] == '$' }) {
			if !idle {
				out = append(out, c)
			}
			continue
		}
		resolved = true
		err := u.expand(doc, c.path, 0, in, func(p bsonval.Path) {
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
	slices.SortStableFunc(out, func(a, b change) int { return comparePaths(a.path, b.path) })
	for i := 1; resolved && i < len(out); i++ {
		if err := conflict(out[i-1].path, out[i].path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// comparePaths orders by name, and numbers by their value.
func comparePaths(a, b bsonval.Path) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		c := strings.Compare(x.Name, y.Name)
		if x.Index >= 0 && y.Index >= 0 {
			c = cmp.Compare(x.Index, y.Index)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// expand calls f with every path that p stands for in the document.
func (u *Update) expand(v any, p bsonval.Path, i int, in Input, f func(bsonval.Path)) error {
	for ; i < len(p); i++ {
		name := p[i].Name
		switch {
		case name == "$":
			if in.Position < 0 {
				return mongoerr.New(mongoerr.BadValue, "The positional operator did not find the match needed from the query.")
			}
			p = replaced(p, i, in.Position)
		case isArrayOperator(name):
			return u.expandArray(v, p, i, in, f)
		}
		v = step(v, p[i])
	}
	f(p)
	return nil
}

func (u *Update) expandArray(v any, p bsonval.Path, i int, in Input, f func(bsonval.Path)) error {
	a, ok := v.(bson.A)
	switch {
	case bsonval.IsMissing(v):
		return mongoerr.New(mongoerr.BadValue,
			"The path '%s' must exist in the document in order to apply array updates.", p[:i])
	case !ok:
		return mongoerr.New(mongoerr.BadValue, "Cannot apply array updates to non-array element %s: %s", p[i-1].Name, show(v))
	}
	filter := u.filters[p[i].Name[2:len(p[i].Name)-1]]
	for k, x := range a {
		if err := u.watch.Step(); err != nil {
			return err
		}
		if filter != nil {
			if matched, err := filter.match(x); err != nil {
				return err
			} else if !matched {
				continue
			}
		}
		if err := u.expand(x, replaced(p, i, k), i+1, in, f); err != nil {
			return err
		}
	}
	return nil
}

func replaced(p bsonval.Path, i, index int) bsonval.Path {
	next := slices.Clone(p)
	next[i] = bsonval.Field{Name: strconv.Itoa(index), Index: index}
	return next
}

func step(v any, f bsonval.Field) any {
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

// at applies the action to what v has at the path from its i-th component on,
// and returns v with the result: v itself when nothing changed.
func (a action) at(v any, p bsonval.Path, i int, s *state) (any, error) {
	if i == len(p) {
		return a.apply(v, s)
	}
	switch x := v.(type) {
	case bson.D:
		return a.inDocument(x, p, i, s)
	case bson.A:
		return a.inArray(x, p, i, s)
	}
	switch {
	case bsonval.IsMissing(v) && !a.creates:
		return v, nil
	case bsonval.IsMissing(v):
		inner, err := a.at(bsonval.Missing, p, i+1, s)
		if err != nil || bsonval.IsMissing(inner) {
			return bsonval.Missing, err
		}
		return bson.D{{Key: p[i].Name, Value: inner}}, nil
	case a.tolerant:
		return v, nil
	case !a.creates:
		return nil, notTraversable(p, i, v)
	}
	return nil, notViable(p, i, v)
}

func notTraversable(p bsonval.Path, i int, v any) error {
	return mongoerr.New(mongoerr.PathNotViable, "Cannot use the part (%s) of (%s) to traverse the element (%s)",
		p[i].Name, p, element(p[i-1].Name, v))
}

func notViable(p bsonval.Path, i int, v any) error {
	return mongoerr.New(mongoerr.PathNotViable, "Cannot create field '%s' in element %s",
		p[i].Name, element(p[i-1].Name, v))
}

func (a action) inDocument(d bson.D, p bsonval.Path, i int, s *state) (any, error) {
	name := p[i].Name
	old, has := bsonval.Get(d, name)
	next, err := a.at(old, p, i+1, s)
	switch {
	case err != nil:
		return nil, err
	case bsonval.IsMissing(next):
		return bsonval.Without(d, name), nil
	case has && bsonval.Equal(old, next):
		return d, nil
	}
	return bsonval.With(d, name, next), nil
}

func (a action) inArray(x bson.A, p bsonval.Path, i int, s *state) (any, error) {
	k := p[i].Index
	switch {
	case k < 0 && a.tolerant:
		return x, nil
	case k < 0 && !a.creates:
		return nil, notTraversable(p, i, x)
	case k < 0:
		return nil, notViable(p, i, x)
	case k >= len(x) && !a.creates:
		return x, nil
	case k >= len(x)+maxPadding:
		return nil, mongoerr.New(mongoerr.BadValue, "can't backfill more than %d elements", maxPadding)
	}
	var old any = bsonval.Missing
	if k < len(x) {
		old = x[k]
	}
	next, err := a.at(old, p, i+1, s)
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

func show(v any) string { return bsonval.Text(v) }

// element writes a field as MongoDB's messages do.
func element(name string, v any) string { return "{" + name + ": " + show(v) + "}" }
