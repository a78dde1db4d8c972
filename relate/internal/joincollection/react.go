package joincollection

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns what a store does with links: the documents that a link names exist, and
// the links of a deleted document are deleted.
func (j *Relation) Reactions() []model.Reaction {
	out := []model.Reaction{{
		Collection: j.Links.Name(), Paths: []string{j.Left.Path, j.Right.Path}, Fetch: j.fetchEnds, React: j.checkEnds,
	}}
	for _, left := range []bool{true, false} {
		s := j.Side(left)
		out = append(out, model.Reaction{Collection: s.docs, Fetch: s.fetchLinks, React: s.dropLinks})
	}
	return out
}

// newEnds returns the ids that a written link has and didn't have before.
func (j *Relation) newEnds(w model.StoreWrite) (out []model.Fetch, err error) {
	if w.After == nil {
		return nil, nil
	}
	for _, left := range []bool{true, false} {
		s := j.Side(left)
		id, _ := core.ValueAt(w.After, s.path)
		old, _ := core.ValueAt(w.Before, s.path)
		switch {
		case id.Type == 0, id.Type == bson.TypeNull:
			return nil, j.HoldsNone(s.IDs)
		case !bsonval.EqualRaw(old, id):
			out = append(out, model.Fetch{Collection: s.docs, ID: bsonval.Clone(id)})
		}
	}
	return out, nil
}

// fetchEnds reads the documents of new ids. In a transaction, holding them shows whether
// they exist.
func (j *Relation) fetchEnds(w model.StoreWrite) ([]model.Fetch, error) {
	ends, err := j.newEnds(w)
	if w.Tx {
		return nil, err
	}
	return ends, err
}

func (j *Relation) checkEnds(w model.StoreWrite) (a model.Answer, err error) {
	ends, err := j.newEnds(w)
	if w.Tx {
		a.Hold = ends
		return a, err
	}
	for i, end := range ends {
		if w.Found(i) == nil {
			return a, fmt.Errorf("%w (a link of %s names %s, which isn't in %s)", model.ErrNotFound, j.Links.Name(), model.Shell(end.ID), end.Collection)
		}
	}
	return a, err
}

func (s Side) fetchLinks(w model.StoreWrite) ([]model.Fetch, error) {
	if w.After != nil || w.Before == nil {
		return nil, nil
	}
	return []model.Fetch{{
		Collection: s.Links.Name(), By: s.path, ID: bsonval.Clone(w.Before.Lookup("_id")), Paths: []string{model.Whole}, Job: "relate.JoinSide.UnlinkAll first",
	}}, nil
}

// dropLinks deletes the links of a deleted document, unless another rule forbids the
// deletion because of them.
func (s Side) dropLinks(w model.StoreWrite) (a model.Answer, _ error) {
	for _, link := range w.FoundAll(0) {
		a.Writes = append(a.Writes, model.StoreWrite{Collection: s.Links.Name(), Before: link, Weak: true})
	}
	return a, nil
}
