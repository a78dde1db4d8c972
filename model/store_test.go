package model_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	writer struct {
		ID    string `bson:"_id"`
		Name  string `bson:"name"`
		Notes int64  `bson:"notes"`
		V     int64  `bson:"v,omitempty"`
	}
	note struct {
		ID     string `bson:"_id"`
		Writer string `bson:"writer,omitempty"`
		By     string `bson:"by"`
		Text   string `bson:"text"`
	}
)

var (
	writers    = model.NewCollection[writer, string]("writers")
	diaryNotes = model.NewCollection[note, string]("notes")
	noteCount  = counter.New(diaryNotes, "writer", writers, counter.Spec{Count: "notes"})
	noteBy     = copies.New(writers, diaryNotes, copies.Spec{
		KeyPath: "writer", Fields: []copies.Field{{From: "name", To: "by"}},
	})
	noteRef = parentref.New(diaryNotes, "writer", writers, parentref.Spec{MustExist: true})

	diary       = model.New("diary", noteCount, noteBy, noteRef)
	writerStore = model.NewStore(diary, writers)
	noteStore   = model.NewStore(diary, diaryNotes)
)

func TestStoreDeclarations(t *testing.T) {
	silent := model.NewParts(nil, nil, nil, func() []model.Footprint { return model.Owns.In("writers", "v") })
	whole := model.NewParts(nil, nil, nil, func() []model.Footprint { return model.Owns.In("writers", model.Whole) }).
		WithReactions(func() []model.Reaction { return nil })
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("a technique that can't take part", func() { model.NewStore(model.New("m", silent), writers) },
			"model.Parts writes the documents", "NewStore of writers", "methods of the technique"),
		testkit.Wrong("a technique that can't take part, and says what to use",
			func() { model.NewStore(model.New("m", silent.WithoutReactions("Lamp.Rub")), writers) },
			"model.Parts writes the documents", "NewStore of writers", "Lamp.Rub"),
		testkit.Wrong("a technique that owns the documents", func() { model.NewStore(model.New("m", whole), writers) },
			"owns all documents of writers", "NewStore of writers", "its methods"),
		testkit.Wrong("no model", func() { model.NewStore(nil, writers) }, "nil", "NewStore", ""),
	)
	model.NewStore(model.New("m", silent), diaryNotes) // which it doesn't write
}

// What is refused before a command is sent.
func TestStoreRefuses(t *testing.T) {
	monitor := mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor).Database("diary")
	for reason, c := range map[string]struct {
		change model.ChangeOf[model.Stored[note]]
		field  string
	}{
		"an insert of an owned path": {noteStore.Insert(note{ID: "a", By: "b"}), "by"},
		"a set of an owned path":     {noteStore.Set("a", bson.D{{Key: "by", Value: "b"}}), "by"},
		"a set of the _id":           {noteStore.Set("a", bson.D{{Key: "_id", Value: "b"}}), "_id"},
		"a set of an unknown path":   {noteStore.Set("a", bson.D{{Key: "x", Value: "b"}}), "path"},
		"a set of another type":      {noteStore.Set("a", bson.D{{Key: "text", Value: 1}}), "text"},
		"a set of nothing":           {noteStore.Set("a", nil), "fields"},
		"no function":                {noteStore.Edit("a", nil), "edit"},
		"no _id":                     {noteStore.Insert(note{}), "_id"},
		"an empty _id":               {noteStore.Delete(""), "_id"},
	} {
		_, _, err := c.change.Run(t.Context(), db)
		var value *model.ValueError
		if !errors.As(err, &value) || value.Field != c.field {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if sent := monitor.Commands(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
}

func TestStoreWrites(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx := t.Context()
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		ok := func(s model.Stored[note], _ model.Result, err error) note {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
			return s.Doc
		}
		for _, w := range []writer{{ID: "ann", Name: "Ann"}, {ID: "bob", Name: "Bob"}} {
			if _, _, err := writerStore.Insert(w).Run(ctx, tx); err != nil {
				t.Fatal(err)
			}
		}
		if n := ok(noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(ctx, tx)); n.By != "Ann" {
			t.Errorf("inserted %+v", n)
		}
		monitor.Reset()
		if n := ok(noteStore.Edit("n", func(*note) error { return nil }).Run(ctx, tx)); n.Text != "x" ||
			len(monitor.Commands()) > 2+tenanted {
			t.Errorf("an edit of nothing: %+v, %v", n, monitor.Commands())
		}
		if n := ok(noteStore.Replace(note{ID: "n", Writer: "bob", Text: "y"}).Run(ctx, tx)); n.By != "Bob" || n.Text != "y" {
			t.Errorf("replaced %+v", n)
		}
		if n := ok(noteStore.Edit("n", func(n *note) error { n.Writer = ""; return nil }).Run(ctx, tx)); n.By != "" {
			t.Errorf("without a writer %+v", n)
		}
		_, _, err = noteStore.Edit("n", func(n *note) error { n.ID = "m"; return nil }).Run(ctx, tx)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "_id" {
			t.Errorf("another _id: %v", err)
		}
		if _, _, err := noteStore.Set("n", bson.D{{Key: "writer", Value: "cy"}}).
			Run(ctx, tx); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a missing writer: %v", err)
		}
		if _, _, err := noteStore.Delete("m").Run(ctx, tx); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a missing note: %v", err)
		}
		ok(noteStore.Set("n", bson.D{{Key: "writer", Value: "ann"}}).Run(ctx, tx))
		if w, err := writers.ByID("ann").One(ctx, tx); err != nil || w.Notes != 1 {
			t.Errorf("%+v, %v", w, err)
		}
		if n := ok(noteStore.Delete("n").Run(ctx, tx)); n.Text != "y" {
			t.Errorf("deleted %+v", n)
		}
		if w, err := writers.ByID("ann").One(ctx, tx); err != nil || w.Notes != 0 {
			t.Errorf("%+v, %v", w, err)
		}
	}, monitor)
}

