package counter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Every number follows every kind of write.
func TestCounterKeeps(t *testing.T) {
	testkit.Parallel(t)
	set, remove := fully.set, fully.volumes.Delete
	weigh := func(v volume, weight int64) volume {
		v.Meta.Weight = weight
		return v
	}
	v1 := weigh(volume{ID: "1", House: "a", Pages: 100, Price: price(10), Out: day(5)}, 3)
	v2 := weigh(volume{ID: "2", House: "a", Pages: 300, Price: price(30), Out: day(9)}, 4)
	one := house{
		ID: "a", Volumes: 1, Pages: 100, Weight: 3, Mean: counter.Average{Sum: 10, N: 1}, Each: 10,
		Least: 100, Most: 100, Cheap: 10, Latest: *day(5),
	}
	two := house{
		ID: "a", Volumes: 2, Pages: 400, Weight: 7, Mean: counter.Average{Sum: 40, N: 2}, Each: 20,
		Least: 100, Most: 300, Cheap: 10, Latest: *day(9),
	}
	second := house{
		ID: "b", Volumes: 1, Pages: 300, Weight: 4, Mean: counter.Average{Sum: 30, N: 1}, Each: 30,
		Least: 300, Most: 300, Cheap: 30, Latest: *day(9),
	}
	b := house{ID: "b"}
	for _, test := range []struct {
		reason string
		do     []change
		want   []house
	}{
		{"nothing", nil, []house{two, b}},
		{"the greatest moves", []change{set("2", testkit.E("house", "b"))}, []house{one, second}},
		{"the greatest is deleted", []change{remove("2")}, []house{one, b}},
		{"all are deleted", []change{remove("2"), remove("1")}, []house{{ID: "a"}, b}},
		{"a field that isn't counted", []change{set("1", testkit.E("title", "T"))}, []house{two, b}},
		{"a condition ceases to hold", []change{set("2", testkit.E("state", "draft"))}, []house{one, b}},
		{
			reason: "it holds again",
			do:     []change{set("2", testkit.E("state", "draft")), set("2", testkit.E("state", "done"))},
			want:   []house{two, b},
		},
		{"the reference is taken off", []change{set("2", testkit.E("house", nil))}, []house{one, b}},
		{"the greatest becomes the smallest", []change{set("2", testkit.E("pages", 50))}, []house{{
			ID: "a", Volumes: 2, Pages: 150, Weight: 7, Mean: two.Mean, Each: 20,
			Least: 50, Most: 100, Cheap: 10, Latest: *day(9),
		}, b}},
		{"a value is taken off, and a document is set whole", []change{
			set("1", testkit.E("price", nil), testkit.E("meta", weigh(volume{}, 9).Meta)),
			set("2", testkit.E("out", *day(1))),
		}, []house{{
			ID: "a", Volumes: 2, Pages: 400, Weight: 13, Mean: counter.Average{Sum: 30, N: 1}, Each: 30,
			Least: 100, Most: 300, Cheap: 30, Latest: *day(5),
		}, b}},
		{
			reason: "everything at once",
			do: []change{
				set("1", testkit.E("pages", 7), testkit.E("house", "b"), testkit.E("title", "T"),
					testkit.E("price", price(1))),
			},
			want: []house{{
				ID: "a", Volumes: 1, Pages: 300, Weight: 4, Mean: counter.Average{Sum: 30, N: 1}, Each: 30,
				Least: 300, Most: 300, Cheap: 30, Latest: *day(9),
			}, {
				ID: "b", Volumes: 1, Pages: 7, Weight: 3, Mean: counter.Average{Sum: 1, N: 1}, Each: 1,
				Least: 7, Most: 7, Cheap: 1, Latest: *day(5),
			}},
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
				if err := seedHouses(t.Context(), db, v1, v2); err != nil {
					t.Fatal(err)
				}
				mustRun(t, way, test.do...)
				wantHouses(t, db, fully, test.want...)
			})
		})
	}
}

// An action that is repeated after another one changes nothing: the child remembers its token.
func TestCounterRepeats(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedHouses(t.Context(), db, volumeOf("1", "a", 10)); err != nil {
			t.Fatal(err)
		}
		ctx := model.WithToken(t.Context(), testkit.Token(1))
		move := fully.set("1", testkit.E("house", "b"), testkit.E("pages", 7))
		if err := errors.Join(run(ctx, db, move),
			run(t.Context(), db, fully.set("1", testkit.E("house", "a"), testkit.E("pages", 2)))); err != nil {
			t.Fatal(err)
		}
		if err := run(model.WithToken(t.Context(), testkit.Token(1)), db, move); err != nil {
			t.Error(err)
		}
		wantHouses(t, db, fully, house{ID: "a", Volumes: 1, Pages: 2, Least: 2, Most: 2}, house{ID: "b"})
	})
}

