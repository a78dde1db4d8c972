package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
)

// A duplicate key on an index that a write knows nothing of is no reason of the write.
func TestDuplicateStaysOne(t *testing.T) {
	p := verLot{ID: "l", Qty: 2, Version: 1}
	op := bson.NewObjectID()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		unique := func(collection, path string) {
			keys := mongo.IndexModel{
				Keys:    d(path, 1),
				Options: options.Index().SetUnique(true).SetPartialFilterExpression(d(path, d("$exists", true))),
			}
			if _, err := db.Collection(collection).Indexes().CreateOne(ctx, keys); err != nil {
				t.Fatal(err)
			}
		}
		unique("lots", "qty")
		unique("people", "home.zip")
		unique("people", "tasks.text")
		if err := verStore(ctx, db, p, verLot{ID: "other", Qty: 7}); err != nil {
			t.Fatal(err)
		}
		mine := embP("a1 b1")
		mine.Home = &embHome{City: "x"}
		mine.Tasks[0].Steps = []embStep{{No: 1}}
		other := embPerson{ID: "o", Tasks: []embTask{{ID: "a", Text: "taken"}}, Home: &embHome{Zip: "taken"}}
		none := embPerson{ID: "n"}
		if err := embStore(ctx, db, mine, other, none); err != nil {
			t.Fatal(err)
		}
		taken := embTask{ID: "a", Text: "taken"}
		for name, c := range map[string]struct {
			index string
			write model.Write
		}{
			"Versioned.Update":  {"lots|qty_1", verPlain.Update("l", 1, d("$set", d("qty", 7)), verNone)},
			"Versioned.Guarded": {"lots|qty_1", verTokens.Guarded("l", d("qty", 2), d("$set", d("qty", 7)), op)},
			"Embedded.Put":      {"people|tasks.text_1", embTasks.Put("p", taken)},
			"Embedded.Add":      {"people|tasks.text_1", embTasks.Add("p", embTask{ID: "c", Text: "taken"})},
			"Embedded.Update":   {"people|tasks.text_1", embTasks.Update("p", "a", d("$set", d("text", "taken")))},
			"Embedded.Replace":  {"people|tasks.text_1", embTasks.Replace("p", taken)},
			"One.Update":        {"people|home.zip_1", embHomes.Update("p", d("$set", d("zip", "taken")))},
			"One.Create":        {"people|home.zip_1", embHomes.Create("n", embHome{Zip: "taken"})},
		} {
			_, err := c.write.Run(ctx, db)
			collection, index, _ := strings.Cut(c.index, "|")
			if !mongo.IsDuplicateKeyError(err) || errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrGuard) ||
				model.DuplicateIndex(err) != index ||
				!strings.Contains(err.Error(), collection) || !strings.Contains(err.Error(), index) {
				t.Errorf("%s: %v; index %q", name, err, model.DuplicateIndex(err))
			}
		}
		began := time.Now()
		calls := 0
		_, _, err := verPlainStore.Edit("l", func(lot *verLot) error {
			calls++
			lot.Qty = 7
			return nil
		}).Run(ctx, db)
		if !mongo.IsDuplicateKeyError(err) || calls != 1 || time.Since(began) > 5*time.Second {
			t.Errorf("Edit tried %d times: %v", calls, err)
		}
		if got := verShow(t, db); got != "qty 2 version 1" {
			t.Errorf("stored: %s", got)
		}
	})
}

