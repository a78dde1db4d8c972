package modeltest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Kennels and dogs have fields of many types.
type (
	kennel struct {
		ID     bson.ObjectID     `bson:"_id"`
		Name   string            `bson:"name"`
		Open   bool              `bson:"open"`
		Plan   []byte            `bson:"plan"`
		Prices map[string]int    `bson:"prices"`
		Fee    bson.Decimal128   `bson:"fee"`
		Dogs   int64             `bson:"dogs"` // number of dog documents
		Closed *time.Time        `bson:"closed,omitempty"`
		Extra  map[string]string `bson:"extra,omitempty"`
	}
	dog struct {
		ID     int64     `bson:"_id"`
		Home   home      `bson:"home"`
		Name   *string   `bson:"name"`
		Born   time.Time `bson:"born"`
		Weight float64   `bson:"weight"`
		Teeth  uint8     `bson:"teeth"`
		Tags   []string  `bson:"tags"`
		Mother *int64    `bson:"mother"`
		Any    any       `bson:"any"`
	}
	home struct {
		Kennel bson.ObjectID `bson:"kennel"`
		Name   string        `bson:"name"` // copied
	}
)

var (
	kennels  = model.NewCollection[kennel, bson.ObjectID]("kennels")
	dogs     = model.NewCollection[dog, int64]("dogs")
	ofKennel = parentref.New(dogs, "home.kennel", kennels, parentref.Spec{MustExist: true})
	ofMother = parentref.New(dogs, "mother", dogs, parentref.Spec{MustExist: true})
	kept     = model.New("kennels", ofKennel, ofMother,
		dangling.New(dogs, "home.kennel", kennels, dangling.Spec{Repair: dangling.DeleteReferrers}),
		dangling.New(dogs, "mother", dogs, dangling.Spec{Repair: dangling.DetachIDs}),
		ondelete.New(kennels, ondelete.Spec{Cascade: []relate.Referrer{ofKennel}}),
		ondelete.New(dogs, ondelete.Spec{Nullify: []relate.Referrer{ofMother}}),
		counter.New(dogs, "home.kennel", kennels, counter.Spec{Count: "dogs"}),
		copies.New(kennels, dogs, copies.Spec{
			KeyPath: "home.kennel", Fields: []copies.Field{{From: "name", To: "home.name"}},
		}))
	_ = model.NewStore(kept, kennels)
	_ = model.NewStore(kept, dogs)
)

// Without operations, Verify makes documents of the types, and runs each action of each
// store.
func TestVerifyStores(t *testing.T) {
	modeltest.Verify(t, kept, modeltest.VerifyCase{
		Max: 2, Scopes: []model.Scope{{Tenant: bson.D{{Key: "owner", Value: "ann"}}}},
		Except: map[string]string{
			"kennels delete and dogs refer": "without transactions, a dog that leaves its kennel meanwhile loses the references to it",
		},
	})
}

// The caller can give the documents, and leave out an action.
func TestVerifyStoresDocs(t *testing.T) {
	var docs []any
	for _, name := range strings.Fields("a b c d e f") {
		docs = append(docs, stable{ID: name, Name: name})
	}
	modeltest.Verify(t, ranch, modeltest.VerifyCase{
		Max: 2, Docs: map[string][]any{"stables": docs},
		Except: map[string]string{"stables delete": "horses would refer to a missing stable"},
	})
}

// A page's slug is its title, but the rule forgets updates.
type page struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
	Slug  string `bson:"slug"`
}

var (
	slugs = model.NewParts(nil, nil, func() []model.Check {
		return []model.Check{{
			Name: "pages: slugs", Collection: "pages", Rule: "the slug is the title",
			Pipeline: mongo.Pipeline{{{Key: "$match", Value: bson.D{
				{Key: "$expr", Value: bson.D{{Key: "$ne", Value: bson.A{"$slug", "$title"}}}},
			}}}},
			Tell: func(f *model.Finding) error { f.Problem = "has another slug"; return nil },
		}}
	}, func() []model.Footprint { return model.Owns.In("pages", "slug") }).
		WithReactions(func() []model.Reaction {
			return []model.Reaction{{
				Collection: "pages", Paths: []string{"title"}, On: model.OnInsert,
				Amend: func(w model.StoreWrite) (bson.D, error) {
					return bson.D{{Key: "slug", Value: w.After.Lookup("title")}}, nil
				},
			}}
		})
	forgetful = model.New("site", slugs)
	_         = model.NewStore(forgetful, model.NewCollection[page, int64]("pages"))
)
