package compose

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The machines of random models. Each number of models is divided among them.
var machines = []interface {
	runModels(t *testing.T, models int)
	meetModels(t *testing.T, models int)
	cutModels(t *testing.T, models int)
}{countedModels, arrayModels, linkedModels, derivedModels, noteModels}

// share returns the number of models of each machine, in an ordinary run or with DOCMODEL_FULL.
func share(ordinary, all int) int {
	if full {
		ordinary = all
	}
	return (ordinary + len(machines) - 1) / len(machines)
}

// Random models write through stores. The audit then finds nothing, and the documents are as the memory has them.
func TestStoreModels(t *testing.T) {
	t.Parallel()
	for _, k := range machines {
		k.runModels(t, share(500, 10_000))
	}
}

// Two random actions meet in every order in which one isn't interrupted. What is stored is as after one and then the
// other, or as after the one that returned no error.
func TestStoreModelsMeet(t *testing.T) {
	t.Parallel()
	for _, k := range machines {
		k.meetModels(t, share(30, 150))
	}
}

// A random action through a store is cut at each of its writes, in each way, and run again with its token. What is
// stored is as the memory has it after one run.
func TestStoreModelsCut(t *testing.T) {
	t.Parallel()
	for _, k := range machines {
		k.cutModels(t, share(15, 90))
	}
}

// A failure is shown by the smallest model and the fewest actions that have it.
func TestStoreModelsShrink(t *testing.T) {
	t.Parallel()
	wrong := model.NewParts(nil, nil, nil, nil).WithDocs(storeItems.Docs()).WithReactions(func() []model.Reaction {
		amend := func(model.StoreWrite) (bson.D, error) { return bson.D{{Key: "label", Value: "wrong"}}, nil }
		return []model.Reaction{{Collection: "items", Paths: []string{"price"}, Amend: amend}}
	})
	broken := countedModels
	broken.name, broken.picks = "broken", append(slices.Clip(broken.picks), pick{"wrong", wrong})
	failure := broken.findFailure(t.Context(), mongotest.NewClient(t), 100)
	if !strings.Contains(failure, "scope false,\n\twrong\n\titems.") || strings.Count(failure, "\n\t") != 2 {
		t.Errorf("want a failure of one technique and one action, got\n%s", failure)
	}
}

// What a store's write of one document sends, in a transaction: a reference, a counter and two copies.
func TestStoreCost(t *testing.T) {
	d := countedModels.declare(true, false, pickName, pickTitle, pickCount, pickParent)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		on, err := d.handle(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		one := int64(1)
		if _, _, err := d.ownerStore.Insert(storeOwner{ID: 1, Name: "a", Title: "t"}).Run(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		modeltest.WantCost(t, monitor, model.Cost{Commands: 3, Written: 2, Returned: 1}, func() error {
			_, _, err := d.itemStore.Insert(storeItem{ID: 1, Owner: &one, Price: 3}).Run(t.Context(), on)
			return err
		})
		s, _, err := d.itemStore.Edit(1, func(i *storeItem) error { i.Price++; return nil }).Run(t.Context(), on)
		if err != nil || s.Doc.Price != 4 || s.Doc.OwnerName != "a" || s.Doc.OwnerTitle != "t" {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		_, _, err = d.itemStore.Set(1, bson.D{{Key: "ownerName", Value: "x"}}).Run(t.Context(), on)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "ownerName" {
			t.Errorf("a path that a technique owns: %v", err)
		}
	}, monitor)
}
