// Package twosided keeps relations that both sides store, as _ids: what is behind relate.TwoWay and
// relate.ManyToMany. A store writes both sides (react.go). The checks find half-links, which only one
// side stores, and repair them (check.go).
package twosided

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
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
}

// An End is a place where the documents of one side store ids of the other side's.
type End struct {
	Docs *core.Docs
	Path string
	Max  int // how many a list holds at most; 0 means no bound
}

func (e End) String() string { return e.Docs.Name() + "." + e.Path }

// side is the side whose documents have this end, and the others the other one.
func (e End) side(back End) Side {
	return Side{
		Ref:  idref.Ref{From: e.Docs.Name(), Path: e.Path, To: back.Docs.Name()},
		IDs:  idref.NewHeld(e.Docs, e.Path, back.Docs),
		Back: idref.NewHeld(back.Docs, back.Path, e.Docs), BackID: back.Path,
	}
}

// listing makes the reference that of a list.
func (s Side) listing() Side {
	s.Ref.List = s.IDs.Path
	return s
}
