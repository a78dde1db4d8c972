package versions_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Inserts, saves and the edits of stores write the version, and what differs alone.
func TestSave(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		store(t, db, `{"_id":"a","name":"Ann Lee","n":1,"x":1}`)
		if _, err := people.Insert(personV3{ID: "b", First: "Bob", N: 2}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		inc := func(p *personV3) error { p.N++; return nil }
		for range 2 {
			if _, _, err := peopleStore.Edit("a", inc).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		if _, result, err := peopleStore.Edit("b", func(*personV3) error { return nil }).Run(ctx, db); err != nil ||
			len(result.Steps) != 0 {
			t.Errorf("an edit that changes nothing: %v, %v", result, err)
		}
		want := []string{`{"_id":"a","n":3,"x":1,"first":"Ann","last":"Lee","v":3}`, `{"_id":"b","first":"Bob","n":2,"v":3}`}
		if got := stored(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v", got)
		}
		if _, _, err := peopleStore.Edit("z", inc).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("none: %v", err)
		}
		boom := errors.New("boom")
		if _, _, err := peopleStore.Edit("a", func(*personV3) error { return boom }).Run(ctx, db); !errors.Is(err, boom) {
			t.Errorf("an edit that fails: %v", err)
		}
		var bad *model.ValueError
		if _, _, err := peopleStore.Edit("", inc).Run(ctx, db); !errors.As(err, &bad) {
			t.Errorf("no id: %v", err)
		}
		if _, _, err := peopleStore.Edit("a", func(p *personV3) error { p.ID = "c"; return nil }).
			Run(ctx, db); !errors.As(err, &bad) {
			t.Errorf("another id: %v", err)
		}
		if _, _, err := peopleStore.Edit("a", func(p *personV3) error { p.Tags = map[string]string{"$x": "1"}; return nil }).
			Run(ctx, db); !errors.As(err, &bad) {
			t.Errorf("a name that can't be stored: %v", err)
		}
		if w := versions.Save(bson.Raw{1}, personV3{}); !errors.As(w.Err, &bad) {
			t.Errorf("no BSON: %v", w)
		}
	})
}

// A newest type may hold the version's field: what it says there is never stored.
func TestVersionsOwnField(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	type own struct {
		ID string `bson:"_id"`
		V  int    `bson:"v"`
		N  int    `bson:"n"`
	}
	owns := model.NewCollection[own, string]("people")
	v := schema.NewVersions(owns, schema.VersionsSpec{Field: "v"}, schema.Upcast(func(p personV3) (own, error) {
		return own{ID: p.ID, N: p.N}, nil
	}))
	owned := model.NewStore(model.New("owns", v), owns)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		store(t, db, `{"_id":"a","first":"Ann","n":1}`)
		if _, err := owns.Insert(own{"b", 7, 2}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"a", "b"} {
			if _, _, err := owned.Edit(id, func(o *own) error { o.V = 9; o.N++; return nil }).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{`{"_id":"a","n":2,"v":2}`, `{"_id":"b","v":2,"n":3}`}
		if got := stored(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v", got)
		}
	})
}
