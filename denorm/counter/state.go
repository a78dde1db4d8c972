package counter

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A transition is a change of a child: what it counted for, and what it counts for now.
type transition struct {
	was, now contribution
	// The parent that the child names now and didn't name before; type 0 for none. The
	// child may not count for it, because of Spec.Where, but the parent must exist.
	comes bson.RawValue
}

// listParents returns the parents that the transition changes. Their order is the same in
// all actions, so that no two transactions wait for each other.
func (t transition) listParents() []bson.RawValue {
	var ids []bson.RawValue
	for _, id := range []bson.RawValue{t.was.parent, t.now.parent, t.comes} {
		if id.Type != 0 && !stored.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b bson.RawValue) int { return slices.Compare(a.Value, b.Value) })
	return ids
}

// namesNewParent reports whether the child names this parent now, and didn't before.
func (t transition) namesNewParent(parent bson.RawValue) bool {
	return t.comes.Type != 0 && bsonval.EqualRaw(t.comes, parent)
}

// A parentDoc is a parent as the store read it.
type parentDoc struct {
	ID bson.RawValue
	// The parent's tokens and extremes. Nil if the parent doesn't exist.
	Doc bson.Raw

	// Next are the smallest or greatest values of the other children, by the path where
	// the parent keeps them. Type 0 means that no other child has a value.
	Next map[string]bson.RawValue
}