// What can't be is an error, and nothing is written.
func TestCounterRefuses(t *testing.T) {
	testkit.Parallel(t)
	nan := 0.0
	nan /= nan
	draft := volume{ID: "3", House: "z", State: "draft"} // doesn't count
	bothWays(t, func(t *testing.T, db *mongo.Database, way model.DB) {
		if err := seedHouses(t.Context(), db, volumeOf("1", "a", 5)); err != nil {
			t.Fatal(err)
		}
		before, _ := mongotest.Dump(t.Context(), db)
		for _, test := range []struct {
			reason string
			change change
			err    error
			says   string
		}{
			{"no number", fully.volumes.Insert(volume{ID: "2", House: "a", Price: &nan}), testkit.ErrRefused, "finite"},
			{"no number to set", fully.set("1", testkit.E("price", &nan)), testkit.ErrRefused, "finite"},
			{
				reason: "a missing parent", change: fully.volumes.Insert(volumeOf("3", "z", 1)), err: model.ErrNotFound,
				says: "volumes.house names 'z'",
			},
			{"a missing parent of a child that doesn't count", fully.volumes.Insert(draft), model.ErrNotFound, "'z'"},
			{
				reason: "a missing parent for two",
				change: fully.volumes.InsertMany(volumeOf("4", "a", 1), volumeOf("3", "z", 1)),
				err:    model.ErrNotFound, says: "'z'",
			},
			{
				reason: "a move to a missing parent",
				change: fully.set("1", testkit.E("house", "z"), testkit.E("title", "T")), err: model.ErrNotFound,
				says: "volumes.house names 'z'",
			},
			{"a taken _id", fully.volumes.Insert(volumeOf("1", "b", 1)), nil, ""},
			{"a missing child", fully.set("9", testkit.E("pages", 1)), model.ErrNotFound, ""},
		} {
			t.Run(test.reason, func(t *testing.T) {
				err := run(t.Context(), way, test.change)
				if test.err == nil && (errors.Is(err, model.ErrTaken) || mongo.IsDuplicateKeyError(err)) {
					return
				}
				testkit.WantError(t, err, test.err)
				if !strings.Contains(err.Error(), test.says) {
					t.Error(err)
				}
			})
		}
		_, _, err := fully.houses.Set("a", bson.D{testkit.E("volumes", int64(4))}).Run(t.Context(), way)
		testkit.WantError(t, err, testkit.ErrRefused)
		if _, _, err := fully.Recount("z").Run(t.Context(), way); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a parent that isn't there: %v", err)
		}
		if after, _ := mongotest.Dump(t.Context(), db); after != before {
			t.Errorf("changed:\n%s", after)
		}
	})
}

// The check finds children whose parent doesn't exist.
func TestCounterMissingParent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := errors.Join(seedHouses(t.Context(), db, volumeOf("1", "a", 1)),
			testkit.Exec(t.Context(), db,
				volumes.InsertMany([]volume{volumeOf("2", "z", 1), volumeOf("3", "", 1)}))); err != nil {
			t.Fatal(err)
		}
		found, err := fully.Checks()[1].All(t.Context(), db)
		if err != nil || len(found) != 1 || found[0].Problem != "house → 'z', which doesn't exist" {
			t.Errorf("%v, %v", found, err)
		}
	})
}

func TestCounterDeclaration(t *testing.T) {
	testkit.Parallel(t)
	field := func(from, to string) []counter.Field { return []counter.Field{{From: from, To: to}} }
	count := func(where bson.E) counter.Spec {
		return counter.Spec{Count: "volumes", Where: bson.D{where}}
	}
	for reason, spec := range map[string]counter.Spec{
		"nothing kept":            {},
		"no such path":            {Count: "volume"},
		"not a number":            {Count: "latest"},
		"twice":                   {Count: "pages", Sums: field("pages", "pages")},
		"a text":                  {Sums: field("title", "pages")},
		"a sum of dates":          {Sums: field("out", "pages")},
		"a date kept as a number": {Maxs: field("out", "pages")},
		"the reference":           count(testkit.E("house", "a")),
		"a condition by regex":    count(testkit.E("state", bson.Regex{Pattern: "a"})),
		"an unknown operator":     count(testkit.E("state", bson.D{testkit.E("$regex", "a")})),
		"greater than null":       count(testkit.E("state", bson.D{testkit.E("$gt", nil)})),
	} {
		t.Run(reason, func(t *testing.T) { wantDeclarationError(t, func() { ledgerOf(spec) }) })
	}
	for reason, path := range map[string]string{"another type than _id": "pages", "within _id": "_id"} {
		t.Run(reason, func(t *testing.T) {
			wantDeclarationError(t, func() {
				counter.New(volumes, path, houses, counter.Spec{Count: "volumes"})
			})
		})
	}
}

func wantDeclarationError(t *testing.T, declare func()) {
	defer func() {
		if _, ok := recover().(*model.DeclarationError); !ok {
			t.Error("was declared")
		}
	}()
	declare()
}
