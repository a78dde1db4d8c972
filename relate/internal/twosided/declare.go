// Package twosided keeps relations that both sides store, as bare ids or as versioned links: what is behind relate.TwoWay and
// relate.ManyToMany.
package twosided

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Side is one side of a relation: documents, and where they hold the ids of the others.
type Side struct {
	Ref    idref.Ref   // from the documents to the others
	IDs    idref.Held  // of the others, in the documents
	Back   idref.Held  // of the documents, in the others
	BackID string      // the path of those ids
	Index  model.Index // on BackID
	Sort   bson.D      // the order that the index gives, if it is promised
	Narrow bool        // the other side decides which links hold
}

// Leading narrows a query to the others that hold the id of the document that doc points at.
func (s *Side) Leading(q *model.Query, docs *core.Docs, doc any) {
	id, err := docs.ID(doc)
	if err == nil {
		id, err = docs.EncodeID("_id", id)
	}
	if q.Err = err; err == nil {
		q.Filter = model.And(q.Filter, stmt.Is(s.BackID, id))
	}
}

// An End is a place where the documents of one side store ids, or links, of the other side's.
type End struct {
	Docs  *core.Docs
	Path  string
	Links bool
	Max   int // how many a list holds at most; 0 means no bound
}

func (e End) String() string { return e.Docs.Name() + "." + e.Path }

// id is the path of the ids.
func (e End) id() string {
	if e.Links {
		return e.Path + ".id"
	}
	return e.Path
}

// side is the side whose documents have this end, and the others the other one.
func (e End) side(back End) Side {
	return Side{
		Ref: idref.Ref{From: e.Docs.Name(), Path: e.id(), To: back.Docs.Name(), Link: e.Links},
		IDs: idref.NewHeld(e.Docs, e.Path, back.Docs), Back: idref.NewHeld(back.Docs, back.Path, e.Docs), BackID: back.id(),
	}
}

// listing makes the reference that of a list.
func (s Side) listing() Side {
	s.Ref.List = s.IDs.Path
	if s.Ref.Link {
		s.Ref.Key = "id"
	}
	return s
}

// failOneForm refuses sides of which one is versioned.
func failOneForm(place core.Place) {
	place.Fail("one side has versioned links, the other has bare ids", "use relate.Link on both sides, or bare ids on both")
}
