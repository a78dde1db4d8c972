package outlier_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestOutlierDeclarations(t *testing.T) {
	testkit.Parallel(t)
	spec := outlier.Spec{Max: 2, Flag: "extras"}
	type shelf struct {
		ID    string   `bson:"_id"`
		Full  bool     `bson:"full"`
		Books []titled `bson:"books"`
	}
	shelves := model.NewCollection[shelf, string]("shelves")
	type noted struct {
		At time.Time `bson:"at"`
	}
	daily := bucket.New(model.NewCollection[bucket.Doc[string, noted], string]("notes"),
		bucket.Spec{Max: 2, Period: denorm.Daily, At: "at"})
	for reason, declare := range map[string]func(){
		"no bound": func() { outlier.New(titles, "buyers", customerPages, outlier.Spec{Flag: "extras"}) },
		"no flag":  func() { outlier.New(titles, "buyers", customerPages, outlier.Spec{Max: 2}) },
		"too many bytes": func() {
			outlier.New(titles, "buyers", customerPages,
				outlier.Spec{Max: 2, MaxBytes: 16 << 20, Flag: "extras"})
		},
		"flag is text": func() {
			outlier.New(titles, "buyers", customerPages, outlier.Spec{Max: 2, Flag: "title"})
		},
		"flag in the array": func() {
			outlier.New(titles, "buyers", customerPages, outlier.Spec{Max: 2, Flag: "buyers.paid"})
		},
		"unknown flag": func() {
			outlier.New(titles, "buyers", customerPages, outlier.Spec{Max: 2, Flag: "extra"})
		},
		"unknown array": func() { outlier.New(titles, "buyer", customerPages, spec) },
		"no array":      func() { outlier.New(titles, "title", customerPages, spec) },
		"other elements": func() {
			outlier.New(shelves, "books", customerPages, outlier.Spec{Max: 2, Flag: "full"})
		},
		"by day": func() { outlier.New(shelves, "books", daily, outlier.Spec{Max: 2, Flag: "full"}) },
		"owners and overflow are in the same collection": func() {
			outlier.New(titles.Named("buyers"), "buyers", customerPages, spec)
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
	testkit.WantDistinctChecks(t, purchases.Checks(), 3)
	testkit.WantRefusedFindings(t, purchases.Checks()...)
	if age := purchases.Checks()[0].Age; age != time.Minute {
		t.Errorf("what an append or a Split under way looks like is mended after %v", age)
	}
	for reason, err := range map[string]error{
		"append to nobody":      purchases.Append("", customer{ID: "x"}).Err,
		"a key that is null":    purchases.Holding("a", nil).Err,
		"remove from nobody":    purchases.Remove("", "x").Err,
		"remove nothing":        purchases.Remove("a", nil).Err,
		"remove without a Key":  outlierPlain.Remove("a", "x").Err,
		"too large":             outlierBytes.Append("a", customer{ID: string(make([]byte, 80))}).Err,
		"delete nobody":         purchases.Delete("").Err(),
		"nobody's elements":     purchases.Elements("").Err,
		"nobody's overflow":     customerPages.Oldest("").Err,
		"nobody's count":        purchases.Count("").Err,
		"a pattern":             purchases.Holding("a", bson.Regex{Pattern: "."}).Err,
		"holding without a Key": outlierPlain.Holding("a", "x").Err,
		"none of the faults": purchases.Checks()[0].Mend([]model.Finding{{
			Check:  purchases.Checks()[0].Name,
			Detail: testkit.Marshal(bson.D{testkit.E("_id", "a"), testkit.E("fault", "x")}),
		}}).Err(),
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Collection == "" || bad.Field == "" || bad.Reason == "" {
			t.Errorf("%s: error %v, want a *model.ValueError with collection, field and reason", reason, err)
		}
	}
}
