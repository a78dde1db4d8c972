package keys

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// inKeyOrder is a query in the order of _id, by 1 or -1.
func inKeyOrder[D any](f *model.Find[D], direction int, err error) *model.Find[D] {
	f.Sort = bson.D{{Key: "_id", Value: direction}}
	return commands.Served(f, model.IDIndex, err)
}
