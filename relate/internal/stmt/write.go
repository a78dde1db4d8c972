package stmt

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// AnyMatch is the write that may match nothing: somebody else may have done it.
func AnyMatch(w model.Write) model.Write {
	w.Expect = model.Any
	return w
}

// GuardedEdit is an update of one document, with the conditions beside its _id: that it is to be done, and that it was.
type GuardedEdit struct {
	Update    bson.D
	When, Was bson.D
	Once      bool
}

// Of is the edit of the document with an id of the caller's.
func (e GuardedEdit) Of(docs *core.Docs, id any, err error) model.Write {
	key, idErr := docs.EncodeID("_id", id)
	if err = cmp.Or(err, idErr); err != nil {
		return model.Refused(docs.Name(), err)
	}
	this := Is("_id", key)
	w := commands.UpdateOne(docs.Name(), model.And(this, e.When), e.Update)
	if e.When != nil {
		w.Done, w.Once = model.And(this, e.Was), e.Once
	}
	return w
}

// Listing is the why of an index by which the documents that list a document are found.
func Listing(holders, docs string) string {
	return "the documents of " + holders + " that list a document of " + docs
}
