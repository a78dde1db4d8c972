package schema

import (
	"maps"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/rawdoc"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Schema says what the documents of a collection look like: which fields they have, of which types, within which bounds. It
// is made by [Of] from their Go type. From it come the $jsonSchema that a server enforces, the check that finds documents that
// don't conform, and the same check in Go, without a server. It is immutable and safe to share.
//
// Checks returns one check, of the documents that don't conform. It reads the whole collection, in one command and one more for each
// further batch. A finding's Detail is the document as it is stored, since it may not be readable as a D, and its Problem says what is
// wrong. It has no Mend: a person decides. Run it before a validation is enforced, which says nothing about documents that are there.
//
// Source: MongoDB's manual on schema validation (https://www.mongodb.com/docs/manual/core/schema-validation/) and on
// $jsonSchema (https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/).
type Schema[D, K any] struct {
	model.Parts
	c  *model.Collection[D, K]
	in described
}

// described is what a Schema holds, whatever its documents' type.
type described struct {
	collection string
	root       *node
	opaque     map[string]string
}

// Of describes the documents of a collection. The types are those that the driver writes for the Go type under the
// collection's options:
//
//	bool, string, time.Time      bool, string, date
//	int                          int or long, as the value needs
//	int8, int16, int32           int; those of less than 32 bits with their bounds
//	int64                        long; with minsize or IntMinSize int or long
//	uint8, uint16                int, with bounds
//	uint, uint32, uint64         long, not below 0; with minsize or IntMinSize int or long
//	float32, float64             double
//	[]byte, [n]byte              binData
//	other slices                 array; arrays of Go with exactly their elements
//	structs                      object with their fields, inlined ones too
//	maps                         object of any names, each with a value of the type
//	bson.ObjectID, Decimal128, … their own
//	bson.D, bson.M, bson.Raw     object of anything
//	any, custom marshalers       anything: nothing is said about them, see [Schema.Opaque]
//
// A field is required unless an empty value isn't stored (omitempty), or it is inlined through a pointer. It may be null when
// a nil value is stored so: a pointer, a slice or a map without omitempty and without the option that stores it empty. The _id
// is always required. A type that holds itself is described once; below that it is an object of anything, for $jsonSchema
// can't refer to itself.
//
// The spec says more about some fields. Of panics with a [*model.DeclarationError] for a path that the documents don't have, a
// rule that doesn't fit its type, and a type that can't be stored.
func Of[D, K any](c *model.Collection[D, K], spec Spec) *Schema[D, K] {
	docs := c.Docs()
	b := &builder{docs: docs, field: func(path string) { docs.MustField(path) }, opaque: map[string]string{}}
	in := b.describe(docs.Shape(), spec)
	return &Schema[D, K]{model.NewParts(nil, nil, in.checks, in.footprints), c, in}
}

// JSONSchema returns the schema, as $jsonSchema takes it. The same declaration gives the same bytes.
func (s *Schema[D, K]) JSONSchema() bson.D { return s.in.root.document() }

// Validation returns the validation by which the server refuses what doesn't conform, ready to be compared with what a database
// has and put there. Its Validator is the filter that conforming documents match. [model.Model.Validations] returns those of a model.
func (s *Schema[D, K]) Validation() model.Validation {
	return model.Validation{Collection: s.in.collection, Validator: s.in.validator()}
}

// Validate says in what a document doesn't conform, before it is sent: nil, or [Violations]. The document is encoded as
// [model.Collection.Insert] does, whose errors are returned too. No server is asked; the answer is the server's.
func (s *Schema[D, K]) Validate(doc D) error {
	w := s.c.Insert(doc)
	if w.Err != nil {
		return w.Err
	}
	return s.in.validateInsert(w)
}

func (d described) validateInsert(w model.Write) error {
	m, _ := w.Model.(*mongo.InsertOneModel)
	raw, err := rawdoc.Of(m.Document)
	if err != nil {
		return err
	}
	return d.validate(raw)
}

// ValidateRaw is [Schema.Validate] for a document as it is stored.
func (s *Schema[D, K]) ValidateRaw(doc bson.Raw) error { return s.in.validate(doc) }

func (d described) validate(doc bson.Raw) error {
	if err := doc.Validate(); err != nil {
		return &model.ValueError{Collection: d.collection, Field: "document", Reason: err.Error()}
	}
	v := validator{collection: d.collection}
	v.check(d.root, "", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc})
	if len(v.found) == 0 {
		return nil
	}
	return v.found
}

// Opaque returns the paths about which the schema says nothing, or nothing beyond a document's being there, each with the reason.
// The Types of a [Field] say more.
func (s *Schema[D, K]) Opaque() map[string]string { return maps.Clone(s.in.opaque) }
