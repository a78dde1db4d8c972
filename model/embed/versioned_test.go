package embed_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Lots of goods, of which there is a number; with the tokens of operations, or not.
type verLot struct {
	ID      string          `bson:"_id"`
	Qty     int32           `bson:"qty"`
	Version int64           `bson:"version"`
	Ops     []bson.ObjectID `bson:"ops,omitempty"`
}

var (
	verLots   = model.NewCollection[verLot, string]("lots")
	verPlain  = embed.NewVersioned(verLots, embed.VersionedSpec{})
	verTokens = embed.NewVersioned(verLots, embed.VersionedSpec{Tokens: "ops", Keep: 3})
	verNone   bson.ObjectID
)

func verStore(ctx context.Context, db *mongo.Database, docs ...any) error {
	if _, err := db.Collection("lots").DeleteMany(ctx, bson.D{}); err != nil || len(docs) == 0 {
		return err
	}
	_, err := db.Collection("lots").InsertMany(ctx, docs)
	return err
}

// verFirst returns the version of a lot that an operation inserts.
func verFirst(op bson.ObjectID) int64 {
	w := verPlain.Insert(verLot{ID: "l"}, op)
	return w.Model.(*mongo.InsertOneModel).Document.(bson.Raw).Lookup("version").Int64()
}

// The first version is made from the token, which tells the lives of a document apart.
func TestVersionedFirst(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	seen := map[int64]bool{}
	for n := range 1000 {
		op := bson.ObjectID{10: byte(n >> 8), 11: byte(n)}
		binary.BigEndian.PutUint32(op[:], uint32(at.Unix()))
		first := verFirst(op)
		if since := first - at.UnixMicro(); since < 1 || since > 1_000_000 || first != verFirst(op) {
			t.Fatalf("%s: version %d", op, first)
		}
		seen[first] = true
	}
	if len(seen) < 990 {
		t.Errorf("%d versions of 1000 tokens", len(seen))
	}
	if last := verFirst(bson.ObjectID{255, 255, 255, 255}); last < 0 || last > 1<<53 {
		t.Errorf("the latest token gives version %d", last)
	}
}

