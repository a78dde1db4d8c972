package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// logged pushes an entry that holds a token to a list which keeps the last two, unless it is there.
func logged(op bson.ObjectID) model.Write {
	w := updateLots(d("_id", "l", "log.op", d("$ne", op)),
		d("$push", d("log", d("$each", bson.A{d("op", op)}, "$slice", -2))))
	w.Once = true
	w.Done = d("_id", "l", "log.op", d("$all", bson.A{op}))
	return w
}

// What carries one operation's token is one operation: it is applied once while one list still holds the token.
func TestMergeOneToken(t *testing.T) {
	op := oid(7)

	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		take := func(op bson.ObjectID) model.Write { return verTokens.Take("l", "qty", 1, op) }
		for name, merge := range map[string]func(op bson.ObjectID) model.Write{
			"the other forgets first": func(op bson.ObjectID) model.Write { return model.Merge(take(op), logged(op)) },
			"and in the other order":  func(op bson.ObjectID) model.Write { return model.Merge(logged(op), take(op)) },
			"one without a Done": func(op bson.ObjectID) model.Write {
				return model.Merge(take(op), updateLots(d("_id", "l"), d("$push", d("bare", d("op", op)))))
			},
			"two of one technique": func(op bson.ObjectID) model.Write {
				w := verTokens.Take("l", "qty", 1, op)
				m := w.Model.(*mongo.UpdateOneModel)
				other := *m
				other.Update = d("$set", d("seen", true), "$push", d("ops", d("$each", bson.A{op}, "$slice", -3)))
				v := w
				v.Model = &other
				return model.Merge(w, v)
			},
		} {
			if err := verStore(ctx, db, verLot{ID: "l", Qty: 9, Version: 1}); err != nil {
				t.Fatal(err)
			}
			w := merge(op)
			if w.Err != nil || !w.Once {
				t.Fatalf("%s: Once %t, %v", name, w.Once, w.Err)
			}
			if _, err := w.Run(ctx, db); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for n := range 2 { // the list of two forgets the token, the one of three doesn't
				if _, err := merge(oid(20+n)).Run(ctx, db); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			r, err := w.Run(ctx, db)
			if got := verShow(t, db); err != nil || !r.Already() || got != "qty 6 version 4 3 ops" {
				t.Errorf("%s: %s, %v, %v", name, got, r.Steps, err)
			}
		}
	})
	if w := model.Merge(verTokens.Take("l", "qty", 1, oid(1)), logged(oid(2))); len(w.Done) < 2 ||
		strings.Contains(model.Shell(w.Done), "$or") {
		t.Errorf("two operations: %s", model.Shell(w.Done))
	}
}

func updateLots(filter, update bson.D) model.Write {
	return model.Write{Collection: "lots", Expect: model.One, Model: &mongo.UpdateOneModel{Filter: filter, Update: update}}
}

// Where a merged write matches nothing, the write that is at fault says why, in whichever order they were merged.
func TestMergedReasons(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		low, gone := errors.New("too low"), errors.New("not open")
		guard := func(name string, cond any, err error) model.Write {
			w := updateLots(d("_id", "l", name, cond), d("$set", d("by."+name, true)))
			w.Reasons = []model.Reason{{If: d("_id", "l"), Err: err}}
			return w
		}
		for _, c := range []struct {
			version int64
			n       int
			open    bool
			want    error
		}{
			{1, 5, true, nil}, {1, 1, true, low}, {1, 5, false, gone}, {2, 5, true, embed.ErrVersion},
			{2, 1, false, embed.ErrVersion}, {1, 1, false, gone},
		} {
			if err := verStore(ctx, db, d("_id", "l", "version", int64(1), "n", c.n, "open", c.open)); err != nil {
				t.Fatal(err)
			}
			writes := []model.Write{
				guard("n", d("$gte", 3), low),
				verPlain.Update("l", c.version, d("$inc", d("qty", 1)), verNone),
				guard("open", true, gone),
			}
			for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}} {
				_, err := model.Merge(writes[order[0]], writes[order[1]], writes[order[2]]).Run(ctx, db)
				if !errors.Is(err, c.want) {
					t.Errorf("%+v in the order %v: %v", c, order, err)
				}
				if c.want == nil {
					break
				}
			}
		}
	})
}
