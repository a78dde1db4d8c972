package versions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
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
		want := []string{`{"_id":"a","n":3,"x":1,"first":"Ann","last":"Lee","v":3}`,
			`{"_id":"b","first":"Bob","n":2,"v":3}`}
		if got := storedDocs(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v", got)
		}
		if _, _, err := peopleStore.Edit("z", inc).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("none: %v", err)
		}
		boom := errors.New("boom")
		failing := peopleStore.Edit("a", func(*personV3) error { return boom })
		if _, _, err := failing.Run(ctx, db); !errors.Is(err, boom) {
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
		setTag := func(p *personV3) error { p.Tags = map[string]string{"$x": "1"}; return nil }
		if _, _, err := peopleStore.Edit("a", setTag).Run(ctx, db); !errors.As(err, &bad) {
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
		if got := storedDocs(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v", got)
		}
	})
}

// What is written back, and what is left alone.
func TestUpgrade(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	cases := []struct{ reason, before, after, err string }{
		{"fields of the old type go, new ones come", `{"_id":"a","name":"Ann Lee","phone":"1","n":1}`,
			`{"_id":"a","n":1,"first":"Ann","last":"Lee","phones":[{"kind":"home","number":"1"}],` +
				`"tags":{"a":"2","b":"3","c":"1","d":"4"},"v":3}`, ""},
		{"from the middle of the chain", `{"_id":"a","v":2,"first":"Ann","phone":"1","n":1}`,
			`{"_id":"a","v":3,"first":"Ann","n":1,"phones":[{"kind":"home","number":"1"}],` +
				`"tags":{"a":"2","b":"3","c":"1","d":"4"}}`, ""},
		{
			reason: "the newest stays",
			before: `{"_id":"a","v":3,"first":"Ann","n":1,"name":"left over"}`,
			after:  `{"_id":"a","v":3,"first":"Ann","n":1,"name":"left over"}`,
			err:    "",
		},
		{
			reason: "unknown fields stay",
			before: `{"_id":"a","x":{"y":[1,{"z":2}]},"name":"Ann","n":1,"w":null}`,
			after:  `{"_id":"a","x":{"y":[1,{"z":2}]},"n":1,"w":null,"first":"Ann","v":3}`,
			err:    "",
		},
		{
			reason: "a long stays a long",
			before: `{"_id":"a","name":"Ann","n":{"$numberLong":"1"}}`,
			after:  `{"_id":"a","n":1,"first":"Ann","v":3}`, err: "",
		},
		{
			reason: "an empty field that the type leaves out goes with the others",
			before: `{"_id":"a","name":"Ann","phone":"","n":1}`, after: `{"_id":"a","n":1,"first":"Ann","v":3}`,
			err: "",
		},
		{
			reason: "and stays where the newest type has it", before: `{"_id":"a","name":"Ann","home":null,"n":1}`,
			after: `{"_id":"a","home":null,"n":1,"first":"Ann","v":3}`,
			err:   "",
		},
		{
			reason: "below a field, unknown ones stay too",
			before: `{"_id":"a","name":"Ann","home":{"street":"S","city":"C","geo":[1,2]},"n":1}`,

			after: `{"_id":"a","home":{"city":"C","geo":[1,2],"lane":"S"},"n":1,"first":"Ann","v":3}`,
			err:   "",
		},
		{"in the elements of an array too", `{"_id":"a","name":"Ann","n":1,"lines":[{"k":"x","u":1},{"w":2,"k":"yy"}]}`,
			`{"_id":"a","n":1,"lines":[{"k":"x","u":1,"l":1},{"w":2,"k":"yy","l":2}],"first":"Ann","v":3}`, ""},
		{"elements go where nothing is lost", `{"_id":"a","name":"Ann","n":1,"lines":[{"k":"drop"},{"k":"x"}]}`,
			`{"_id":"a","n":1,"lines":[{"k":"x","l":1}],"first":"Ann","v":3}`, ""},
		{
			reason: "elements go that have unknown fields",
			before: `{"_id":"a","name":"Ann","n":1,"lines":[{"k":"drop","u":1},{"k":"x"}]}`,
			after:  "", err: "lines would get more or fewer elements",
		},
		{
			reason: "all elements go that have unknown fields",
			before: `{"_id":"a","name":"Ann","n":1,"lines":[{"k":"drop","u":1}]}`,
			after:  "", err: "lines would be removed",
		},
		{
			reason: "an unknown field has a new field's name", before: `{"_id":"a","name":"Ann","n":1,"first":"other"}`,
			after: "", err: "first exists already",
		},
		{
			reason: "and so it is below",
			before: `{"_id":"a","name":"Ann","n":1,"home":{"street":"S","lane":"L"}}`,
			after:  "", err: "home.lane exists already",
		},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			store(t, db, c.before)
			w := versions.Upgrade(raw(t, c.before))
			var failed *schema.VersionError
			if c.err != "" {
				if !errors.As(w.Err, &failed) || !strings.Contains(w.Err.Error(), c.err) {
					t.Errorf("%s: %v", c.reason, w)
				}
				continue
			}
			for range 2 {
				if _, err := w.Run(t.Context(), db); err != nil {
					t.Fatalf("%s: %v", c.reason, err)
				}
				if got := storedDocs(t, db); got[0] != c.after {
					t.Errorf("%s: leaves\n%s, want\n%s", c.reason, got[0], c.after)
				}
			}
			was, errA := versions.Decode(raw(t, c.before))
			now, errB := people.ByID("a").One(t.Context(), db)
			if errA != nil || errB != nil || text(was) != text(now) && len(now.Tags) == 0 {
				t.Errorf("%s: is read as %v, %v, was as %v, %v", c.reason, now, errB, was, errA)
			}
		}
	})
	if got, want := versions.Upgrade(raw(t, `{"_id":"a","name":"Ann","n":1}`)).Cost(),
		(model.Cost{Commands: 1, Written: 1}); got.Commands != want.Commands || got.Written != want.Written {
		t.Errorf("costs %s", got)
	}
}