func verShow(t testing.TB, db *mongo.Database) string {
	t.Helper()
	lot, err := (&model.Find[bson.Raw]{Query: verLots.ByID("l").Query}).One(context.Background(), db)
	if errors.Is(err, model.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, name := range []string{"qty", "version"} {
		if v, err := lot.LookupErr(name); err == nil {
			n, _ := v.AsInt64OK()
			out += fmt.Sprint(" ", name, " ", n)
		}
	}
	if ops, ok := lot.Lookup("ops").ArrayOK(); ok {
		all, _ := ops.Values()
		out += fmt.Sprint(" ", len(all), " ops")
	}
	return out[1:]
}

func TestVersionedWrites(t *testing.T) {
	lot := func(qty int32, version int64, ops ...bson.ObjectID) verLot { return verLot{"l", qty, version, ops} }
	inc := d("$inc", d("qty", int32(1)))
	enough := d("qty", d("$gte", 3))
	bare := d("_id", "l", "qty", int32(5))
	cases := []struct {
		reason string
		before any
		write  model.Write
		after  string
		err    error
		again  error // of a second run, which changes nothing; errNever for none
	}{
		{"inserted", nil, verPlain.Insert(lot(5, 0), oid(1)), fmt.Sprint("qty 5 version ", verFirst(oid(1))), nil, nil},
		{"inserted with a token", nil, verTokens.Insert(lot(5, 0), oid(2)), fmt.Sprintf("qty 5 version %d 1 ops", verFirst(oid(2))), nil, nil},
		{"inserted over another", lot(4, 9), verPlain.Insert(lot(5, 0), oid(1)), "qty 4 version 9", errDuplicate, errDuplicate},
		{"inserted with a version", nil, verPlain.Insert(lot(5, 1), oid(1)), "", errEmbRefused, errEmbRefused},
		{"inserted without a token", nil, verPlain.Insert(lot(5, 0), verNone), "", errEmbRefused, errEmbRefused},

		{"replaced", lot(5, 7), verPlain.Replace(lot(6, 7), verNone), "qty 6 version 8", nil, embed.ErrVersion},
		{"replaced in another version", lot(5, 8), verPlain.Replace(lot(6, 7), verNone), "qty 5 version 8", embed.ErrVersion, model.ErrStale},
		{"replaced when it is gone", nil, verPlain.Replace(lot(6, 7), verNone), "", model.ErrNotFound, model.ErrNotFound},
		{"replaced with a token", lot(5, 7, oid(1)), verTokens.Replace(lot(6, 7, oid(1)), oid(2)), "qty 6 version 8 2 ops", nil, nil},
		{"replaced where tokens are as many as are kept", lot(5, 7, oid(1), oid(2), oid(3)), verTokens.Replace(lot(6, 7, oid(1), oid(2), oid(3)), oid(4)), "qty 6 version 8 3 ops", nil, nil},
		{"replaced, and others have written since", lot(9, 9, oid(2), oid(3)), verTokens.Replace(lot(6, 7), oid(2)), "qty 9 version 9 2 ops", nil, nil},
		{"from before versions", bare, verPlain.Replace(lot(6, 0), verNone), "qty 6 version 1", nil, embed.ErrVersion},
		{"from before versions, a null", d("_id", "l", "qty", int32(5), "version", nil), verPlain.Replace(lot(6, 0), verNone), "qty 6 version 1", nil, embed.ErrVersion},
		{"from before, by somebody else since", lot(5, 1), verPlain.Replace(lot(6, 0), verNone), "qty 5 version 1", embed.ErrVersion, embed.ErrVersion},
		{"the last version", lot(5, math.MaxInt64), verPlain.Replace(lot(6, math.MaxInt64), verNone), fmt.Sprint("qty 5 version ", math.MaxInt64), errEmbRefused, errEmbRefused},
		{"a version below 0", lot(5, 1), verPlain.Replace(lot(6, -1), verNone), "qty 5 version 1", errEmbRefused, errEmbRefused},
		{"without a token", lot(5, 7), verTokens.Replace(lot(6, 7), verNone), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"a token that nothing keeps", lot(5, 7), verPlain.Replace(lot(6, 7), oid(1)), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"without an id", lot(5, 7), verPlain.Replace(verLot{}, verNone), "qty 5 version 7", errEmbRefused, errEmbRefused},

		{"updated", lot(5, 7), verPlain.Update("l", 7, inc, verNone), "qty 6 version 8", nil, embed.ErrVersion},
		{"updated with a token", lot(5, 7), verTokens.Update("l", 7, inc, oid(1)), "qty 6 version 8 1 ops", nil, nil},
		{"updated from before versions", bare, verTokens.Update("l", 0, inc, oid(1)), "qty 6 version 1 1 ops", nil, nil},
		{"updated in another version", lot(5, 6), verTokens.Update("l", 7, inc, oid(1)), "qty 5 version 6", embed.ErrVersion, embed.ErrVersion},
		{"the version updated", lot(5, 7), verPlain.Update("l", 7, d("$set", d("version", 3)), verNone), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"the tokens updated", lot(5, 7), verTokens.Update("l", 7, d("$unset", d("ops", 3)), oid(1)), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"renamed to the version", lot(5, 7), verPlain.Update("l", 7, d("$rename", d("qty", "version")), verNone), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"no operator", lot(5, 7), verPlain.Update("l", 7, d("qty", 3), verNone), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"the last version updated", lot(5, 7), verPlain.Update("l", math.MaxInt64, inc, verNone), "qty 5 version 7", errEmbRefused, errEmbRefused},

		{"deleted", lot(5, 7), verPlain.Delete("l", 7), "", nil, model.ErrNotFound},
		{"deleted in another version", lot(5, 8), verPlain.Delete("l", 7), "qty 5 version 8", embed.ErrVersion, embed.ErrVersion},
		{"deleted by no version", lot(5, 8), verPlain.Delete("l", -7), "qty 5 version 8", errEmbRefused, errEmbRefused},
		{"deleted by no id", lot(5, 8), verPlain.Delete("", 7), "qty 5 version 8", errEmbRefused, errEmbRefused},

		{"guarded", lot(3, 7), verPlain.Guarded("l", enough, d("$inc", d("qty", int32(-3))), verNone), "qty 0 version 8", nil, model.ErrGuard},
		{"guarded, and nothing to set", lot(3, 7), verTokens.Guarded("l", enough, nil, oid(1)), "qty 3 version 8 1 ops", nil, nil},
		{"guarded with a token", lot(9, 7), verTokens.Guarded("l", enough, d("$inc", d("qty", int32(-3))), oid(1)), "qty 6 version 8 1 ops", nil, nil},
		{"guarded from before versions", bare, verTokens.Guarded("l", enough, d("$inc", d("qty", int32(-3))), oid(1)), "qty 2 version 1 1 ops", nil, nil},
		{"the guard doesn't hold", lot(2, 7), verTokens.Guarded("l", enough, inc, oid(1)), "qty 2 version 7", model.ErrGuard, model.ErrGuard},
		{"guarded when it is gone", nil, verTokens.Guarded("l", enough, inc, oid(1)), "", model.ErrNotFound, model.ErrNotFound},
		{"without a guard", lot(2, 7), verPlain.Guarded("l", nil, inc, verNone), "qty 2 version 7", errEmbRefused, errEmbRefused},
		{"taken", lot(5, 7), verTokens.Take("l", "qty", 5, oid(1)), "qty 0 version 8 1 ops", nil, nil},
		{"more than there is taken", lot(5, 7), verTokens.Take("l", "qty", 6, oid(1)), "qty 5 version 7", model.ErrGuard, model.ErrGuard},
		{"given back", lot(5, 7), verTokens.Guarded("l", d("qty", d("$type", "number")), d("$inc", d("qty", 2)), oid(1)), "qty 7 version 8 1 ops", nil, nil},
		{"nothing taken", lot(5, 7), verTokens.Take("l", "qty", 0, oid(1)), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"taken from no field", lot(5, 7), verTokens.Take("l", "quantity", 1, oid(1)), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"taken from a list", lot(5, 7), verTokens.Take("l", "ops", 1, oid(1)), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{"the last version, guarded", lot(5, math.MaxInt64), verPlain.Take("l", "qty", 1, verNone), fmt.Sprint("qty 5 version ", math.MaxInt64), errServer, errServer},
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				var docs []any
				if c.before != nil {
					docs = append(docs, c.before)
				}
				if err := verStore(t.Context(), db, docs...); err != nil {
					t.Fatal(err)
				}
				for _, want := range []error{c.err, c.again} {
					_, err := c.write.Run(t.Context(), db)
					if want == errDuplicate || want == errServer {
						checkErr(t, err, want)
					} else {
						embErr(t, err, want)
					}
					if got := verShow(t, db); got != c.after {
						t.Errorf("stored %s, want %s", got, c.after)
					}
				}
				if c.err == model.ErrNotFound || c.err == model.ErrGuard {
					if _, err := c.write.Run(t.Context(), db); errors.Is(err, embed.ErrVersion) {
						t.Errorf("error %v", err)
					}
				}
			})
		}
	})
}

