package subsetpages_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	pagedModel   = model.New("threads", newest)
	pagedThreads = model.NewStore(pagedModel, threads)
)

// deleteThread deletes the thread a with its pages. Another client may have deleted it.
func deleteThread(ctx context.Context, db *mongo.Database) error {
	_, _, err := pagedThreads.Delete("a").Run(ctx, pagedModel.On(db))
	if errors.Is(err, model.ErrNotFound) {
		err = nil
	}
	return err
}

// A store deletes a parent with its pages, and writes neither pages nor the array.
func TestSubsetPagesStore(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ways := []model.DB{pagedModel.On(db)}
		if tx, err := model.WithTransactions(t.Context(), ways[0]); err == nil {
			ways = append(ways, tx)
		}
		for _, way := range ways {
			testkit.Seed(t, db, testkit.Docs{"threads": nil, "pages": nil})
			run := func(c model.ChangeOf[model.Stored[thread]], refused string) {
				t.Helper()
				_, _, err := c.Run(t.Context(), way)
				var value *model.ValueError
				if errors.As(err, &value) && value.Field != refused || value == nil && (err != nil || refused != "") {
					t.Errorf("%s: %v, want a refusal of %q", c.Name, err, refused)
				}
			}
			run(pagedThreads.Insert(thread{ID: "a", Newest: []remark{remarkAt(1)}}), "newest")
			run(pagedThreads.InsertMany(thread{ID: "a"}, thread{ID: "b"}), "")
			for _, id := range []string{"a", "b"} {
				for at := range 5 {
					if _, err := newest.Append(id, remarkAt(at)).Run(t.Context(), way); err != nil {
						t.Fatal(err)
					}
				}
			}
			run(pagedThreads.Set("a", bson.D{testkit.E("newest", []remark{})}), "newest")
			run(pagedThreads.Set("a", bson.D{testkit.E("title", "new")}), "")
			run(pagedThreads.Delete("a"), "")
			left, err := pageDocs.Find(nil).All(t.Context(), db)
			if err != nil || len(left) != 2 || left[0].Key != "b" || left[1].Key != "b" {
				t.Errorf("%+v, %v", left, err)
			}
			_, _, err = model.NewStore(pagedModel, pageDocs).
				Set("b#0000000000", bson.D{testkit.E("items", []remark{})}).Run(t.Context(), way)
			if err == nil || !strings.Contains(err.Error(), "SubsetPages.Append") {
				t.Error("a store's write of a page:", err)
			}
			for f, err := range pagedModel.Audit().Each(t.Context(), way) {
				t.Errorf("the audit finds %s (%v)", f, err)
			}
		}
	})
}

// An append meets the deletion of its parent: no page stays without a parent.
func TestSubsetPagesStoreMeets(t *testing.T) {
	testkit.Parallel(t)
	run := func(f func(ctx context.Context, way model.DB) error) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			way, err := model.WithTransactions(ctx, pagedModel.On(db))
			if err != nil {
				return err
			}
			return f(ctx, way)
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Nested: true, Sample: 1, Seed: beginWith(1, 2, 3, 4),
		A: run(func(ctx context.Context, way model.DB) error {
			_, _, err := pagedThreads.Delete("a").Run(ctx, way)
			return err
		}),
		B: run(func(ctx context.Context, way model.DB) error {
			_, err := newest.Append("a", remarkAt(9)).Run(ctx, way)
			return err
		}),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if errA != nil || errB != nil && !errors.Is(errB, model.ErrNotFound) {
				t.Errorf("%v, %v", errA, errB)
			}
			if left, err := pageDocs.Find(nil).All(t.Context(), db); err != nil || len(left) > 0 {
				t.Errorf("%d pages, %v", len(left), err)
			}
		},
	})
}
