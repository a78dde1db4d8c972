package compose

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/verify"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A way is how a program uses the library.
type way struct {
	name           string
	tx, underScope bool
}

var ways = []way{
	{name: "plain"}, {name: "transactions", tx: true}, {"scope", false, true}, {"scope and transactions", true, true},
}

// scope is a tenant's, which marks what it deletes.
var scope = model.Scope{
	Tenant: bson.D{{Key: "tenant", Value: "ours"}},
	Set:    bson.D{{Key: "changedAt", Value: int64(7)}},
	Delete: bson.D{{Key: "deletedAt", Value: int64(7)}},
}

// of is the case of two techniques in the way.
func (w way) of(a, b *fixture, m *model.Model) verify.Case {
	c := verify.Case{Name: a.name + " and " + b.name + ", " + w.name, Model: m, Tx: w.tx, Ignore: map[string]string{}}
	for _, path := range slices.Concat(a.volatile, b.volatile) {
		c.Ignore[path] = "it depends on the order of operations"
	}
	if w.underScope {
		c.Scope = &scope
	}
	c.Seed = func(ctx context.Context, db *mongo.Database) error {
		for name, list := range seeded() {
			for i := range list {
				if w.underScope {
					list[i] = owned(list[i])
				}
			}
			if _, err := db.Collection(name).InsertMany(ctx, list); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}
