package embed_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func storeOf(technique model.Technique) *model.Store[verLot, string] {
	return model.NewStore(model.New("lots", technique), verLots)
}

// A store makes the first version and counts it up, in transactions and without.
func TestVersionedStore(t *testing.T) {
	store := storeOf(embed.NewVersioned(verLots, embed.VersionedSpec{}))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for name, transactions := range map[string]bool{"plain": false, "transactions": true} {
			t.Run(name, func(t *testing.T) { storeVersions(t, db, store, transactions) })
		}
	})
}

func storeVersions(t *testing.T, plain *mongo.Database, store *model.Store[verLot, string], transactions bool) {
	id := map[bool]string{true: "tx", false: "plain"}[transactions] // a soft deletion keeps the _id
	ctx, db, op := t.Context(), model.DB(plain), bson.NewObjectID()
	if transactions {
		mongotest.Need(t, plain, mongotest.Transactions)
		var err error
		if db, err = model.WithTransactions(ctx, plain); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err := store.Insert(verLot{ID: id, Qty: 1}).Run(model.WithToken(ctx, op), db)
	first := s.Doc.Version
	if err != nil || first <= 0 || first == core.FirstVersion(op) { // the request's token can name several actions
		t.Fatalf("%+v, %v", s.Doc, err)
	}
	read := s.Doc
	read.Qty = 9
	for _, c := range []struct {
		change  model.ChangeOf[model.Stored[verLot]]
		more    int64
		qty     int32
		refused bool
	}{
		{store.Set(id, bson.D{{Key: "qty", Value: int32(2)}}), 1, 2, false},
		{store.Set(id, bson.D{{Key: "qty", Value: int32(2)}}), 1, 2, false}, // changes nothing
		{store.Replace(read), 1, 2, true},
		{store.Set(id, bson.D{{Key: "qty", Value: int32(3)}, {Key: "version", Value: first}}), 1, 2, true},
		{store.Set(id, bson.D{{Key: "qty", Value: int32(3)}, {Key: "version", Value: first + 1}}), 2, 3, false},
		{store.Edit(id, func(l *verLot) error { l.Qty++; return nil }), 3, 4, false},
		{store.Edit(id, func(l *verLot) error { l.Version++; return nil }), 3, 4, true},
		{store.Replace(verLot{ID: id, Qty: 5, Version: first + 3}), 4, 5, false},
	} {
		_, _, err := c.change.Run(ctx, db)
		if c.refused != errors.Is(err, embed.ErrVersion) || !c.refused && err != nil {
			t.Errorf("%s: %v", c.change.Name, err)
		}
		if l, err := verLots.ByID(id).One(ctx, db); err != nil || l.Version != first+c.more || l.Qty != c.qty {
			t.Errorf("%s: stored %+v, %v, want version %d more than %d", c.change.Name, l, err, c.more, first)
		}
	}
	if _, _, err := store.Delete(id).Run(ctx, db); err != nil {
		t.Error(err)
	}
	_, _, err = store.Insert(verLot{ID: "m", Version: 1}).Run(ctx, db)
	if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "version" {
		t.Errorf("a new document with a version: %v", err)
	}
}

// What a store stores of a lot that was read in a version: as it was read, in another one, or never in one. A second
// run with the request's token changes nothing.
func TestVersionedStoreWrites(t *testing.T) {
	lot := func(qty int32, version int64, ops ...bson.ObjectID) verLot { return verLot{"l", qty, version, ops} }
	bare, null := d("_id", "l", "qty", int32(5)), d("_id", "l", "qty", int32(5), "version", nil)
	in := func(version any) *model.Store[verLot, string] {
		return verPlainStore.Where(d("version", version), embed.ErrVersion)
	}
	refused := new(model.ValueError)
	cases := []struct {
		reason string
		before any
		change model.ChangeOf[model.Stored[verLot]]
		after  string
		err    error
		again  error
	}{
		{"replaced", lot(5, 7), verPlainStore.Replace(lot(6, 7)), "qty 6 version 8", nil, nil},
		{
			reason: "in another version", before: lot(5, 8), change: verPlainStore.Replace(lot(6, 7)), after: "qty 5 version 8",
			err: embed.ErrVersion, again: model.ErrStale,
		},
		{"when it is gone", nil, verPlainStore.Replace(lot(6, 7)), "", model.ErrNotFound, model.ErrNotFound},
		{"with a token", lot(5, 7, oid(1)), verTokenStore.Replace(lot(6, 7)), "qty 6 version 8 2 ops", nil, nil},
		{
			reason: "with as many tokens as are kept", before: lot(5, 7, oid(1), oid(2), oid(3)),
			change: verTokenStore.Replace(lot(6, 7)), after: "qty 6 version 8 3 ops", err: nil, again: nil,
		},
		{"from before versions", bare, verPlainStore.Replace(lot(6, 0)), "qty 6 version 1", nil, nil},
		{"from before versions, a null", null, verPlainStore.Replace(lot(6, 0)), "qty 6 version 1", nil, nil},
		{
			reason: "from before, by somebody else since", before: lot(5, 1), change: verPlainStore.Replace(lot(6, 0)),
			after: "qty 5 version 1", err: embed.ErrVersion, again: embed.ErrVersion,
		},
		{
			reason: "the last version", before: lot(5, math.MaxInt64), change: verPlainStore.Replace(lot(6, math.MaxInt64)),
			after: fmt.Sprint("qty 5 version ", math.MaxInt64), err: refused, again: refused,
		},
		{
			reason: "a version below 0", before: lot(5, 1), change: verPlainStore.Replace(lot(6, -1)), after: "qty 5 version 1",
			err: embed.ErrVersion, again: embed.ErrVersion,
		},
		{"without an id", lot(5, 7), verPlainStore.Replace(verLot{}), "qty 5 version 7", refused, refused},
		{
			reason: "under another id", before: lot(5, 7),
			change: verPlainStore.Edit("l", func(l *verLot) error { l.ID = "q"; return nil }),
			after:  "qty 5 version 7", err: refused, again: refused,
		},
		{"deleted", lot(5, 7), in(7).Delete("l"), "", nil, model.ErrNotFound},
		{"deleted in another version", lot(5, 8), in(7).Delete("l"), "qty 5 version 8", embed.ErrVersion, embed.ErrVersion},
		{"deleted from before versions", bare, in(nil).Delete("l"), "", nil, model.ErrNotFound},
		{"inserted over another", lot(4, 9), verPlainStore.Insert(lot(5, 0)), "qty 4 version 9", errDuplicate, errDuplicate},
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
				ctx := model.WithToken(t.Context(), oid(9))
				for _, want := range []error{c.err, c.again} {
					_, _, err := c.change.Run(ctx, db)
					switch {
					case want == refused && errors.As(err, new(*model.ValueError)):
					case want == errDuplicate && mongo.IsDuplicateKeyError(err):
					case !errors.Is(err, want):
						t.Errorf("error %v, want %v", err, want)
					}
					if got := verShow(t, db); got != c.after {
						t.Errorf("stored %s, want %s", got, c.after)
					}
				}
			})
		}
	})
}

