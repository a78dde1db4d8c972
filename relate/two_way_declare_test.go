package relate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Thirty-two that assign one item at once: each succeeds once it has read what the others wrote, and no half-link is left.
func TestTwoWayConcurrent(t *testing.T) {
	parallel(t)
	const writers = 32
	unbounded := relate.NewTwoWay(linkOwners, "items", linkItems, "owner")
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		owners := make([]any, 4)
		for i := range owners {
			owners[i] = linkOwner{ID: fmt.Sprint(i)}
		}
		seed(t, db, relation(linkItem{ID: "x"}, owners...))
		errs := make([]error, writers)
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				_, _, errs[n] = model.Change[linkItem]{
					Read: func(ctx context.Context, db *mongo.Database) (linkItem, error) {
						return linkItems.ByID("x").One(ctx, db)
					},
					Decide: func(item linkItem) (model.Plan, error) {
						return unbounded.Assign(&item, fmt.Sprint(n%len(owners)), bson.NewObjectID()), nil
					},
					Attempts: 1000,
				}.Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantNoHalfLinks(t, db, unbounded)
	})
}

func TestTwoWayDeclarations(t *testing.T) {
	parallel(t)
	declare := func(list, ref string, spec ...relate.TwoWaySpec) func() {
		return func() { relate.NewTwoWay(odds, list, odds, ref, spec...) }
	}
	for reason, declare := range map[string]func(){
		"no such list":                declare("stmps", "stamp"),
		"no such reference":           declare("stamps", "stmp"),
		"no list":                     declare("_id", "stamp"),
		"a list as reference":         declare("stamps", "stamps"),
		"a list of another type":      declare("servers", "stamp"),
		"a reference of another type": declare("stamps", "server"),
		"one side versioned":          declare("links", "stamp"),
		"a negative bound":            declare("stamps", "stamp", relate.TwoWaySpec{Max: -1}),
		"no such side":                declare("stamps", "stamp", relate.TwoWaySpec{Trust: 2}),
		"links decide by the item": func() {
			relate.NewTwoWay(linkOwners, "items", linkItems, "owner", relate.TwoWaySpec{Trust: relate.TrustLists})
		},
		"two specs": declare("stamps", "stamp", relate.TwoWaySpec{}, relate.TwoWaySpec{}),
		"no owners": func() { relate.NewTwoWay(&model.Collection[odd, int]{}, "stamps", odds, "stamp") },
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := panicOf(declare); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}
