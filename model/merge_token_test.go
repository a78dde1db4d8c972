package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// logged pushes an entry that holds a token to a list which keeps the last two, unless it is there.
func logged(op bson.ObjectID) model.Write {
	w := guarded(updateOne(d("_id", "l"), d("$push", d("log", d("$each", bson.A{d("op", op)}, "$slice", -2)))), "log.op", d("$ne", op))
	w.Collection, w.Once = "lots", true
	w.Done = d("_id", "l", "log.op", d("$all", bson.A{op}))
	return w
}

// What carries one operation's token is one operation: it is applied once while one list still holds the token.
func TestMergeOneToken(t *testing.T) {
	op := oid(7)

	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		take := func(op bson.ObjectID) model.Write { return verTokens.Take("l", "qty", 1, op) }
		for name, merge := range map[string]func(op bson.ObjectID) model.Write{
			"the other forgets first": func(op bson.ObjectID) model.Write { return model.Merge(take(op), logged(op)) },
			"and in the other order":  func(op bson.ObjectID) model.Write { return model.Merge(logged(op), take(op)) },
			"one without a Done": func(op bson.ObjectID) model.Write {
				return model.Merge(take(op), expectOne(updateLots("$push", d("bare", d("op", op)))))
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
	if w := model.Merge(verTokens.Take("l", "qty", 1, oid(1)), logged(oid(2))); len(w.Done) < 2 || strings.Contains(model.Shell(w.Done), "$or") {
		t.Errorf("two operations: %s", model.Shell(w.Done))
	}
}

func updateLots(opFields ...any) model.Write {
	w := updateOne(d("_id", "l"), d(opFields...))
	w.Collection = "lots"
	return w
}

// Where a merged write matches nothing, the write that is at fault says why, in whichever order they were merged.
func TestMergedReasons(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		low, gone := errors.New("too low"), errors.New("not open")
		guard := func(name string, cond any, err error) model.Write {
			w := expectOne(updateLots("$set", d("by."+name, true)))
			m := w.Model.(*mongo.UpdateOneModel)
			m.Filter = model.And(m.Filter.(bson.D), d(name, cond))
			w.Reasons = []model.Reason{{If: d("_id", "l"), Err: err}}
			return w
		}
		for _, c := range []struct {
			version int64
			n       int
			open    bool
			want    error
		}{
			{1, 5, true, nil}, {1, 1, true, low}, {1, 5, false, gone}, {2, 5, true, model.ErrVersion}, {2, 1, false, model.ErrVersion}, {1, 1, false, gone},
		} {
			if err := verStore(ctx, db, d("_id", "l", "version", int64(1), "n", c.n, "open", c.open)); err != nil {
				t.Fatal(err)
			}
			writes := []model.Write{guard("n", d("$gte", 3), low), verPlain.Update("l", c.version, d("$set", d("x", 1)), verNone), guard("open", true, gone)}
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

// A refusal names the writes, the cause and what to do; the order of the writes doesn't decide which cause it is.
func TestMergeRefusals(t *testing.T) {
	bad := model.Refused("parts", errBad)
	remove := write(&mongo.DeleteOneModel{Filter: d("_id", 1)})
	clash := up("$inc", d("a", 1))
	for _, c := range []struct {
		writes []model.Write
		want   []string
	}{
		{[]model.Write{up("$set", d("a", 1)), clash, bad}, []string{"can't be merged", errBad.Error(), "write "}},
		{[]model.Write{up("$set", d("a", 1)), clash, remove}, []string{"only updates", "step of its own", "write "}},
		{[]model.Write{up("$set", d("a", 1)), clash, up("$set", d("b", 1))}, []string{"$set a", "$inc a", "write 1", "RunTx"}},
		{[]model.Write{up("$set", d("a", 1, "b", 1)), up("$inc", d("b", 1)), up("$inc", d("a", 1))}, []string{"$set a", "$inc a", "RunTx"}},
		{[]model.Write{up("$set", d("a", 1)), guarded(up("$inc", d("a", 1)), "v", 1)}, []string{"$set a", "$inc a"}},
	} {
		backwards := []model.Write{c.writes[len(c.writes)-1]}
		for i := len(c.writes) - 2; i >= 0; i-- {
			backwards = append(backwards, c.writes[i])
		}
		for _, writes := range [][]model.Write{c.writes, backwards} {
			got := model.Merge(writes...).Err.Error()
			for _, part := range c.want {
				if part == "write 1" && len(writes) > 0 && &writes[0] != &c.writes[0] {
					part = "write "
				}
				if !strings.Contains(got, part) {
					t.Errorf("%q lacks %q", got, part)
				}
			}
		}
	}
	p := model.MergePlans(model.NewPlan(updateOne(d("_id", 2), d("$set", d("a", 1))), up("$set", d("a", 1))), model.NewPlan(up("$set", d("b", 1))), model.NewPlan(clash))
	err := p.Err()
	for _, part := range []string{"step 2 of plan 1 with step 1 of plan 2 and step 1 of plan 3", "$set a conflicts with $inc a", "RunTx"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
}