// Two customers who take the last one at the same time write the same document in the same version: the second is told
// that it is stale, with tokens too.
func TestVersionedSameNumber(t *testing.T) {
	for _, store := range []*model.Store[verLot, string]{verPlainStore, verTokenStore} {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 2, Version: 1}); err != nil {
				t.Fatal(err)
			}
			less := verLot{ID: "l", Qty: 1, Version: 1}
			if _, _, err := store.Replace(less).Run(model.WithToken(t.Context(), oid(1)), db); err != nil {
				t.Fatal(err)
			}
			if _, _, err := store.Replace(less).
				Run(model.WithToken(t.Context(), oid(2)), db); !errors.Is(err, embed.ErrVersion) {
				t.Errorf("the second takes the first one's write for its own: %v", err)
			}
		})
	}
}

// A token of a run that ended without an answer says that the document is written already. In a transaction none is
// stored.
func TestVersionedStoreTokens(t *testing.T) {
	store, op := storeOf(verTokens), bson.NewObjectID()
	more := store.Edit("l", func(l *verLot) error { l.Qty++; return nil })
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := model.WithToken(t.Context(), op)
		if err := verStore(ctx, db, verLot{ID: "l", Qty: 1, Version: 1}); err != nil {
			t.Fatal(err)
		}
		for _, already := range []bool{false, true} {
			s, r, err := more.Run(ctx, db)
			if err != nil || r.Already() != already || s.Doc.Qty != 2 || s.Doc.Version != 2 || len(s.Doc.Ops) != 1 {
				t.Errorf("%+v, already %v, %v", s.Doc, r.Already(), err)
			}
		}
		for range 5 {
			if _, _, err := more.Run(t.Context(), db); err != nil {
				t.Error(err)
			}
		}
		l, err := verLots.ByID("l").One(ctx, db)
		if err != nil || l.Qty != 7 || len(l.Ops) != 3 || l.Version != 7 {
			t.Errorf("%+v, %v", l, err)
		}
		mongotest.Need(t, db, mongotest.Transactions)
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err := more.Run(t.Context(), tx); err != nil || s.Doc.Qty != 8 || len(s.Doc.Ops) != 3 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
	})
}

// The paths of Uncounted don't count.
func TestVersionedStoreUncounted(t *testing.T) {
	store := storeOf(embed.NewVersioned(verLots, embed.VersionedSpec{Uncounted: []string{"qty"}}))
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 1, Version: 1}, bson.D{
			{Key: "_id", Value: "odd"}, {Key: "version", Value: "x"},
		}); err != nil {
			t.Fatal(err)
		}
		s, _, err := store.Set("l", bson.D{{Key: "qty", Value: int32(2)}}).Run(t.Context(), db)
		if err != nil || s.Doc.Version != 1 || s.Doc.Qty != 2 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		_, _, err = store.Replace(verLot{ID: "l", Qty: 1, Version: 1}).Run(t.Context(), db) // as it was read before
		if value := (*model.ValueError)(nil); !errors.Is(err, model.ErrStale) ||
			!errors.As(err, &value) || value.Field != "qty" {
			t.Errorf("a replacement that undoes another's change: %v", err)
		}
		s, _, err = store.Replace(verLot{ID: "l", Qty: 2, Version: 1, Ops: []bson.ObjectID{oid(3)}}).Run(t.Context(), db)
		if err != nil || s.Doc.Version != 2 || s.Doc.Qty != 2 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		s, _, err = store.Set("l", bson.D{
			{Key: "qty", Value: int32(3)}, {Key: "ops", Value: []bson.ObjectID{oid(1)}},
		}).Run(t.Context(), db)
		if err != nil || s.Doc.Version != 3 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		_, _, err = store.Set("odd", bson.D{{Key: "qty", Value: int32(3)}}).Run(t.Context(), db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "version" {
			t.Errorf("a version that isn't a number: %v", err)
		}
	})
}
