package idref

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// FindIDs returns the query of the documents with the ids. Without ids it matches
// nothing. Find copies a typed slice of ObjectIDs or strings whole, without boxing each
// id.
func FindIDs[D, K any](c *model.Collection[D, K], h Held, ids []K) *model.Find[D] {
	in := any(ids)
	var err error
	if !plainIDs(in) {
		in, err = h.EncodeList(core.Anys(ids))
	}
	f := c.Find(commands.MatchIDs(in))
	commands.ServeFind(f, model.IDIndex, err)
	return f
}

// plainIDs reports whether ids need neither a check nor an encoding.
func plainIDs(ids any) bool {
	switch ids := ids.(type) {
	case []bson.ObjectID:
		return len(ids) > 0 && !slices.Contains(ids, bson.NilObjectID)
	case []string:
		return len(ids) > 0 && !slices.Contains(ids, "")
	}
	return false
}
