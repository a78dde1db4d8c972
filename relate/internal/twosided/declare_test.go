package twosided_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// odd holds what only declarations are tried with.
type odd struct {
	ID     int                `bson:"_id"`
	Names  []string           `bson:"names,omitempty"`
	Stamps []int              `bson:"stamps,omitempty"`
	Links  []relate.Link[int] `bson:"links,omitempty"`
	Name   string             `bson:"name"`
	Stamp  int                `bson:"stamp"`
}

var odds = model.NewCollection[odd, int]("odds")

func TestTwoWayDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(list, ref string) func() {
		return func() { relate.NewTwoWay(odds, list, odds, ref, relate.TwoWaySpec{}) }
	}
	for reason, declare := range map[string]func(){
		"no such list":                declare("stmps", "stamp"),
		"no such reference":           declare("stamps", "stmp"),
		"no list":                     declare("_id", "stamp"),
		"a list as reference":         declare("stamps", "stamps"),
		"a list of another type":      declare("names", "stamp"),
		"a reference of another type": declare("stamps", "name"),
		"one side versioned":          declare("links", "stamp"),
		"a negative bound":            func() { relate.NewTwoWay(odds, "stamps", odds, "stamp", relate.TwoWaySpec{Max: -1}) },
		"links decide by the item":    func() { relate.NewTwoWay(linkOwners, "items", linkItems, "owner", relate.TwoWaySpec{TrustLists: true}) },
		"no owners":                   func() { relate.NewTwoWay(&model.Collection[odd, int]{}, "stamps", odds, "stamp", relate.TwoWaySpec{}) },
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(declare); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}

// A numberedDoc has an id of any type, and links to others.
type numberedDoc struct {
	ID    any                `bson:"_id"`
	Count int64              `bson:"count"`
	Links []relate.Link[any] `bson:"links,omitempty"`
	Bare  []any              `bson:"bare,omitempty"`
	Owner any                `bson:"owner,omitempty"`
}

var (
	numberedLefts  = model.NewCollection[numberedDoc, any]("lefts")
	numberedRights = model.NewCollection[numberedDoc, any]("rights")
)

// TestTwoSidedSameID: int32 1 and int64 1 are one id, as they are to the server.
func TestTwoSidedSameID(t *testing.T) {
	op := testkit.Token(1)
	linked := &numberedDoc{ID: "a", Count: 1, Links: []relate.Link[any]{{ID: int32(1), V: 1, Op: op}}, Bare: []any{int32(1)}}
	t.Run("a versioned link that is there", func(t *testing.T) {
		way := relate.NewManyToMany(numberedLefts, "links", numberedRights, "links", relate.ManyToManySpec{Version: "count"})
		if p := way.Link(linked, int64(1), testkit.Token(2)); p.Err() != nil || len(p.Steps) > 0 {
			t.Errorf("linked again: %v\n%s", p.Err(), p)
		}
		if p := way.Unlink(linked, int64(1), testkit.Token(2)); p.Err() != nil || len(p.Steps) != 2 {
			t.Errorf("unlinked on one side: %v\n%s", p.Err(), p)
		}
	})
	t.Run("a bare id that is listed", func(t *testing.T) {
		way := relate.NewManyToMany(numberedLefts, "bare", numberedRights, "bare", relate.ManyToManySpec{MaxRight: 1})
		if p := way.Link(linked, int64(1), bson.NilObjectID); p.Err() != nil || len(p.IfStale) > 0 {
			t.Errorf("taken back where the right list is full: %v\n%s", p.Err(), p)
		}
	})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		item := numberedDoc{ID: "i", Owner: int32(1)}
		testkit.SeedAlone(t, db, testkit.Docs{"lefts": {numberedDoc{ID: int64(1), Bare: []any{"i"}}}, "rights": {item}})
		way := relate.NewTwoWay(numberedLefts, "bare", numberedRights, "owner", relate.TwoWaySpec{})
		if _, err := way.Assign(&item, int64(1), bson.NilObjectID).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocsInAnyOrder(t, db, testkit.Docs{"lefts": {numberedDoc{ID: int64(1), Bare: []any{"i"}}}})
	})
}
