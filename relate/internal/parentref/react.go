package parentref

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns what a store's write of a child asks for: that a new parent exists, and
// that CountUp increases with the reference.
func (r ParentRef) Reactions(mustExist bool) []model.Reaction {
	if !mustExist && r.CountUp == "" {
		return nil
	}
	out := model.Reaction{Collection: r.Children.Name(), Paths: []string{r.Path}}
	if r.CountUp != "" {
		out.Amend = r.countUp
	}
	if mustExist {
		out.Fetch, out.React = r.fetchParent, r.checkParent
	}
	return []model.Reaction{out}
}

// countUp returns the next version of a child whose reference changes. A new child keeps
// its version.
func (r ParentRef) countUp(w model.StoreWrite) (bson.D, error) {
	if w.Before == nil {
		return nil, nil
	}
	v, _ := core.ValueAt(w.Before, r.CountUp)
	n, _ := v.AsInt64OK()
	return bson.D{{Key: r.CountUp, Value: n + 1}}, nil
}

// newParent returns the parent that a written child names and didn't name before, or type 0.
func (r ParentRef) newParent(w model.StoreWrite) bson.RawValue {
	id, _ := core.ValueAt(w.After, r.Path)
	if old, _ := core.ValueAt(w.Before, r.Path); id.Type == bson.TypeNull || bsonval.EqualRaw(old, id) {
		return bson.RawValue{}
	}
	return bsonval.Clone(id)
}

func (r ParentRef) fetchParent(w model.StoreWrite) (out []model.Fetch, _ error) {
	if id := r.newParent(w); id.Type != 0 && !w.Tx {
		out = append(out, model.Fetch{Collection: r.parents.Name(), ID: id})
	}
	return out, nil
}

func (r ParentRef) checkParent(w model.StoreWrite) (a model.Answer, _ error) {
	id := r.newParent(w)
	switch {
	case id.Type == 0:
	case w.Tx:
		a.Hold = []model.Fetch{{Collection: r.parents.Name(), ID: id}}
	case w.Found(0) == nil:
		return a, fmt.Errorf("%w (%s.%s names the parent %s, which isn't in %s)",
			model.ErrNotFound, r.Children.Name(), r.Path, model.Shell(id), r.parents.Name())
	}
	return a, nil
}
