package parentref

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns what a store's write of a child asks for: that a new parent exists,
// and that CountUp increases with the reference.
func (r untypedParentRef) makeReactions(mustExist bool) []model.Reaction {
	if !mustExist && r.CountUp == "" {
		return nil
	}
	out := model.Reaction{Collection: r.Children.Name(), On: model.OnInsert | model.OnUpdate, Paths: []string{r.Path}}
	if r.CountUp != "" {
		out.Amend = r.incrementVersion
	}
	if mustExist {
		out.Fetch = r.fetchParent
	}
	return []model.Reaction{out}
}

// incrementVersion returns the next version of a child whose reference changes. A new
// child keeps its version.
func (r untypedParentRef) incrementVersion(w model.StoreWrite) (bson.D, error) {
	if w.Before == nil {
		return nil, nil
	}
	v, _ := core.ValueAt(w.Before, r.CountUp)
	n, _ := v.AsInt64OK()
	return bson.D{{Key: r.CountUp, Value: n + 1}}, nil
}

// findNewParent returns the parent to which a written child refers and didn't refer
// before, or a value of type 0.
func (r untypedParentRef) findNewParent(w model.StoreWrite) bson.RawValue {
	id, _ := core.ValueAt(w.After, r.Path)
	if old, _ := core.ValueAt(w.Before, r.Path); id.Type == bson.TypeNull || bsonval.EqualRaw(old, id) {
		return bson.RawValue{}
	}
	return bsonval.Clone(id)
}

// fetchParent asks the store for the new parent.
func (r untypedParentRef) fetchParent(w model.StoreWrite) (out []model.Fetch, _ error) {
	if id := r.findNewParent(w); id.Type != 0 {
		missing := &model.ReferenceError{Collection: r.Children.Name(), Path: r.Path, To: r.parents.Name(), Value: id}
		out = append(out, model.Fetch{Collection: r.parents.Name(), ID: id, Hold: true, Missing: missing})
	}
	return out, nil
}
