// Inside package twosided: relations that both sides store, as _ids. The public types make
// queries of a Side, and pass the List methods to model.Parts. Stores call makeReactions,
// audits call listChecks.
//
// # Stored form
//
// A TwoWay is a list in the owners (the left side, a) and a reference in the items (the
// right side, b). A ManyToMany is two lists:
//
//	owners {_id: 7, items: [1, 2]}          authors {_id: 7, books: [1, 2]}
//	items  {_id: 1, owner: 7}               books   {_id: 1, authors: [7, 8]}
//	items  {_id: 2, owner: 7}               books   {_id: 2, authors: [7]}
//
// A half-link is a link that only one side stores. TrustLists or TrustRight says which
// side a repair believes.
//
// # Protocol of a store's write of one side
//
//  1. compareIDs compares the ids before and after the write.
//  2. fetchOthers reads the other documents. Each added one must exist, else the write is a
//     model.ReferenceError. A removed one may be gone.
//  3. The store writes the document and each other document (react.go). Their reactions find
//     nothing left to do. If an item moves, its old owner is one of the others.
//
// # Protocol of a check and its repair
//
//  1. keepHalfLinks reads the documents of one side, and the other side's documents.
//  2. lookupAgain and lookupListing read again what decides, after the document that the repair
//     would write: the link, or the owner that lists the item.
//  3. matchSettled drops links of documents that an unfinished action of a store has written.
//  4. The repair writes one document, if its store field is as it was read.
//
// # What a crash leaves
//
// In a transaction, nothing. Outside, a crash leaves a half-link, and the unfinished
// action in the document that was written first. A retry, or the next client that needs
// the document, finishes it. Writes that bypass the store leave half-links that the
// checks find.

package twosided

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedSide is one side of a relation: documents, and where they store the ids of the
// others.
type untypedSide struct {
	Ref    idref.Ref   // from the documents to the others
	IDs    idref.Held  // of the others, in the documents
	Back   idref.Held  // of the documents, in the others
	BackID string      // the path of those ids
	Index  model.Index // on BackID
	Sort   bson.D      // the order that the index gives, if it is promised
}

// An endOfRelation is a place where the documents of one side store ids of the other side's.
type endOfRelation struct {
	Docs *core.Docs
	Path string
	// the maximum length of a list; 0 means no bound
	Max int
}

// String returns the place in the words of an error.
func (e endOfRelation) String() string { return e.Docs.Name() + "." + e.Path }

// makeSide returns the side whose documents have this end.
func (e endOfRelation) makeSide(back endOfRelation) untypedSide {
	return untypedSide{
		Ref:  idref.Ref{From: e.Docs.Name(), Path: e.Path, To: back.Docs.Name()},
		IDs:  idref.NewHeld(e.Docs, e.Path, back.Docs),
		Back: idref.NewHeld(back.Docs, back.Path, e.Docs), BackID: back.Path,
	}
}

// asList returns the side with a reference that is a list.
func (s untypedSide) asList() untypedSide {
	s.Ref.List = s.IDs.Path
	return s
}
