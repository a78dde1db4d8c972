package embed_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func storeOf(technique model.Technique) *model.Store[verLot, string] {
	return model.NewStore(model.New("lots", technique), verLots)
}

// A store makes the first version and counts it up, in transactions and without.
func TestVersionedStore(t *testing.T) {
	store := storeOf(embed.NewVersioned(verLots, embed.VersionedSpec{}))
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for name, transactions := range map[string]bool{"plain": false, "transactions": true} {
			t.Run(name, func(t *testing.T) { storeVersions(t, db, store, transactions) })
		}
	})
}

func storeVersions(t *testing.T, plain *mongo.Database, store *model.Store[verLot, string], transactions bool) {
	id := map[bool]string{true: "tx", false: "plain"}[transactions] // a soft deletion keeps the _id
	ctx, db, op := t.Context(), model.DB(plain), bson.NewObjectID()
	if transactions {
		modeltest.NeedTransactions(t, plain)
		var err error
		if db, err = model.WithTransactions(ctx, plain); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err := store.Insert(verLot{ID: id, Qty: 1}).Run(model.WithToken(ctx, op), db)
	first := s.Doc.Version
	if err != nil || first <= 0 || first == verFirst(op) { // the request's token can name several actions
		t.Fatalf("%+v, %v", s.Doc, err)
	}
	read := s.Doc
	read.Qty = 9
	for _, c := range []struct {
		change  model.Change[model.Stored[verLot]]
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

// A token of a run that ended without an answer says that the document is written already. In a transaction none is stored.
func TestVersionedStoreTokens(t *testing.T) {
	store, op := storeOf(verTokens), bson.NewObjectID()
	more := store.Edit("l", func(l *verLot) error { l.Qty++; return nil })
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
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
		modeltest.NeedTransactions(t, db)
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
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 1, Version: 1}, bson.D{{Key: "_id", Value: "odd"}, {Key: "version", Value: "x"}}); err != nil {
			t.Fatal(err)
		}
		s, _, err := store.Set("l", bson.D{{Key: "qty", Value: int32(2)}}).Run(t.Context(), db)
		if err != nil || s.Doc.Version != 1 || s.Doc.Qty != 2 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		s, _, err = store.Set("l", bson.D{{Key: "qty", Value: int32(3)}, {Key: "ops", Value: []bson.ObjectID{oid(1)}}}).Run(t.Context(), db)
		if err != nil || s.Doc.Version != 2 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		_, _, err = store.Set("odd", bson.D{{Key: "qty", Value: int32(3)}}).Run(t.Context(), db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "version" {
			t.Errorf("a version that isn't a number: %v", err)
		}
	})
}
