package store

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/engine/mongoerr"
	"github.com/docmodel/docmodel/internal/engine/value"
)

// MaxDocument is the largest document that is stored, in encoded bytes.
const MaxDocument = 16 << 20

// Record is one version of a stored document. It never changes: an update
// makes a new record of the same ID.
type Record struct {
	ID  int64 // place in the order of insertion, across all collections
	Doc bson.D
}

func compareRecords(a, b *Record) int { return cmp.Compare(a.ID, b.ID) }

// checkSize refuses documents beyond MaxDocument, and returns the size.
func checkSize(doc bson.D) (int, error) {
	n := value.SizeOf(doc, 4*MaxDocument) // a larger one may be too large to measure
	if n > MaxDocument {
		return 0, mongoerr.New(mongoerr.BSONObjectTooLarge,
			"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB) First element: %s",
			n, n, MaxDocument, firstElement(doc))
	}
	return n, nil
}

func firstElement(doc bson.D) string {
	if len(doc) == 0 {
		return "EOO"
	}
	return doc[0].Key + ": " + shorten(Show(doc[0].Value), 100)
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
