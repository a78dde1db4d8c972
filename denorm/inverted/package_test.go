// The documents, declarations and helpers that the tests of this package share.

package inverted_test

import (
	"context"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	memberChange = model.ChangeOf[model.Stored[member]]
)

var (
	mustChange = testkit.MustChange
)

// stored is the store of members with their inverted indexes.
var stored = model.NewStore(model.New("members", membersBy), members)

// run runs a change as a request with a token.
func run(ctx context.Context, db model.DB, op bson.ObjectID, c memberChange) error {
	_, _, err := c.Run(model.WithToken(ctx, op), db)
	return err
}
