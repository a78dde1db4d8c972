// Package normalized stores documents as rows of several collections: see [Normalized].
package normalized

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Part is a field that a [Normalized] writes as rows (documents) of another collection.
type Part struct {
	Path string // a top-level field: an embedded document if Key is set, else an array
	Into string // the collection of the rows

	// Key is the field that identifies the embedded document, such as a customer's id.
	// Each id gives one row. If several documents of one [Normalized.Plan] contain the
	// same id, the document with the greatest _id gives the row.
	Key string
}

// Normalized copies each document into rows (documents) of several collections, such as
// orders, customers and items. A [Part] is an array, or an embedded document with a key.
//
//	main row    the document; an array part becomes its length, a keyed part its key
//	array part  {_id: {of: document's _id, n: position}, the element's fields or value}
//	keyed part  {_id: the key, the other fields}
//
// The writes of a [model.Store] don't change the rows: run Plan.
//
// A missing part, a null part, or a part without its key gives no row.
//
// Source: normalizing for the analytical store of Azure Cosmos DB;
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/merge/.
//
// # Indexes and checks
//
// Indexes returns one index for each array [Part].
//
// Checks returns checks for
//   - missing or wrong rows. The repair writes the rows.
//   - rows without a document. The repair deletes the rows.
//   - embedded documents that share a key but differ. There is no repair.
//
// Cost: the checks find rows by _id. If a [Part] has a Key, index the Key's path in the
// documents, such as customer.id. Otherwise, each key costs a collection scan.
type Normalized[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	main *model.Collection[D, K] // named as the main rows' collection
	n    *untypedNormalized
}

// New declares how documents are divided into rows. The collection target
// stores the main rows. The collection [Part].Into stores the rows of a Part.
// New panics with a [*model.DeclarationError] if two collections have one name,
// or if a Part doesn't fit the documents.
func New[D, K any](docs *model.Collection[D, K], target string, parts ...Part) *Normalized[D, K] {
	n := declareNormalized(docs.Docs(), target, slices.Clone(parts))
	return &Normalized[D, K]{model.NewParts(n.listIndexes, n.listRelations, n.listChecks, n.listFootprints).
		WithDocs(docs.Docs()).WithKeys(n.describeKeys()...).WithoutReactions("Normalized.Plan"),
		docs, docs.Named(target), n}
}

// Plan returns the plan that writes the rows of documents that match filter. Nil means
// all. The plan deletes no rows: see [Normalized].Checks. Run the plan again after a
// crash, or if documents changed meanwhile.
//
// Cost: one command per collection of rows. Each reads the documents.
func (x *Normalized[D, K]) Plan(filter bson.D) model.Plan {
	f := x.docs.Find(filter)
	if f.Err != nil {
		return model.NewPlan(model.Refused(x.docs.Name(), f.Err))
	}
	return x.n.planRows(f.Filter)
}

// Documents returns the query that builds whole documents from their rows. filter selects
// main rows. A nil filter selects all. If a [Part] has a Key, the Key's field comes first
// in the embedded document.
//
// Cost: one command. For each main row, the server finds the rows of each part by index.
func (x *Normalized[D, K]) Documents(filter bson.D) *model.Aggregate[D] {
	f := x.main.Find(filter)
	return commands.ServeAggregate(x.main.Aggregate(x.n.joinDocuments(f.Filter)), "", f.Err)
}
