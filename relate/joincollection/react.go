package joincollection

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns what a store does with links: the documents that a link names exist,
// and the links of a deleted document are deleted.
func (j *untypedRelation) makeReactions() []model.Reaction {
	out := []model.Reaction{{
		Collection: j.Links.Name(), On: model.OnInsert | model.OnUpdate, Paths: []string{j.Left.Path, j.Right.Path},
		Fetch: j.fetchEnds,
	}}
	for _, left := range []bool{true, false} {
		s := j.chooseSide(left)
		out = append(
			out, model.Reaction{Collection: s.docs, On: model.OnDelete, Fetch: s.fetchLinks, React: s.dropLinks},
		)
	}
	return out
}

// fetchEnds asks for the documents to which a written link refers and didn't refer
// before.
func (j *untypedRelation) fetchEnds(w model.StoreWrite) (out []model.Fetch, err error) {
	if w.After == nil {
		return nil, nil
	}
	for _, left := range []bool{true, false} {
		s := j.chooseSide(left)
		id, _ := core.ValueAt(w.After, s.path)
		old, _ := core.ValueAt(w.Before, s.path)
		switch {
		case id.Type == 0, id.Type == bson.TypeNull:
			return nil, j.refuseMissing(s.IDs)
		case !bsonval.EqualRaw(old, id):
			id = bsonval.Clone(id)
			missing := &model.ReferenceError{Collection: j.Links.Name(), Path: s.path, To: s.docs, Value: id}
			out = append(out, model.Fetch{Collection: s.docs, ID: id, Hold: true, Missing: missing})
		}
	}
	return out, nil
}

// fetchLinks asks for the links of a deleted document.
func (s untypedSide) fetchLinks(w model.StoreWrite) ([]model.Fetch, error) {
	if w.After != nil || w.Before == nil {
		return nil, nil
	}
	return []model.Fetch{{
		Collection: s.Links.Name(), By: s.path, ID: bsonval.Clone(w.Before.Lookup("_id")), Paths: []string{model.Whole},
		Job:     "Store.DeleteJob",
		Deletes: true,
	}}, nil
}

// dropLinks deletes the links of a deleted document, unless another rule forbids the
// deletion because of them.
func (s untypedSide) dropLinks(w model.StoreWrite) (a model.Answer, _ error) {
	for _, link := range w.FoundAll(0) {
		a.Writes = append(a.Writes, model.StoreWrite{Collection: s.Links.Name(), Before: link, Weak: true})
	}
	return a, nil
}
