package migrate

import (
	"strings"

	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Check finds the documents in which the forms disagree.
func (m Migration) Check() model.Check {
	return model.Check{
		Name: "verify " + m.name, Collection: m.docs, Rule: "the old form and the new form agree", Pipeline: m.verify(), Tell: found.Tells(mismatch.tell),
	}
}

// The kinds of mismatches, as a check tells them.
const (
	mismatchMissing   = "missing"
	mismatchExtra     = "extra"
	mismatchDiffering = "differing"
	mismatchOrder     = "order"
	mismatchDangling  = "dangling"
	mismatchDuplicate = "duplicate"
	mismatchShared    = "shared"
	mismatchOccupied  = "occupied"
	mismatchTooLarge  = "too large"
	mismatchRefused   = "refused"
)

// A mismatch is a document in which two forms disagree, as Verify's pipeline finds it.
type mismatch struct {
	Kind       string          `bson:"kind"`
	Collection string          `bson:"collection"` // of the document
	ID         bson.RawValue   `bson:"_id"`        // of the document
	IDs        []bson.RawValue `bson:"ids"`        // what is concerned; positions, where elements have no ids
	Reason     string          `bson:"reason,omitempty"`
}

// tell says it in words: "missing: [3]".
func (m mismatch) tell(f *model.Finding) {
	f.Collection, f.ID, f.Problem = m.Collection, m.ID, m.Kind+": "+idref.Clipped(idref.AsArray(m.IDs))
	if m.Reason != "" {
		f.Problem += ": " + strings.TrimPrefix(m.Reason, "docmodel: ")
	}
}

// finding is a mismatch that a job leaves.
func (m mismatch) finding() (f model.Finding, err error) {
	m.tell(&f)
	f.Detail, err = bson.Marshal(m)
	return f, err
}
