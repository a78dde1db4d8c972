package schema

import (
	"maps"

	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Schema describes the fields, types and bounds of a collection's documents. The server
// and Go code can validate documents by a Schema.
//
// Source: https://www.mongodb.com/docs/manual/core/schema-validation/;
// https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/.
//
// # Checks
//
// Checks returns one check, which finds documents that don't conform. Run the check
// before the server enforces [Schema.Validation]. The check reads the collection, and has
// no repair.
type Schema[D, K any] struct {
	model.Parts
	c  *model.Collection[D, K]
	in described
}

// described is the non-generic core of a Schema.
type described struct {
	collection string
	root       *node
	opaque     map[string]string
}

// Of describes documents by the rules of spec, and by the BSON types that the driver
// writes for Go types:
//
//	bool, string, time.Time      bool, string, date
//	int                          int or long, as the value needs
//	int8, int16, int32           int; the smaller types with bounds
//	int64                        long; int or long if minsize or IntMinSize is set
//	uint8, uint16                int, with bounds
//	uint, uint32, uint64         as int64, not below 0
//	float32, float64             double
//	[]byte, [n]byte              binData
//	other slices                 array; Go arrays have a fixed length
//	structs                      object with their fields, also inlined
//	maps                         object: any names, values of the map's value type
//	bson.ObjectID, Decimal128, … their own BSON type
//	bson.D, bson.M, bson.Raw     object of anything
//	any, custom marshalers       anything: see [Schema.Opaque]
//
// Fields that omitempty can omit, and fields of inlined pointers, are optional. A
// pointer, slice or map can be null if the driver stores nil as null.
//
// Of panics with a [*model.DeclarationError] if spec doesn't fit D, or D can't be stored.
func Of[D, K any](c *model.Collection[D, K], spec Spec) *Schema[D, K] {
	docs := c.Docs()
	b := &builder{docs: docs, field: func(path string) { docs.MustField(path) }, opaque: map[string]string{}}
	in := b.describe(docs.Shape(), spec)
	return &Schema[D, K]{model.NewParts(nil, nil, in.checks, in.footprints).WithDocs(docs).
		WithReactions(func() []model.Reaction { return nil }), c, in}
}

// JSONSchema returns the schema for $jsonSchema. Equal declarations give equal bytes.
func (s *Schema[D, K]) JSONSchema() bson.D { return s.in.root.document() }

// Validation returns the validation that makes the server refuse documents that don't
// conform to the schema.
func (s *Schema[D, K]) Validation() model.Validation {
	return model.Validation{Collection: s.in.collection, Validator: s.in.validator()}
}

// Validate checks a document in Go, as the server would. It returns nil, [Violations], or
// the errors of [model.Collection.Insert].
func (s *Schema[D, K]) Validate(doc D) error {
	w := s.c.Insert(doc)
	if w.Err != nil {
		return w.Err
	}
	return s.in.validateInsert(w)
}

func (d described) validateInsert(w model.Write) error {
	m, _ := w.Model.(*mongo.InsertOneModel)
	raw, err := rawdoc.EncodeDocument(m.Document)
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

// Opaque returns the paths that the schema describes only as an object or array, or not
// at all. The map's values are the reasons. To describe a path, add a [Field] with Types.
func (s *Schema[D, K]) Opaque() map[string]string { return maps.Clone(s.in.opaque) }
