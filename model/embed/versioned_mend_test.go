package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// An edit that read a version, or null, which is read as 0; meanwhile a writer that knows nothing of versions changes
// the document and stores null, and that is mended. In all orders both changes are there at the end.
func TestVersionedMendInterleaved(t *testing.T) {
	inc := func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("lots").UpdateByID(ctx, "l", d("$inc", d("qty", int32(100)), "$set", d("version", nil)))
		return err
	}
	for _, c := range []struct {
		reason string
		seed   any
		breaks bool
	}{
		{"a null that was there", d("_id", "l", "qty", int32(5), "version", nil), false},
		{"version 1 becomes null", verLot{ID: "l", Qty: 5, Version: 1}, true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 4,
				Seed:   func(ctx context.Context, db *mongo.Database) error { return verStore(ctx, db, c.seed) },
				A: func(ctx context.Context, db *mongo.Database) error {
					_, err := verTaken(ctx, db, verPlainStore, verNone)
					return err
				},
				B: func(ctx context.Context, db *mongo.Database) error {
					if c.breaks {
						if err := inc(ctx, db); err != nil {
							return err
						}
					}
					return mend(ctx, db, verPlain.Checks())
				},
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					want := int32(4)
					if c.breaks {
						want = 104
					}
					lot, err := verLots.ByID("l").One(context.Background(), db)
					if err := errors.Join(err, errA, errB); err != nil || lot.Qty != want || lot.Version < 1 {
						t.Errorf("%+v, want %d: %v", lot, want, err)
					}
				},
			})
		})
	}
}

// Whoever read a document in a version before that was broken finds another after the mend; and so one mended twice.
func TestVersionedMendsAnew(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, seen := t.Context(), map[int64]bool{}
		for _, broken := range []any{nil, "x", bson.A{int64(1)}, nil} {
			if err := verStore(ctx, db, d("_id", "l", "qty", int32(5), "version", broken)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time there is nothing to mend
				if err := mend(ctx, db, verPlain.Checks()); err != nil {
					t.Fatal(err)
				}
			}
			lot, err := verLots.ByID("l").One(ctx, db)
			if err != nil || lot.Version < 1<<39 || seen[lot.Version] {
				t.Errorf("%v becomes %d, %v", broken, lot.Version, err)
			}
			seen[lot.Version] = true
			time.Sleep(2 * time.Millisecond) // by whose clock versions are given
			for _, v := range []int64{0, 1, 2} {
				if _, _, err := verPlainStore.Replace(verLot{ID: "l", Qty: 9, Version: v}).
					Run(ctx, db); !errors.Is(err, embed.ErrVersion) {
					t.Errorf("a replacement of version %d: %v", v, err)
				}
			}
			lot.Qty++
			if _, _, err := verPlainStore.Replace(lot).Run(ctx, db); err != nil {
				t.Error(err)
			}
		}
	})
}

// An insert whose answer was lost knows its document by the token, whatever became of that.
func TestVersionedInsertAgain(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		insert := func(store *model.Store[verLot, string], op bson.ObjectID) error {
			_, _, err := store.Insert(verLot{ID: "l", Qty: 5}).Run(model.WithToken(t.Context(), op), db)
			return err
		}
		for i := range 3 {
			if err := insert(verTokenStore, oid(1)); err != nil {
				t.Errorf("insert %d: %v", i, err)
			}
			if i == 1 {
				mustRun(t, db, model.NewPlan(verTokens.Take("l", "qty", 2, oid(2))))
			}
		}
		if got := verShow(t, db); !strings.HasPrefix(got, "qty 3 version ") || !strings.HasSuffix(got, " 2 ops") {
			t.Errorf("stored %s", got)
		}
		for n, store := range []*model.Store[verLot, string]{verTokenStore, verPlainStore} {
			if err := insert(store, oid(3+n)); !mongo.IsDuplicateKeyError(err) {
				t.Errorf("somebody else's, %d: %v", n, err)
			}
		}
	})
}

// What is taken from must be a number.
func TestVersionedTakesFromNumbers(t *testing.T) {
	type odd struct {
		ID      string `bson:"_id"`
		Version int64  `bson:"version"`
		Text    string
		When    bson.DateTime
		Yes     bool
		Inner   struct{ N uint8 }
		Float   float32
		Money   bson.Decimal128
		Any     any
		Maybe   *int16 `bson:",omitempty"`
	}
	v := embed.NewVersioned(model.NewCollection[odd, string]("odds"), embed.VersionedSpec{})
	for path, ok := range map[string]bool{
		"text": false, "when": false, "yes": false, "inner": false, "inner.n": true, "float": true, "money": true,
		"any": true, "maybe": true, "any.n": true, "version": false, "_id": false, "none": false,
	} {
		w := v.Take("a", path, 1, verNone)
		var bad *model.ValueError
		if ok && w.Err != nil || !ok && !errors.As(w.Err, &bad) {
			t.Errorf("%s: %v", path, w.Err)
		}
	}
}

// A mend of versions that stops between two documents is completed by the next, which leaves those alone that have one.
func TestVersionedRepairFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return verStore(ctx, db, d("_id", "a", "qty", int32(1), "version", nil),
				d("_id", "b", "qty", int32(2), "version", "x"),
				d("_id", "c", "qty", int32(3), "version", int64(7)), d("_id", "d", "qty", int32(4)))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return mend(ctx, db, verPlain.Checks())
		},
		Check: func(t testing.TB, db *mongo.Database) {
			all, err := verLots.Find(nil).Sorted(d("_id", 1)).All(context.Background(), db)
			if err != nil || len(all) != 4 {
				t.Fatalf("%v, %v", all, err)
			}
			for i, lot := range all {
				mended := i < 2
				if lot.Qty != int32(i+1) || (lot.Version > 1<<39) != mended || !mended && lot.Version != []int64{7, 0}[i-2] {
					t.Errorf("%+v", lot)
				}
			}
		},
	})
}
