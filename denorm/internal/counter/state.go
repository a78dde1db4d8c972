package counter

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A transition is a change of a child, from what it counted for to what it counts for.
type transition struct {
	was, now contribution
	comes    bson.RawValue // the parent that the child names after, and didn't name before; type 0 for none
}

// parents are the parents that the transition changes. Their order is the same in all actions, so that no two
// transactions wait for each other.
func (t transition) parents() []bson.RawValue {
	var ids []bson.RawValue
	for _, id := range []bson.RawValue{t.was.parent, t.now.parent, t.comes} {
		if id.Type != 0 && !stored.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b bson.RawValue) int { return slices.Compare(a.Value, b.Value) })
	return ids
}

// names reports whether the child names the parent, which it didn't name before.
func (t transition) names(parent bson.RawValue) bool {
	return t.comes.Type != 0 && bsonval.EqualRaw(t.comes, parent)
}

// A parentDoc is a parent as the store read it.
type parentDoc struct {
	ID  bson.RawValue
	Doc bson.Raw // its tokens, and the smallest and greatest; nil if there is no such parent

	// Next are the smallest or greatest values of the other children, by the path where the parent keeps them.
	// Type 0 means that no other child has a value.
	Next map[string]bson.RawValue
}
