package compose

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Without transactions, entries of an index table are refused by name. A cascade is a plan that a second run completes.
func TestStoreLinkedPlain(t *testing.T) {
	m := declareLinked(false, pickISBN, pickTags, pickCascade)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		_, _, err := m.books.Insert(linkedBook{ID: 1, ISBN: "x"}).Run(ctx, db)
		if !errors.Is(err, model.ErrTransactional) || !strings.Contains(err.Error(), "IndexTable.Insert") {
			t.Error(err)
		}
		for id := int64(1); id < 4; id++ {
			if _, _, err := m.books.Insert(linkedBook{ID: id, Author: ptr(int64(7)), Fans: []int64{7, 8}}).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := m.books.Set(1, bson.D{{Key: "author", Value: int64(8)}}).Run(ctx, db); err != nil {
			t.Error(err)
		}
		if _, _, err := m.authors.Insert(linkedAuthor{ID: 7}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := m.authors.Delete(7).Run(ctx, db); err != nil {
			t.Error(err)
		}
		books, err := linkedBooks.Find(nil).All(ctx, db)
		if err != nil || len(books) != 1 || len(books[0].Fans) != 1 {
			t.Errorf("%+v, %v", books, err)
		}
	})
}

// A deletion is refused with the references that forbid it, and with the method to call if it reaches too many documents.
func TestStoreOnDeleteRefuses(t *testing.T) {
	for p, want := range map[linkedPick]func(err error) bool{
		pickRestrict: func(err error) bool {
			var restricted *relate.RestrictError
			return errors.As(err, &restricted) && len(restricted.Refs) == 10 && restricted.More
		},
		pickCascade: func(err error) bool {
			var value *model.ValueError
			return errors.As(err, &value) && strings.Contains(err.Error(), "relate.OnDelete.Delete")
		},
	} {
		m := declareLinked(false, p)
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			var books []linkedBook
			for id := range int64(1001) {
				books = append(books, linkedBook{ID: id + 1, Author: ptr(int64(1))})
			}
			if _, err := linkedBooks.InsertMany(books).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, _, err := m.authors.Insert(linkedAuthor{ID: 1}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, _, err := m.authors.Delete(1).Run(t.Context(), db); !want(err) {
				t.Errorf("%s: %v", linkedNames[p], err)
			}
		})
	}
}

// Techniques that can't take part name the methods to call.
func TestStoreLinkedDeclarations(t *testing.T) {
	type page struct {
		ID   string                `bson:"_id"`
		Refs []relate.Link[string] `bson:"refs,omitempty"`
		V    int64                 `bson:"v"`
	}
	pages := model.NewCollection[page, string]("pages")
	linked := relate.NewManyToMany(pages, "refs", pages.Named("others"), "refs", relate.ManyToManySpec{Version: "v"})
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("versioned links", func() { model.NewStore(model.New("m", linked), pages) }, "ManyToMany", "NewStore of pages", "ManyToMany.Link"),
	)
}