// logged pushes an entry that holds a token to a list which keeps the last two, unless it is there.
func logged(op bson.ObjectID) model.Write {
	w := updateLots(d("_id", "l", "log.op", d("$ne", op)),
		d("$push", d("log", d("$each", bson.A{d("op", op)}, "$slice", -2))))
	w.Idempotent = true
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
			if w.Err != nil || !w.Idempotent {
				t.Fatalf("%s: Once %t, %v", name, w.Idempotent, w.Err)
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

func TestEmbeddedWrites(t *testing.T) {
	task := func(s string) embTask { return embList(s)[0] }
	withSteps := embPerson{
		ID:    "p",
		Tasks: []embTask{{ID: "a", Due: 1, Steps: []embStep{{No: 1, Text: "x"}}}, {ID: "b", Due: 2}},
	}
	nulls := d("_id", "p", "tasks", nil)
	embRun(t, []embCase{
		{"the first", embP(""), embTasks.Add("p", task("a1")), "{_id: 'p', tasks: [{id: 'a', due: 1}]}", nil, true},
		{
			reason: "one more", before: embP("a1"), write: embTasks.Add("p", task("b2")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}]}",
			err:   nil, once: true,
		},
		{
			reason: "as many as may be", before: embP(""), write: embTasks.Add("p", embList("a1 b2 c3")...),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}, {id: 'c', due: 3}]}",
			err:   nil, once: true,
		},
		{"the very same", embP("a1"), embTasks.Add("p", task("a1")), "", nil, true},
		{"the same key, another element", embP("a1"), embTasks.Add("p", task("a2")), "", model.ErrTaken, false},
		{"one of two keys", embP("a1"), embTasks.Add("p", embList("b1 a2")...), "", model.ErrTaken, false},
		{"no room", embP("a1 b2 c3"), embTasks.Add("p", task("d1")), "", model.ErrFull, false},
		{"room for one of two", embP("a1 b2"), embTasks.Add("p", embList("c1 d1")...), "", model.ErrFull, false},
		{
			reason: "any number without a Max", before: embP("a1 b2 c3"), write: embLoose.Add("p", task("d1")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}, {id: 'c', due: 3}, {id: 'd', due: 1}]}",
			err:   nil, once: true,
		},
		{"nobody", nil, embTasks.Add("p", task("a1")), "", model.ErrNotFound, false},
		{"more than may be", embP(""), embTasks.Add("p", embList("a1 b1 c1 d1")...), "", errEmbRefused, false},
		{"none", embP(""), embTasks.Add("p"), "", errEmbRefused, false},
		{"one key twice", embP(""), embTasks.Add("p", embList("a1 a2")...), "", errEmbRefused, false},
		{"no parent's id", embP(""), embTasks.Add("", task("a1")), "", errEmbRefused, false},

		{
			reason: "put where it stands", before: embP("a1 b2 c3"), write: embTasks.Put("p", task("b9")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 9}, {id: 'c', due: 3}]}",
			err:   nil, once: true,
		},
		{
			reason: "put at the end", before: embP("a1"), write: embTasks.Put("p", task("b9")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 9}]}",
			err:   nil, once: true,
		},
		{"put as the first", embP(""), embTasks.Put("p", task("b9")), "{_id: 'p', tasks: [{id: 'b', due: 9}]}", nil, true},
		{
			reason: "put where null is stored", before: nulls, write: embTasks.Put("p", task("b9")),
			after: "{_id: 'p', tasks: [{id: 'b', due: 9}]}", err: nil, once: true,
		},
		{"put without room", embP("a1 b2 c3"), embTasks.Put("p", task("d1")), "", model.ErrFull, false},
		{
			reason: "put without a Max", before: embP("a1 b2 c3"), write: embLoose.Put("p", task("d1")),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1}, {id: 'b', due: 2}, {id: 'c', due: 3}, {id: 'd', due: 1}]}",
			err:   nil, once: true,
		},
		{"put nowhere", nil, embTasks.Put("p", task("a1")), "", model.ErrNotFound, false},

		{
			reason: "replaced",
			before: embPerson{ID: "p", Tasks: []embTask{{ID: "a", Due: 1, Text: "x"}}},
			write:  embTasks.Replace("p", task("a9")), after: "{_id: 'p', tasks: [{id: 'a', due: 9}]}", err: nil, once: true,
		},
		{"replaced without one", embP("a1"), embTasks.Replace("p", task("b9")), "", model.ErrNotFound, false},
		{"replaced nowhere", nil, embTasks.Replace("p", task("b9")), "", model.ErrNotFound, false},

		{
			reason: "fields set", before: withSteps,
			write: embTasks.Update("p", "a", d("$set", d("due", 7, "text", "$due"))),
			after: "{_id: 'p', tasks: [{id: 'a', due: 7, steps: [{no: 1, text: 'x'}], text: '$due'}, {id: 'b', due: 2}]}",
			err:   nil, once: true,
		},
		{
			reason: "a whole inner list set", before: embP("a1"),
			write: embTasks.Update("p", "a", d("$set", d("steps", bson.A{d("no", int32(3))}))),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1, steps: [{no: 3}]}]}",
			err:   nil, once: true,
		},
		{"set without one", embP("a1"), embTasks.Update("p", "b", d("$set", d("due", 7))), "", model.ErrNotFound, false},
		{"set nowhere", nil, embTasks.Update("p", "b", d("$set", d("due", 7))), "", model.ErrNotFound, false},
		{"the key set", embP("a1"), embTasks.Update("p", "a", d("$set", d("id", "b"))), "", errEmbRefused, false},
		{"an unknown field set", embP("a1"), embTasks.Update("p", "a", d("$set", d("dew", 1))), "", errEmbRefused, false},
		{
			reason: "a field of inner elements set", before: embP("a1"),
			write: embTasks.Update("p", "a", d("$set", d("steps.text", "x"))),
			after: "", err: errEmbRefused, once: false,
		},
		{
			reason: "a name that can't be stored", before: embP("a1"),
			write: embTasks.Update("p", "a", d("$set", d("text", d("$x", 1)))),
			after: "", err: errEmbRefused, once: false,
		},
		{"nothing set", embP("a1"), embTasks.Update("p", "a", d("$set", bson.D{})), "", errEmbRefused, false},
		{"set by null", embP("a1"), embTasks.Update("p", nil, d("$set", d("due", 7))), "", errEmbRefused, false},
		{
			reason: "set by a pattern", before: embP("a1"),
			write: embTasks.Update("p", bson.Regex{Pattern: "."}, d("$set", d("due", 7))),
			after: "", err: errEmbRefused, once: false,
		},
		{
			reason: "counted up and unset",
			before: embPerson{ID: "p", Tasks: []embTask{{ID: "a", Due: 1, Text: "x"}}},
			write:  embTasks.Update("p", "a", d("$inc", d("due", 2), "$unset", d("text", ""))),
			after:  "{_id: 'p', tasks: [{id: 'a', due: 3}]}", err: nil, once: false,
		},
		{
			reason: "pushed into the inner list", before: withSteps,
			write: embTasks.Update("p", "a", d("$push", d("steps", d("no", int32(9))))),
			after: "{_id: 'p', tasks: [{id: 'a', due: 1, steps: [{no: 1, text: 'x'}, {no: 9}]}, {id: 'b', due: 2}]}",
			err:   nil, once: false,
		},
		{"renamed", embP("a1"), embTasks.Update("p", "a", d("$rename", d("text", "due"))), "", errEmbRefused, false},
		{
			reason: "an operator twice", before: embP("a1"),
			write: embTasks.Update("p", "a", bson.D{{Key: "$set", Value: d("due", 1)}, {Key: "$set", Value: d("text", "x")}}),
			after: "", err: errEmbRefused, once: false,
		},
		{"no operator", embP("a1"), embTasks.Update("p", "a", d("due", 1)), "", errEmbRefused, false},

		{
			reason: "removed", before: embP("a1 b2 c3"), write: embTasks.Remove("p", "a", "c", "none"),
			after: "{_id: 'p', tasks: [{id: 'b', due: 2}]}", err: nil, once: true,
		},
		{"removed nowhere", nil, embTasks.Remove("p", "a"), "", model.ErrNotFound, false},
		{"nothing removed", embP("a1"), embTasks.Remove("p"), "", errEmbRefused, false},
		{"null removed", embP("a1"), embTasks.Remove("p", nil), "", errEmbRefused, false},
	})
}