// A change beside the write makes it stale, whatever it is; a change of what the type doesn't know doesn't.
func TestUpgradeIsGuarded(t *testing.T) {
	const before = `{"_id":"a","name":"Ann Lee","n":1,"x":1}`
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct {
			reason, update string
			stale          bool
		}{
			{"nothing", `{"$set":{"n":1}}`, false},
			{"a field that is read", `{"$set":{"name":"Bob Lee"}}`, true},
			{"a field that isn't there yet", `{"$set":{"phone":"1"}}`, true},
			{"to null", `{"$set":{"phone":null}}`, true},
			{"to an array that has the value", `{"$set":{"name":["Ann Lee"]}}`, true},
			{"to nothing", `{"$unset":{"name":""}}`, true},
			{"an unknown field", `{"$set":{"x":2}}`, false},
			{"another unknown field", `{"$set":{"z":2}}`, false},
			{"the version, within the known", `{"$set":{"v":1}}`, true},
		} {
			store(t, db, before)
			w := versions.Upgrade(raw(t, before))
			save := versions.Save(raw(t, before), personV3{ID: "a", First: "New", N: 7})
			if _, err := db.Collection("people").UpdateByID(t.Context(), "a", raw(t, c.update)); err != nil {
				t.Fatal(err)
			}
			mid := storedDocs(t, db)
			_, err := w.Run(t.Context(), db)
			if errors.Is(err, model.ErrStale) != c.stale || err != nil && !c.stale {
				t.Errorf("%s: %v", c.reason, err)
			}
			if after := storedDocs(t, db); c.stale && after[0] != mid[0] {
				t.Errorf("%s: overwritten: %s", c.reason, after[0])
			}
			if _, err := save.Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
				t.Errorf("%s: a save after somebody's upgrade: %v", c.reason, err)
			}
		}
	})
}