// tenanted is how many commands more a run as a tenant may send.
var tenanted = map[bool]int{true: 1}[tenancy.On]

// Without transactions, references, copies and counts are kept too.
func TestStorePlain(t *testing.T) {
	plain := model.New("plain", noteBy, noteRef)
	owners, store := model.NewStore(plain, writers), model.NewStore(plain, diaryNotes)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, _, err := noteStore.Insert(note{ID: "n", Writer: "ann"}).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Error(err)
		}
		if _, _, err := store.Insert(note{ID: "n", Writer: "ann"}).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Error(err)
		}
		_, _, err := owners.Insert(writer{ID: "ann", Name: "Ann"}).Run(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := store.Insert(note{ID: "n", Writer: "ann"}).Run(ctx, db)
		if err != nil || s.Doc.By != "Ann" {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		if _, _, err := noteStore.Insert(note{ID: "o", Writer: "ann"}).Run(ctx, db); err != nil {
			t.Error(err)
		}
		if w, err := writers.ByID("ann").One(ctx, db); err != nil || w.Notes != 1 {
			t.Errorf("%+v, %v", w, err)
		}
		if _, _, err := owners.Set("ann", bson.D{{Key: "name", Value: "Anna"}}).Run(ctx, db); err != nil {
			t.Error(err)
		}
		if n, err := diaryNotes.ByID("n").One(ctx, db); err != nil || n.By != "Anna" {
			t.Errorf("%+v, %v", n, err)
		}
	})
}

// A change in a transaction is cut at each of its writes, and run again.
func TestStoreCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			tx, err := model.WithTransactions(ctx, db)
			if err == nil {
				_, _, err = writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(ctx, tx)
			}
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			tx, err := model.WithTransactions(ctx, db)
			if err == nil {
				_, _, err = noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(ctx, tx)
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			w, err := writers.ByID("ann").One(context.Background(), db)
			if err != nil || w.Notes != 1 {
				t.Errorf("%+v, %v", w, err)
			}
		},
	})
}

// A Set removes fields of any type, with and without a read.
func TestStoreSetRemoves(t *testing.T) {
	type tree struct {
		ID   string   `bson:"_id"`
		Name string   `bson:"name"`
		Tags []string `bson:"tags,omitempty"`
		N    int64    `bson:"n,omitempty"`
		Any  any      `bson:"any,omitempty"`
	}
	trees := model.NewCollection[tree, string]("trees")
	looks := model.NewParts(nil, nil, nil, nil).WithDocs(trees.Docs()).WithReactions(func() []model.Reaction {
		return []model.Reaction{{Collection: "trees", Paths: []string{model.Whole}}}
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for id, technique := range map[string]model.Technique{"plain": model.Entity(trees), "read": looks} {
			store := model.NewStore(model.New("trees", technique), trees)
			if _, _, err := store.Insert(tree{ID: id, Name: "oak", Tags: []string{"a"}, N: 1, Any: "x"}).
				Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			s, _, err := store.Set(id, bson.D{
				{Key: "tags", Value: bson.RawValue{}}, {Key: "n", Value: bson.RawValue{}}, {Key: "any", Value: bson.RawValue{}},
			}).Run(t.Context(), db)
			if problem := mongotest.Diff(tree{ID: id, Name: "oak"}, s.Doc); err != nil || problem != "" {
				t.Errorf("%s: %v %s", id, err, problem)
			}
		}
	})
}
