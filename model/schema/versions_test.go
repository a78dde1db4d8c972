package schema_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A store's change of a document of an older form stores the newest form, and keeps what the types don't know.
func TestVersionsStore(t *testing.T) {
	for name, m := range map[string]*model.Model{
		"in the model": model.New("shop", bookVersions),
		"not in it":    model.New("shop", model.Entity(books)),
	} {
		store := model.NewStore(m, books)
		for way, change := range map[string]model.ChangeOf[model.Stored[book]]{
			"edit":    store.Edit("nosql", func(b *book) error { b.Price.Currency = "USD"; return nil }),
			"replace": store.Replace(book{"nosql", []string{"Sadalage", "Fowler"}, money{3000, "USD"}}),
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
					ctx := t.Context()
					old := bson.D{
						{Key: "_id", Value: "nosql"}, {Key: "author", Value: "Sadalage, Fowler"}, {Key: "price", Value: 30},
						{Key: "shelf", Value: "B7"},
					}
					if _, err := db.Collection("books").InsertOne(ctx, old); err != nil {
						t.Fatal(err)
					}
					if _, _, err := change.Run(ctx, db); err != nil {
						t.Fatal(err)
					}
					raw, err := bookVersions.Raw(bson.D{{Key: "_id", Value: "nosql"}}).One(ctx, db)
					if err != nil {
						t.Fatal(err)
					}
					if raw.Lookup("author").Type != 0 || raw.Lookup("shelf").StringValue() != "B7" ||
						raw.Lookup("schemaVersion").AsInt64() != 3 {
						t.Errorf("stored %s", raw)
					}
					b, err := bookVersions.Decode(raw)
					if err != nil || b.Price != (money{3000, "USD"}) || len(b.Authors) != 2 {
						t.Errorf("%+v, %v", b, err)
					}
					if _, _, err := store.Delete("nosql").Run(ctx, db); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// A new document is stored with the newest version.
func TestVersionsStoreInsert(t *testing.T) {
	store := model.NewStore(model.New("shop", bookVersions), books)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		price := money{10, "EUR"}
		for id, change := range map[string]model.ChangeOf[model.Stored[book]]{
			"insert": store.Insert(book{"insert", nil, price}), "ensure": store.Ensure(book{"ensure", nil, price}),
		} {
			if s, _, err := change.Run(t.Context(), db); err != nil || s.Doc.Price != price {
				t.Errorf("%s: %+v, %v", id, s.Doc, err)
			}
			raw, err := bookVersions.Raw(bson.D{{Key: "_id", Value: id}}).One(t.Context(), db)
			if err != nil || raw.Lookup("schemaVersion").AsInt64() != 3 {
				t.Errorf("%s: stored %s, %v", id, raw, err)
			}
		}
	})
}

// On a model's database, Save changes no field in which another technique takes part. An upgrade changes no such field.
func TestVersionsSavePasses(t *testing.T) {
	watched := model.NewParts(nil, nil, nil, nil).WithReactions(func() []model.Reaction {
		return []model.Reaction{{
			Collection: "books", Paths: []string{"price"},
			React: func(model.StoreWrite) (model.Answer, error) {
				return model.Answer{}, nil
			},
		}}
	})
	m := model.New("shop", bookVersions, watched)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		old := bson.D{{Key: "_id", Value: "nosql"}, {Key: "author", Value: "Sadalage, Fowler"}, {Key: "price", Value: 30}}
		if _, err := db.Collection("books").InsertOne(ctx, old); err != nil {
			t.Fatal(err)
		}
		on := m.On(db)
		read := func() (bson.Raw, book) {
			raw, err := bookVersions.Raw(bson.D{{Key: "_id", Value: "nosql"}}).One(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			b, err := bookVersions.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			return raw, b
		}
		raw, b := read()
		if _, err := bookVersions.Upgrade(raw).Run(ctx, on); err != nil {
			t.Error(err)
		}
		raw, b = read()
		b.Authors = []string{"Fowler"}
		if _, err := bookVersions.Save(raw, b).Run(ctx, on); err != nil {
			t.Error(err)
		}
		raw, b = read()
		b.Price.Currency = "USD"
		if _, err := bookVersions.Save(raw, b).Run(ctx, on); !errors.As(err, new(*model.ConflictError)) {
			t.Errorf("a price that passes by: %v", err)
		}
		if _, err := bookVersions.Save(raw, b).Run(ctx, db); err != nil {
			t.Error(err)
		}
	})
}
