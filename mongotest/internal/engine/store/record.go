package store

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// MaxDocument is the largest document that is stored, in encoded bytes.
const MaxDocument = 16 << 20

// Record is one version of a stored document. It never changes: an update
// makes a new record of the same ID.
type Record struct {
	ID  int64 // place in the order of insertion, across all collections
	Doc bson.D
}

// compareRecords orders records by their numbers, which is the order of insertion.
func compareRecords(a, b *Record) int { return cmp.Compare(a.ID, b.ID) }

// MaxDepth is how deeply the documents and arrays of a stored document may nest, the document itself included.
const MaxDepth = 180

// leastLevel is the least number of bytes that a level of nesting takes: a type, an empty name with its end, a length
// and an end. So a small document needn't be measured for its depth.
const leastLevel = 7

// measure returns the size of a document, and refuses one that nests beyond MaxDepth.
func measure(doc bson.D) (int, error) {
	n := bsonval.SizeOf(doc, 4*MaxDocument) // a larger one may be too large to measure
	if n > MaxDepth*leastLevel && n <= MaxDocument && bsonval.Depth(doc) > MaxDepth {
		return 0, mongoerr.New(mongoerr.Overflow, "Document exceeds maximum nesting depth of %d", MaxDepth)
	}
	return n, nil
}

// showFirstElement writes the first field of a document for the error of one that is too large. MongoDB's word for an
// empty document is EOO, end of object.
func showFirstElement(doc bson.D) string {
	if len(doc) == 0 {
		return "EOO"
	}
	return doc[0].Key + ": " + shorten(Show(doc[0].Value), 100)
}

// shorten cuts a text off after n bytes.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