// Two customers who take the last one at the same time write the same document in the same version: without tokens the second is
// told that it is stale, with tokens it knows whose it is.
func TestVersionedSameNumber(t *testing.T) {
	for _, v := range []*embed.Versioned[verLot, string]{verPlain, verTokens} {
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 2, Version: 1}); err != nil {
				t.Fatal(err)
			}
			var a, b bson.ObjectID
			if v == verTokens {
				a, b = oid(1), oid(2)
			}
			less := verLot{ID: "l", Qty: 1, Version: 1}
			if _, err := v.Replace(less, a).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := v.Replace(less, b).Run(t.Context(), db); !errors.Is(err, embed.ErrVersion) {
				t.Errorf("the second takes the first one's write for its own: %v", err)
			}
		})
	}
}

// verTaken is a change that takes one.
func verTaken(v *embed.Versioned[verLot, string], by bool, op bson.ObjectID) model.Change[verLot] {
	none := errors.New("sold out")
	if by {
		return v.ChangeBy("l", op, func(l verLot) (bson.D, error) {
			if l.Qty == 0 {
				return nil, none
			}
			return d("$set", d("qty", l.Qty-1)), nil
		})
	}
	return v.Change("l", op, func(l verLot) (verLot, error) {
		if l.Qty == 0 {
			return l, none
		}
		l.Qty--
		l.Version, l.Ops = 77, nil // what it says of these doesn't count
		return l, nil
	})
}

