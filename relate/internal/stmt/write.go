package stmt

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// AllowNoMatch is a write that may match nothing: another client may have done it.
func AllowNoMatch(w model.Write) model.Write {
	w.Expect = model.Any
	return w
}

// A GuardedEdit is an update of one document with two conditions beside the _id: When
// must hold before it, Was holds after it.
type GuardedEdit struct {
	Update    bson.D
	When, Was bson.D
	Once      bool
}

// MakeWrite is the edit of the document with an id of the caller's.
func (e GuardedEdit) MakeWrite(docs *core.Docs, id any, err error) model.Write {
	key, idErr := docs.EncodeID("_id", id)
	if err = cmp.Or(err, idErr); err != nil {
		return model.Refused(docs.Name(), err)
	}
	this := MatchValue("_id", key)
	w := commands.UpdateOne(docs.Name(), bsondoc.JoinFilters(this, e.When), e.Update)
	if e.When != nil {
		w.Done, w.Idempotent = bsondoc.JoinFilters(this, e.Was), e.Once
	}
	return w
}

// DescribeListIndex is the reason for an index that finds the documents that list a
// document.
func DescribeListIndex(holders, docs string) string {
	return "the documents of " + holders + " that list a document of " + docs
}
