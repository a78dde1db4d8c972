package embed_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	shelf struct {
		ID    string     `bson:"_id"`
		Name  string     `bson:"name"`
		Rows  []shelfRow `bson:"rows,omitempty"`
		Label *shelfRow  `bson:"label,omitempty"`
	}
	shelfRow struct {
		No    int64       `bson:"no"`
		Books []shelfBook `bson:"books,omitempty"`
	}
	shelfBook struct {
		ISBN string `bson:"isbn"`
	}
)

// A new document may have elements that fit the declaration. The array of a stored one is written by the technique's
// methods.
func TestEmbeddedStore(t *testing.T) {
	shelves := model.NewCollection[shelf, string]("shelves")
	rows := embed.NewEmbedded[shelfRow](shelves, "rows", embed.EmbeddedSpec{Key: "no", Max: 2})
	books := embed.NewNested[shelfBook](rows, "books", embed.EmbeddedSpec{Key: "isbn", Max: 2})
	store := model.NewStore(model.New("m", rows, books,
		embed.NewOne[shelfRow](shelves, "label", embed.OneSpec{})), shelves)
	row := func(no int64, isbns ...string) (r shelfRow) {
		r.No = no
		for _, x := range isbns {
			r.Books = append(r.Books, shelfBook{x})
		}
		return r
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			change model.ChangeOf[model.Stored[shelf]]
			field  string
			full   bool
		}{
			{store.Insert(shelf{ID: "s", Rows: []shelfRow{row(1), row(1)}}), "rows[1].no", false},
			{store.Insert(shelf{ID: "s", Rows: []shelfRow{row(1), row(2), row(3)}}), "", true},
			{store.Insert(shelf{ID: "s", Rows: []shelfRow{row(1, "a", "a")}}), "rows[0].books[1].isbn", false},
			{store.Insert(shelf{ID: "s", Rows: []shelfRow{row(1), row(2, "a", "b", "c")}}), "", true},
			{store.Insert(shelf{ID: "s", Rows: []shelfRow{row(1, "a", "b"), row(2)}}), "", false},
			{store.Edit("s", func(s *shelf) error { s.Rows = append(s.Rows, row(3)); return nil }), "rows", false},
			{store.Edit("s", func(s *shelf) error { s.Rows[0].Books = nil; return nil }), "rows", false},
			{store.Set("s", bson.D{{Key: "rows", Value: bson.RawValue{}}}), "rows", false},
			{store.Set("s", bson.D{{Key: "name", Value: "x"}}), "", false},
			{store.Edit("s", func(s *shelf) error { s.Label = &shelfRow{No: 9}; return nil }), "", false},
			{store.Delete("s"), "", false},
		} {
			_, _, err := c.change.Run(t.Context(), db)
			var value *model.ValueError
			isValue := errors.As(err, &value)
			if isValue && value.Field != c.field ||
				!isValue && (c.field != "" || c.full != errors.Is(err, model.ErrFull) || err != nil && !c.full) {
				t.Errorf("%s: %v, want a refusal of %q, full %v", c.change.Name, err, c.field, c.full)
			}
		}
	})
}

type (
	unionPet interface{ Name() string }
	unionCat struct {
		ID    string `bson:"_id"`
		Lives int64  `bson:"lives"`
	}
	unionDog struct {
		ID string `bson:"_id"`
	}
)

func (c unionCat) Name() string { return c.ID }
func (d unionDog) Name() string { return d.ID }

// The documents of a union keep a declared tag.
func TestKindsStore(t *testing.T) {
	union := embed.NewUnion[unionPet]("kind", embed.Case[unionCat]("cat"), embed.Case[unionDog]("dog"))
	pets := model.NewCollectionWith[unionPet, string]("pets", union.Options())
	store := model.NewStore(model.New("m", embed.NewKinds(pets, union, embed.KindsSpec{})), pets)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, _, err := store.Insert(unionCat{"tom", 9}).Run(ctx, db); err != nil {
			t.Error(err)
		}
		s, _, err := store.Edit("tom", func(p *unionPet) error { *p = unionCat{"tom", 8}; return nil }).Run(ctx, db)
		if cat, ok := s.Doc.(unionCat); err != nil || !ok || cat.Lives != 8 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		s, _, err = store.Edit("tom", func(p *unionPet) error { *p = unionDog{"tom"}; return nil }).Run(ctx, db)
		if _, ok := s.Doc.(unionDog); err != nil || !ok {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		_, _, err = store.Set("tom", bson.D{{Key: "kind", Value: "fish"}}).Run(ctx, db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "kind" {
			t.Errorf("an unknown tag: %v", err)
		}
	})
}
