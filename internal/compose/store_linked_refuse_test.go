package compose

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Without transactions, a value of a unique index table is taken once. A cascade is a plan that a second run completes.
func TestStoreLinkedPlain(t *testing.T) {
	m := linkedModels.declare(false, false, pickISBN, pickTags, pickCascade)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, _, err := m.bookStore.Insert(linkedBook{ID: 4, ISBN: "x"}).Run(ctx, db); err != nil {
			t.Error(err)
		}
		if _, _, err := m.bookStore.Insert(linkedBook{ID: 5, ISBN: "x"}).Run(ctx, db); !errors.Is(err, model.ErrTaken) {
			t.Error(err)
		}
		if _, _, err := m.bookStore.Delete(4).Run(ctx, db); err != nil {
			t.Error(err)
		}
		for id := int64(1); id < 4; id++ {
			book := linkedBook{ID: id, Author: ptr(int64(7)), Fans: []int64{7, 8}}
			if _, _, err := m.bookStore.Insert(book).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := m.bookStore.Set(1, bson.D{{Key: "author", Value: int64(8)}}).Run(ctx, db); err != nil {
			t.Error(err)
		}
		if _, _, err := m.authorStore.Insert(linkedAuthor{ID: 7}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := m.authorStore.Delete(7).Run(ctx, db); err != nil {
			t.Error(err)
		}
		books, err := linkedBooks.Find(nil).All(ctx, db)
		if err != nil || len(books) != 1 || len(books[0].Fans) != 1 {
			t.Errorf("%+v, %v", books, err)
		}
	})
}

// A deletion is refused with the references that forbid it, and with the method to call if it reaches too many
// documents.
func TestStoreOnDeleteRefuses(t *testing.T) {
	for p, want := range map[int]func(err error) bool{
		pickRestrict: func(err error) bool {
			var restricted *ondelete.RestrictError
			return errors.As(err, &restricted) && len(restricted.Refs) == 10 && restricted.More
		},
		pickCascade: func(err error) bool {
			var value *model.ValueError
			return errors.As(err, &value) && strings.Contains(err.Error(), "Store.DeleteJob")
		},
	} {
		m := linkedModels.declare(false, false, p)
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			var books []linkedBook
			for id := range int64(1001) {
				books = append(books, linkedBook{ID: id + 1, Author: ptr(int64(1))})
			}
			if _, err := linkedBooks.InsertMany(books).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, _, err := m.authorStore.Insert(linkedAuthor{ID: 1}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, _, err := m.authorStore.Delete(1).Run(t.Context(), db); !want(err) {
				t.Errorf("%s: %v", linkedModels.picks[p].code, err)
			}
		})
	}
}
