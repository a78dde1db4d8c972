package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
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

	verPlainStore, verTokenStore = storeOf(verPlain), storeOf(verTokens)
)

func verStore(ctx context.Context, db *mongo.Database, docs ...any) error {
	if _, err := db.Collection("lots").DeleteMany(ctx, bson.D{}); err != nil || len(docs) == 0 {
		return err
	}
	_, err := db.Collection("lots").InsertMany(ctx, docs)
	return err
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

		{"updated", lot(5, 7), verPlain.Update("l", 7, inc, verNone), "qty 6 version 8", nil, embed.ErrVersion},
		{"updated with a token", lot(5, 7), verTokens.Update("l", 7, inc, oid(1)), "qty 6 version 8 1 ops", nil, nil},
		{"updated from before versions", bare, verTokens.Update("l", 0, inc, oid(1)), "qty 6 version 1 1 ops", nil, nil},
		{
			reason: "updated in another version", before: lot(5, 6), write: verTokens.Update("l", 7, inc, oid(1)),
			after: "qty 5 version 6", err: embed.ErrVersion, again: embed.ErrVersion,
		},
		{
			reason: "the version updated", before: lot(5, 7),
			write: verPlain.Update("l", 7, d("$set", d("version", 3)), verNone),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{
			reason: "the tokens updated", before: lot(5, 7),
			write: verTokens.Update("l", 7, d("$unset", d("ops", 3)), oid(1)),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{
			reason: "renamed to the version", before: lot(5, 7),
			write: verPlain.Update("l", 7, d("$rename", d("qty", "version")), verNone),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{
			reason: "no operator", before: lot(5, 7), write: verPlain.Update("l", 7, d("qty", 3), verNone),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{
			reason: "the last version updated", before: lot(5, 7),
			write: verPlain.Update("l", math.MaxInt64, inc, verNone),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},

		{
			reason: "guarded", before: lot(3, 7),
			write: verPlain.Guarded("l", enough, d("$inc", d("qty", int32(-3))), verNone),
			after: "qty 0 version 8", err: nil, again: model.ErrGuard,
		},
		{
			reason: "guarded, and nothing to set", before: lot(3, 7), write: verTokens.Guarded("l", enough, nil, oid(1)),
			after: "qty 3 version 8 1 ops", err: nil, again: nil,
		},
		{
			reason: "guarded with a token", before: lot(9, 7),
			write: verTokens.Guarded("l", enough, d("$inc", d("qty", int32(-3))), oid(1)),
			after: "qty 6 version 8 1 ops", err: nil, again: nil,
		},
		{
			reason: "guarded from before versions", before: bare,
			write: verTokens.Guarded("l", enough, d("$inc", d("qty", int32(-3))), oid(1)),
			after: "qty 2 version 1 1 ops", err: nil, again: nil,
		},
		{
			reason: "the guard doesn't hold", before: lot(2, 7), write: verTokens.Guarded("l", enough, inc, oid(1)),
			after: "qty 2 version 7", err: model.ErrGuard, again: model.ErrGuard,
		},
		{
			reason: "guarded when it is gone", before: nil, write: verTokens.Guarded("l", enough, inc, oid(1)), after: "",
			err: model.ErrNotFound, again: model.ErrNotFound,
		},
		{
			reason: "without a guard", before: lot(2, 7), write: verPlain.Guarded("l", nil, inc, verNone),
			after: "qty 2 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{"taken", lot(5, 7), verTokens.Take("l", "qty", 5, oid(1)), "qty 0 version 8 1 ops", nil, nil},
		{
			reason: "more than there is taken", before: lot(5, 7), write: verTokens.Take("l", "qty", 6, oid(1)),
			after: "qty 5 version 7", err: model.ErrGuard, again: model.ErrGuard,
		},
		{
			reason: "given back", before: lot(5, 7),
			write: verTokens.Guarded("l", d("qty", d("$type", "number")), d("$inc", d("qty", 2)), oid(1)),
			after: "qty 7 version 8 1 ops", err: nil, again: nil,
		},
		{"nothing taken", lot(5, 7), verTokens.Take("l", "qty", 0, oid(1)), "qty 5 version 7", errEmbRefused, errEmbRefused},
		{
			reason: "taken from no field", before: lot(5, 7), write: verTokens.Take("l", "quantity", 1, oid(1)),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{
			reason: "taken from a list", before: lot(5, 7), write: verTokens.Take("l", "ops", 1, oid(1)),
			after: "qty 5 version 7", err: errEmbRefused, again: errEmbRefused,
		},
		{
			reason: "the last version, guarded", before: lot(5, math.MaxInt64), write: verPlain.Take("l", "qty", 1, verNone),
			after: fmt.Sprint("qty 5 version ", math.MaxInt64), err: errServer, again: errServer,
		},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
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

// verTaken takes one piece by a store's edit. A token names the request; the zero ObjectID doesn't.
func verTaken(
	ctx context.Context, db model.DB, store *model.Store[verLot, string], op bson.ObjectID,
) (model.Result, error) {
	if !op.IsZero() {
		ctx = model.WithToken(ctx, op)
	}
	_, r, err := store.Edit("l", func(l *verLot) error {
		if l.Qty == 0 {
			return errSoldOut
		}
		l.Qty--
		return nil
	}).Run(ctx, db)
	return r, err
}

var errSoldOut = errors.New("sold out")

// The check finds versions that aren't numbers, and mends them.
func TestVersionedChecks(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 1, Version: 4}, d("_id", "n", "version", nil),
			d("_id", "s", "version", "x")); err != nil {
			t.Fatal(err)
		}
		check := verPlain.Checks()[0]
		bad, err := check.All(t.Context(), db)
		if got := fmt.Sprint(bad); err != nil ||
			got != "[lots 'n': version is of type null lots 's': version is of type string]" {
			t.Errorf("found %s, %v", got, err)
		}
		mends := check.Mend(bad)
		mustRun(t, db, mends, mends)
		modeltest.WantIndexed(t, db, mends.Steps[0], model.IDIndex)
		if bad, err := check.All(t.Context(), db); err != nil || len(bad) != 0 {
			t.Errorf("found after mending: %v, %v", bad, err)
		}
		modeltest.WantIndexed(t, db, verTokens.Take("l", "qty", 1, oid(9)), model.IDIndex)
	})
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
		"no such field": spec(embed.VersionedSpec{}), "a narrow number": spec(embed.VersionedSpec{Version: "n"}),
		"a number or null":       spec(embed.VersionedSpec{Version: "p"}),
		"an array":               spec(embed.VersionedSpec{Version: "l"}),
		"the _id":                spec(embed.VersionedSpec{Version: "_id"}),
		"tokens of another type": spec(embed.VersionedSpec{Version: "i", Tokens: "l"}),
		"tokens stored as null":  spec(embed.VersionedSpec{Version: "i", Tokens: "nil"}),
		"no such tokens":         spec(embed.VersionedSpec{Version: "i", Tokens: "ops"}),
		"a negative Keep":        spec(embed.VersionedSpec{Version: "i", Keep: -1}),
		"no collection":          func() { embed.NewVersioned[odd, string](nil, embed.VersionedSpec{}) },
	} {
		t.Run(reason, func(t *testing.T) {
			if e := catch(t, f); e == nil || e.Remedy == "" {
				t.Errorf("panicked with %v", e)
			}
		})
	}
	ints := embed.NewVersioned(odds, embed.VersionedSpec{Version: "i"})
	deep := embed.NewVersioned(odds, embed.VersionedSpec{Version: "deep.v", Tokens: "deep.ops"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		byInts, byDeep := model.NewStore(model.New("odds", ints), odds), model.NewStore(model.New("odds", deep), odds)
		ran := func(c model.ChangeOf[model.Stored[odd]]) odd {
			s, _, err := c.Run(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return s.Doc
		}
		i, e := ran(byInts.Insert(odd{ID: "i"})), ran(byDeep.Insert(odd{ID: "d"}))
		firstI, firstE := i.I, e.Deep.V
		i.N = 5
		i = ran(byInts.Replace(i))
		mustRun(t, db, model.NewPlan(deep.Guarded("d", d("n", 0), d("$inc", d("n", 5)), oid(2))))
		e, err := odds.ByID("d").One(t.Context(), db)
		if err != nil || firstI == 0 || i.I != firstI+1 || i.N != 5 || firstE == 0 || e.Deep.V != firstE+1 ||
			e.N != 5 || len(e.Deep.Ops) != 2 {
			t.Errorf("%+v, %+v, %v", i, e, err)
		}
	})
}

// A version is counted up without another change, so that whoever read the document before finds another version.
func TestVersionedTouch(t *testing.T) {
	op := bson.NewObjectID()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
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

// What the comments promise of indexes, beside TestEmbeddedCostsAndIndexes: a versioned document is written by _id.
func TestVersionedIndexed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var all []any
		for i := range 2000 {
			all = append(all, verLot{ID: fmt.Sprint("l", i), Qty: 5, Version: 1})
		}
		if err := verStore(t.Context(), db, all...); err != nil {
			t.Fatal(err)
		}
		guard, less := d("qty", d("$gte", 3)), d("$inc", d("qty", int32(-3)))
		for _, c := range []struct {
			reason string
			query  any
		}{
			{"Versioned.Update", verTokens.Update("l7", 1, less, oid(1))},
			{"Versioned.Guarded", verTokens.Guarded("l7", guard, less, oid(1))},
			{"Versioned.Take", verTokens.Take("l7", "qty", 1, oid(1))},
		} {
			t.Run(c.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.query, model.IDIndex) })
		}
	})
}
