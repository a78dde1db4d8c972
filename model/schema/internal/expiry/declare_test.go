package expiry_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
)

func TestExpiryDeclarations(t *testing.T) {
	t.Parallel()
	bad := func(path string, spec schema.ExpirySpec) func() {
		return func() { schema.NewExpiry(expOrders, path, spec) }
	}
	type taken struct {
		ID       string    `bson:"_id"`
		At       time.Time `bson:"at"`
		Archived string    `bson:"archivedEarlier"`
	}
	type cart struct {
		ID      string    `bson:"_id"`
		Until   time.Time `bson:"until"`
		Changed time.Time `bson:"changed,omitempty"`
	}
	carts := model.NewCollection[cart, string]("carts")
	schema.NewExpiry(carts, "changed", schema.ExpirySpec{})
	schema.NewExpiry(carts, "until", schema.ExpirySpec{After: time.Hour})
	for reason, f := range map[string]func(){
		"a path that is not there":  bad("place", schema.ExpirySpec{}),
		"a number":                  bad("n", schema.ExpirySpec{}),
		"an array":                  bad("tags", schema.ExpirySpec{}),
		"below 0":                   bad("placed", schema.ExpirySpec{After: -time.Second}),
		"half a second":             bad("placed", schema.ExpirySpec{After: time.Second / 2}),
		"a hundred years":           bad("placed", schema.ExpirySpec{After: 100 * 365 * expDay}),
		"a margin alone":            bad("placed", schema.ExpirySpec{Margin: expDay}),
		"a version alone":           bad("placed", schema.ExpirySpec{Version: "v"}),
		"a version that is text":    bad("placed", schema.ExpirySpec{Archive: "cold", Version: "tags"}),
		"the same collection":       bad("placed", schema.ExpirySpec{Archive: "orders"}),
		"a collection without name": bad("placed", schema.ExpirySpec{Archive: "$"}),
		"archived for less than hot": bad("placed", schema.ExpirySpec{
			After: 30 * expDay, Archive: "cold", ArchiveFor: 30 * expDay,
		}),
		"or with the margin": bad("placed", schema.ExpirySpec{
			After: 30 * expDay, Margin: expDay, Archive: "cold", ArchiveFor: 31 * expDay,
		}),
		"no time is stored as one": func() { schema.NewExpiry(carts, "until", schema.ExpirySpec{}) },
		"a field of its own": func() {
			schema.NewExpiry(model.NewCollection[taken, string]("taken"), "at", schema.ExpirySpec{Archive: "cold"})
		},
	} {
		func() {
			defer func() {
				if bad, ok := recover().(*model.DeclarationError); !ok || bad.Remedy == "" {
					t.Errorf("%s: panics with %v", reason, bad)
				}
			}()
			f()
			t.Errorf("%s: doesn't panic", reason)
		}()
	}
}
