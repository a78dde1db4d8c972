package outlier_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestOutlierDeclarations(t *testing.T) {
	testkit.Parallel(t)
	spec := denorm.OutlierSpec{Max: 2, Flag: "extras"}
	type shelf struct {
		ID    string `bson:"_id"`
		Full  bool   `bson:"full"`
		Books []book `bson:"books"`
	}
	shelves := model.NewCollection[shelf, string]("shelves")
	type noted struct {
		At time.Time `bson:"at"`
	}
	daily := denorm.NewBucket(model.NewCollection[denorm.BucketDoc[string, noted], string]("notes"),
		denorm.BucketSpec{Max: 2, Period: denorm.Daily, At: "at"})
	for reason, declare := range map[string]func(){
		"no bound": func() { denorm.NewOutlier(books, "buyers", buyerPages, denorm.OutlierSpec{Flag: "extras"}) },
		"no flag":  func() { denorm.NewOutlier(books, "buyers", buyerPages, denorm.OutlierSpec{Max: 2}) },
		"too many bytes": func() {
			denorm.NewOutlier(books, "buyers", buyerPages,
				denorm.OutlierSpec{Max: 2, MaxBytes: 16 << 20, Flag: "extras"})
		},
		"flag is text": func() {
			denorm.NewOutlier(books, "buyers", buyerPages, denorm.OutlierSpec{Max: 2, Flag: "title"})
		},
		"flag in the array": func() {
			denorm.NewOutlier(books, "buyers", buyerPages, denorm.OutlierSpec{Max: 2, Flag: "buyers.paid"})
		},
		"unknown flag": func() {
			denorm.NewOutlier(books, "buyers", buyerPages, denorm.OutlierSpec{Max: 2, Flag: "extra"})
		},
		"unknown array": func() { denorm.NewOutlier(books, "buyer", buyerPages, spec) },
		"no array":      func() { denorm.NewOutlier(books, "title", buyerPages, spec) },
		"other elements": func() {
			denorm.NewOutlier(shelves, "books", buyerPages, denorm.OutlierSpec{Max: 2, Flag: "full"})
		},
		"by day": func() { denorm.NewOutlier(shelves, "books", daily, denorm.OutlierSpec{Max: 2, Flag: "full"}) },
		"owners and overflow are in the same collection": func() {
			denorm.NewOutlier(books.Named("buyers"), "buyers", buyerPages, spec)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Problem == "" ||
					d.Place == "" || d.Remedy == "" {
					t.Errorf("panicked with %v, want a *model.DeclarationError", d)
				}
			}()
			declare()
		})
	}
}

func TestOutlierRefusals(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDistinctChecks(t, buyersOf.Checks(), 3)
	testkit.WantRefusedFindings(t, buyersOf.Checks()...)
	if age := buyersOf.Checks()[0].Age; age != time.Minute {
		t.Errorf("what an append or a Split under way looks like is mended after %v", age)
	}
	for reason, err := range map[string]error{
		"append to nobody":      buyersOf.Append("", buyer{ID: "x"}).Err,
		"a key that is null":    buyersOf.Holding("a", nil).Err,
		"remove from nobody":    buyersOf.Remove("", "x").Err,
		"remove nothing":        buyersOf.Remove("a", nil).Err,
		"remove without a Key":  outlierPlain.Remove("a", "x").Err,
		"too large":             outlierBytes.Append("a", buyer{ID: string(make([]byte, 80))}).Err,
		"delete nobody":         buyersOf.Delete("").Err(),
		"nobody's elements":     buyersOf.Elements("").Err,
		"nobody's overflow":     buyerPages.Oldest("").Err,
		"nobody's count":        buyersOf.Count("").Err,
		"a pattern":             buyersOf.Holding("a", bson.Regex{Pattern: "."}).Err,
		"holding without a Key": outlierPlain.Holding("a", "x").Err,
		"none of the faults": buyersOf.Checks()[0].Mend([]model.Finding{{
			Check:  buyersOf.Checks()[0].Name,
			Detail: testkit.Marshal(bson.D{testkit.E("_id", "a"), testkit.E("fault", "x")}),
		}}).Err(),
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Collection == "" || bad.Field == "" || bad.Reason == "" {
			t.Errorf("%s: error %v, want a *model.ValueError with collection, field and reason", reason, err)
		}
	}
}