func TestEmbeddedReorder(t *testing.T) {
	list := func(notation string) string {
		var all []string
		for _, e := range embList(notation) {
			all = append(all, fmt.Sprintf("{id: '%s', due: %d}", e.ID, e.Due))
		}
		return "{_id: 'p', tasks: [" + strings.Join(all, ", ") + "]}"
	}
	twice := d("_id", "p", "tasks", bson.A{
		d("id", "a", "due", int32(1)), d("id", "b", "due", int32(2)), d("id", "a", "due", int32(3)),
	})
	mixed := d("_id", "p", "tasks", bson.A{int32(7), d("due", int32(0)), d("id", "a")})
	embRun(t, []embCase{
		{"to the front", embP("a1 b2 c3"), embTasks.Reorder("p", 0, "c"), list("c3 a1 b2"), nil, true},
		{"to a place", embP("a1 b2 c3"), embTasks.Reorder("p", 1, "a"), list("b2 a1 c3"), nil, true},
		{"to the last place", embP("a1 b2 c3"), embTasks.Reorder("p", 2, "a"), list("b2 c3 a1"), nil, true},
		{"beyond the end", embP("a1 b2 c3"), embTasks.Reorder("p", math.MaxInt, "a"), list("b2 c3 a1"), nil, true},
		{"to the end", embP("a1 b2 c3"), embTasks.Reorder("p", -1, "b", "a"), list("c3 b2 a1"), nil, true},
		{"all by their keys", embP("a1 b2 c3"), embTasks.Reorder("p", 0, "b", "c", "a"), list("b2 c3 a1"), nil, true},
		{
			reason: "all, at a place beyond the others", before: embP("a1 b2 c3"),
			write: embTasks.Reorder("p", 1, "b", "c", "a"), after: list("b2 c3 a1"), err: nil, once: true,
		},
		{"where it stands", embP("a1 b2 c3"), embTasks.Reorder("p", 1, "b"), list("a1 b2 c3"), nil, true},
		{"the only one", embP("a1"), embTasks.Reorder("p", 3, "a"), list("a1"), nil, true},
		{"a key that stands twice loses none", twice, embTasks.Reorder("p", 0, "a"), list("a1 a3 b2"), nil, true},
		{
			reason: "elements without a key stay", before: mixed, write: embTasks.Reorder("p", 0, "a"),
			after: "{_id: 'p', tasks: [{id: 'a'}, 7, {due: 0}]}", err: nil, once: true,
		},
		{"one that is missing", embP("a1 b2"), embTasks.Reorder("p", 0, "a", "z"), "", model.ErrNotFound, false},
		{"nobody", nil, embTasks.Reorder("p", 0, "a"), "", model.ErrNotFound, false},
		{"no key", embP("a1"), embTasks.Reorder("p", 0), "", errEmbRefused, false},
		{"a key twice", embP("a1"), embTasks.Reorder("p", 0, "a", "a"), "", errEmbRefused, false},
		{"null", embP("a1"), embTasks.Reorder("p", 0, nil), "", errEmbRefused, false},
	})
}
