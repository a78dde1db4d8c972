package joincollection_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var fanStore = model.NewStore(model.New("likes", likes), fans)

// What an action sends in a transaction, where the server has bulkWrite and where it has not.
func TestJoinCollectionTransactions(t *testing.T) {
	if tenancy.On {
		t.Skip("a tenant's commands differ")
	}
	for _, c := range []struct {
		what     string
		action   likeChange
		fails    error
		old, now string // MongoDB 7.0 and 8.0
	}{
		{
			"link", likeStore.Insert(like("l7", "cid", 1, 9)), nil, "insert update update commitTransaction",
			"bulkWrite commitTransaction",
		},
		{
			"link a pair that is linked", likeStore.Insert(like("l7", "bob", 1, 9)), model.ErrTaken,
			"insert abortTransaction", "bulkWrite abortTransaction",
		},
		{"link a missing document", likeStore.Insert(
			like("l7", "cid", 9, 9),
		), model.ErrNotFound, "insert update update abortTransaction",
			"bulkWrite abortTransaction"},
		{
			"ensure", ensure(like("l7", "cid", 1, 9)), nil, "findAndModify update update commitTransaction",
			"find bulkWrite commitTransaction",
		},
		{
			"ensure a pair that is linked", ensure(like("l7", "bob", 1, 9)), nil, "findAndModify commitTransaction",
			"find commitTransaction",
		},
		{"unlink", likeStore.DeleteOne(pairOf("bob", 1)), nil, "findAndModify", "findAndModify"},
		{"update", rate("bob", 1, 5), nil, "findAndModify", "findAndModify"},
		{"other ids", likeStore.SetOne(
			pairOf("bob", 1), pairOf("cid", 2),
		), nil, "findAndModify update update commitTransaction",
			"findAndModify bulkWrite commitTransaction"},
	} {
		for version, want := range map[string]string{"7.0": c.old, "8.0": c.now} {
			monitor := mongotest.NewMonitor()
			plain := mongotest.NewClient(
				t, mongotest.Settings{Version: version}, monitor,
			).Database("likes")
			db, err := model.WithTransactions(t.Context(), plain)
			if err = errors.Join(err, seedLikes(t.Context(), plain)); err != nil {
				t.Fatal(err)
			}
			before := linkIDs(t, plain)
			monitor.Reset()
			_, _, err = c.action.Run(t.Context(), db)
			var sent []string
			for _, command := range monitor.Commands() {
				sent = append(sent, command.Name)
			}
			if got := strings.Join(sent, " "); got != want || !errors.Is(err, c.fails) ||
				(err == nil) != (c.fails == nil) {
				t.Errorf("%s on %s: sent %s, want %s; %v", c.what, version, got, want, err)
			}
			if got := changes(before, linkIDs(t, plain), ""); c.fails != nil && got != "" {
				t.Errorf("%s on %s: changed %s", c.what, version, got)
			}
		}
	}
}

// In transactions, no link remains to a document that is deleted meanwhile.
func TestJoinCollectionDeletedMeanwhile(t *testing.T) {
	testkit.Parallel(t)
	inTx := func(ctx context.Context, db *mongo.Database, run func(on model.DB) error) error {
		on, err := model.WithTransactions(ctx, db)
		if err != nil {
			return err
		}
		return run(on)
	}
	for what, c := range map[string]likeChange{
		"link": likeStore.Insert(like("l7", "cid", 1, 9)), "ensure": ensure(like("l7", "cid", 1, 9)),
	} {
		t.Run(what, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Transactions: true, Seed: seedLikes,
				A: func(ctx context.Context, db *mongo.Database) error {
					return inTx(ctx, db, func(on model.DB) error { _, _, err := c.Run(ctx, on); return err })
				},
				B: func(ctx context.Context, db *mongo.Database) error {
					return inTx(
						ctx, db,
						func(on model.DB) error { _, _, err := fanStore.Delete("cid").Run(ctx, on); return err },
					)
				},
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					n, err := likes.Left.Links("cid").Count(context.Background(), db)
					if err = errors.Join(err, errB); err != nil || n != 0 || errA != nil &&
						!errors.Is(errA, model.ErrNotFound) {
						t.Errorf("%d links, %v, %v", n, errA, err)
					}
				},
			})
		})
	}
}
