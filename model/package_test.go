// These documents and functions are shared by the tests of package model.

package model_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// golden compares a text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// The documents of these tests: products of parts.
type (
	part struct {
		ID   int32  `bson:"_id"`
		Name string `bson:"name"`
		Qty  int32  `bson:"qty"`
	}
	product struct {
		ID     bson.ObjectID   `bson:"_id"`
		Name   string          `bson:"name"`
		Parts  []bson.ObjectID `bson:"parts,omitempty"`
		Items  []item          `bson:"items,omitempty"`
		Nils   []string        `bson:"nils"`
		Extra  map[string]any  `bson:"extra,omitempty"`
		Origin *origin         `bson:"origin"`
	}
	item struct {
		ID   bson.ObjectID `bson:"id"`
		Tags []string      `bson:"tags,omitempty"`
	}
	origin struct {
		Country string   `bson:"country"`
		Ports   []string `bson:"ports,omitempty"`
	}
)

var (
	parts    = model.NewCollection[part, int32]("parts")
	products = model.NewCollection[product, bson.ObjectID]("products")
	notes    = model.NewCollection[bson.D, any]("notes") // documents of any fields, ids of any type
)

var (
	d, oid, catch           = testkit.D, testkit.OID, testkit.Catch
	mustRun, checkErr       = testkit.MustRun, testkit.CheckErr
	errDuplicate, errServer = testkit.ErrDuplicate, testkit.ErrServer
	rawOf                   = testkit.Raw
)

// refusedParts is a plan that is refused for errBad.
var refusedParts = model.NewPlan(model.Refused("parts", errBad))