func TestVersionedChanges(t *testing.T) {
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 1, Version: 4}, d("_id", "n", "version", nil), d("_id", "s", "version", "x")); err != nil {
			t.Fatal(err)
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Written: 1, Returned: 1}, func() error {
			_, _, err := verTaken(verTokens, false, oid(1)).Run(t.Context(), db)
			return err
		})
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Returned: 2}, func() error { // it finds its token, and asks whether that will stay
			_, _, err := verTaken(verTokens, false, oid(1)).Run(t.Context(), db)
			return err
		})
		if _, _, err := verTaken(verPlain, true, verNone).Run(t.Context(), db); err == nil || err.Error() != "sold out" {
			t.Errorf("an error of decide: %v", err)
		}
		other := verPlain.Change("l", verNone, func(l verLot) (verLot, error) { l.ID = "q"; return l, nil })
		_, _, err := other.Run(t.Context(), db)
		embErr(t, err, errEmbRefused)
		gone := verPlain.Change("q", verNone, func(l verLot) (verLot, error) { return l, nil })
		_, _, err = gone.Run(t.Context(), db)
		embErr(t, err, model.ErrNotFound)
		check := verPlain.Checks()[0]
		bad, err := check.All(t.Context(), db)
		if got := fmt.Sprint(bad); err != nil || got != "[lots 'n': version is of type null lots 's': version is of type string]" {
			t.Errorf("found %s, %v", got, err)
		}
		mends := check.Mend(bad)
		mustRun(t, db, mends, mends)
		modeltest.WantIndexed(t, db, mends.Steps[0], model.IDIndex)
		if bad, err := check.All(t.Context(), db); err != nil || len(bad) != 0 {
			t.Errorf("found after mending: %v, %v", bad, err)
		}
		modeltest.WantIndexed(t, db, verTokens.Take("l", "qty", 1, oid(9)), model.IDIndex)
	}, modeltest.WithMonitor(m))
	for _, c := range []model.Change[verLot]{verPlain.Change("", verNone, nil), verPlain.Change("l", oid(1), nil), verTokens.ChangeBy("l", verNone, nil)} {
		embErr(t, c.Err, errEmbRefused)
	}
}

func TestVersionedDeclarations(t *testing.T) {
	type odd struct {
		ID   string  `bson:"_id"`
		I    int     `bson:"i"`
		N    int32   `bson:"n"`
		P    *int64  `bson:"p"`
		L    []int64 `bson:"l,omitempty"`
		Nil  []bson.ObjectID
		Deep struct {
			V   int64           `bson:"v"`
			Ops []bson.ObjectID `bson:"ops,omitempty"`
		} `bson:"deep"`
	}
	odds := model.NewCollection[odd, string]("odds")
	spec := func(s embed.VersionedSpec) func() { return func() { embed.NewVersioned(odds, s) } }
	for reason, f := range map[string]func(){
		"no such field": spec(embed.VersionedSpec{}), "a narrow number": spec(embed.VersionedSpec{Version: "n"}), "a number or null": spec(embed.VersionedSpec{Version: "p"}),
		"an array": spec(embed.VersionedSpec{Version: "l"}),
		"the _id":  spec(embed.VersionedSpec{Version: "_id"}), "tokens of another type": spec(embed.VersionedSpec{Version: "i", Tokens: "l"}),
		"tokens stored as null": spec(embed.VersionedSpec{Version: "i", Tokens: "nil"}), "no such tokens": spec(embed.VersionedSpec{Version: "i", Tokens: "ops"}),
		"a negative Keep": spec(embed.VersionedSpec{Version: "i", Keep: -1}), "no collection": func() { embed.NewVersioned[odd, string](nil, embed.VersionedSpec{}) },
	} {
		t.Run(reason, func(t *testing.T) {
			if e := catch(t, f); e == nil || e.Remedy == "" {
				t.Errorf("panicked with %v", e)
			}
		})
	}
	ints := embed.NewVersioned(odds, embed.VersionedSpec{Version: "i"})
	deep := embed.NewVersioned(odds, embed.VersionedSpec{Version: "deep.v", Tokens: "deep.ops"})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(ints.Insert(odd{ID: "i"}, oid(1))), model.NewPlan(deep.Insert(odd{ID: "d"}, oid(1))),
			model.NewPlan(ints.Replace(odd{ID: "i", I: int(verFirst(oid(1))), N: 5}, verNone)), model.NewPlan(deep.Guarded("d", d("n", 0), d("$inc", d("n", 5)), oid(2))))
		i, err := odds.ByID("i").One(t.Context(), db)
		e, err2 := odds.ByID("d").One(t.Context(), db)
		if err := errors.Join(err, err2); err != nil || int64(i.I) != verFirst(oid(1))+1 || i.N != 5 || e.Deep.V != verFirst(oid(1))+1 || e.N != 5 || len(e.Deep.Ops) != 2 {
			t.Errorf("%+v, %+v, %v", i, e, err)
		}
	})
}

