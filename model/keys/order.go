package keys

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// inKeyOrder sorts a query by _id, in direction 1 or -1.
func inKeyOrder[D any](f *model.Find[D], direction int, err error) *model.Find[D] {
	f.Sort = bson.D{{Key: "_id", Value: direction}}
	return commands.ServeFind(f, model.IDIndex, err)
}