// What decide writes into a document that is a map, its version and its tokens too, changes nothing of what was read.
func TestVersionedChangeOfMaps(t *testing.T) {
	maps := model.NewCollection[bson.M, string]("maps")
	versions := embed.NewVersioned(maps, embed.VersionedSpec{Tokens: "ops"})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := versions.Insert(bson.M{"_id": "a", "n": int64(0)}, oid(1)).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			op := bson.NewObjectID()
			for range 2 { // the second time it is applied already
				change := versions.Change("a", op, func(doc bson.M) (bson.M, error) {
					doc["n"] = doc["n"].(int64) + 1
					doc["version"], doc["ops"] = int64(70), bson.A{}
					return doc, nil
				})
				change.Attempts = 1
				if _, _, err := change.Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			doc, err := maps.ByID("a").One(t.Context(), db)
			if err != nil || doc["n"] != int64(i+1) || doc["version"] != verFirst(oid(1))+int64(i+1) || len(doc["ops"].(bson.A)) != i+2 {
				t.Errorf("%v, %v", doc, err)
			}
			by := versions.ChangeBy("a", bson.NewObjectID(), func(doc bson.M) (bson.D, error) {
				doc["version"] = int64(70)
				return bson.D{{Key: "$set", Value: bson.D{{Key: "by", Value: i}}}}, nil
			})
			by.Attempts = 1
			if i == 2 {
				if _, _, err := by.Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A version is counted up without another change, so that whoever read the document before finds another version.
func TestVersionedTouch(t *testing.T) {
	op := bson.NewObjectID()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if err := verStore(ctx, db, verLot{ID: "l", Qty: 2, Version: 1}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			write model.Write
			want  string
			err   error
		}{
			{verPlain.Update("l", 1, nil, verNone), "qty 2 version 2", nil},
			{verPlain.Update("l", 1, nil, verNone), "qty 2 version 2", embed.ErrVersion},
			{verPlain.Update("l", 1, d("$set", d("qty", 3)), verNone), "qty 2 version 2", embed.ErrVersion},
			{verTokens.Update("l", 2, nil, op), "qty 2 version 3 1 ops", nil},
			{verTokens.Update("l", 2, nil, op), "qty 2 version 3 1 ops", nil},
			{verPlain.Update("gone", 1, nil, verNone), "qty 2 version 3 1 ops", model.ErrNotFound},
			{verPlain.Update("l", math.MaxInt64, nil, verNone), "qty 2 version 3 1 ops", new(model.ValueError)},
			{verPlain.Update("l", 3, nil, op), "qty 2 version 3 1 ops", new(model.ValueError)},
		} {
			_, err := c.write.Run(ctx, db)
			var refused *model.ValueError
			if errors.As(c.err, &refused) != errors.As(err, &refused) || refused == nil && !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.write, err, c.err)
			}
			if got := verShow(t, db); got != c.want {
				t.Errorf("%s: stored %s, want %s", c.write, got, c.want)
			}
		}
	})
}

// A change that finds its token says so: nothing was left to do.
func TestVersionedChangeAlready(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 5, Version: 7}); err != nil {
			t.Fatal(err)
		}
		take := verTokens.Change("l", oid(1), func(l verLot) (verLot, error) {
			l.Qty--
			return l, nil
		})
		for _, already := range []bool{false, true} {
			_, r, err := take.Run(t.Context(), db)
			if err != nil || r.Already() != already {
				t.Errorf("already %v, want %v; error %v", r.Already(), already, err)
			}
		}
	})
}
