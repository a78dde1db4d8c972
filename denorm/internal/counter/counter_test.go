package counter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: houses, and the volumes that name them.
type (
	volume struct {
		ID      string                 `bson:"_id"`
		House   string                 `bson:"house,omitempty"`
		Title   string                 `bson:"title,omitempty"`
		Pages   int                    `bson:"pages,omitempty"`
		Price   *float64               `bson:"price,omitempty"`
		Out     *time.Time             `bson:"out,omitempty"`
		State   string                 `bson:"state,omitempty"`
		Pending *denorm.CounterPending `bson:"pending,omitempty"`
		Meta    struct {
			Weight int64 `bson:"weight"`
		} `bson:"meta"`
	}
	house struct {
		ID      string          `bson:"_id"`
		Volumes int64           `bson:"volumes,omitempty"`
		Pages   int64           `bson:"pages,omitempty"`
		Weight  int64           `bson:"weight,omitempty"`
		Mean    denorm.Average  `bson:"mean,omitempty"`
		Each    float64         `bson:"each,omitempty"`
		Least   int             `bson:"least,omitempty"`
		Most    int             `bson:"most,omitempty"`
		Cheap   float64         `bson:"cheap,omitempty"`
		Latest  time.Time       `bson:"latest,omitempty"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
)

var (
	volumes = model.NewCollection[volume, string]("volumes")
	houses  = model.NewCollection[house, string]("houses")
	loose   = model.NewCollection[bson.D, any]("loose")

	future = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) // no operation is under way any more

	inPrint = bson.D{e("state", bson.D{e("$ne", "draft")})}

	// counted keeps sums; ranged keeps extremes too, and full everything.
	counted = counterOf(denorm.CounterSpec{Count: "volumes", Sums: []denorm.Field{{From: "pages", To: "pages"}}})
	ranged  = counterOf(denorm.CounterSpec{
		Count: "volumes", Mins: []denorm.Field{{From: "pages", To: "least"}}, Maxs: []denorm.Field{{From: "pages", To: "most"}},
	})
	fully  = counterOf(fullCounter)
	loosen = denorm.NewCounter(volumes, "house", houses, denorm.CounterSpec{
		Count: "volumes", Partial: true, Sums: []denorm.Field{{From: "pages", To: "pages"}}, Maxs: []denorm.Field{{From: "pages", To: "most"}},
	})
	inTx = denorm.NewCounter(volumes, "house", houses, denorm.CounterSpec{
		Count: "volumes", Averages: []denorm.CounterAverage{{From: "pages", To: "mean", Value: "each"}}, Maxs: []denorm.Field{{From: "pages", To: "most"}},
	})

	fullCounter = denorm.CounterSpec{
		Count: "volumes", Where: inPrint,
		Sums:     []denorm.Field{{From: "pages", To: "pages"}, {From: "meta.weight", To: "weight"}},
		Averages: []denorm.CounterAverage{{From: "price", To: "mean", Value: "each"}},
		Mins:     []denorm.Field{{From: "pages", To: "least"}, {From: "price", To: "cheap"}},
		Maxs:     []denorm.Field{{From: "pages", To: "most"}, {From: "out", To: "latest"}},
	}
)

type volumeCounter = denorm.Counter[volume, string, house, string]

func counterOf(spec denorm.CounterSpec) *volumeCounter {
	spec.Tokens, spec.Pending = "ops", "pending"
	return denorm.NewCounter(volumes, "house", houses, spec)
}

func counterRun(ctx context.Context, db model.DB, list ...model.Change[any]) error {
	for _, c := range list {
		if _, _, err := c.Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func mustCount(t testing.TB, db model.DB, list ...model.Change[any]) {
	t.Helper()
	if err := counterRun(context.Background(), db, list...); err != nil {
		t.Fatal(err)
	}
}

// volumeOf is a volume of a house.
func volumeOf(id, house string, pages int) volume { return volume{ID: id, House: house, Pages: pages} }

// wantHouses compares the houses but for their tokens, and asks that the check agrees and that nothing is under way.
func wantHouses(t testing.TB, db *mongo.Database, c *volumeCounter, want ...house) {
	t.Helper()
	ctx := context.Background()
	got, err := houses.Find(nil).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b house) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	for i := range got {
		got[i].Ops = nil
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("houses\n%+v\nwant\n%+v", got, want)
	}
	wantAgreed(t, db, c)
}

// wantAgreed asks that the check finds nothing, and that no mark is left.
func wantAgreed(t testing.TB, db *mongo.Database, c *volumeCounter) {
	t.Helper()
	ctx := context.Background()
	found, err := foundBy(ctx, db, c.Checks())
	if err != nil || len(found) > 0 {
		t.Errorf("the check finds %v, %v", found, err)
	}
	if n, err := db.Collection("volumes").CountDocuments(ctx, bson.D{e("pending", bson.D{e("$exists", true)})}); err != nil || n > 0 {
		t.Errorf("%d volumes are marked, %v", n, err)
	}
}

func seedHouses(ctx context.Context, db *mongo.Database, list ...volume) error {
	if err := exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})); err != nil {
		return err
	}
	for i, v := range list {
		if err := counterRun(ctx, db, fully.Insert(v, token(100+i))); err != nil {
			return err
		}
	}
	return nil
}

func price(f float64) *float64 { return &f }

func day(n int) *time.Time {
	d := time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC)
	return &d
}

// Every number follows every kind of write.
func TestCounterKeeps(t *testing.T) {
	parallel(t)
	set := func(id string, op int, fields ...bson.E) model.Change[any] {
		return fully.Set(id, fields, token(op))
	}
	weigh := func(v volume, weight int64) volume {
		v.Meta.Weight = weight
		return v
	}
	v1 := weigh(volume{ID: "1", House: "a", Pages: 100, Price: price(10), Out: day(5)}, 3)
	v2 := weigh(volume{ID: "2", House: "a", Pages: 300, Price: price(30), Out: day(9)}, 4)
	one := house{ID: "a", Volumes: 1, Pages: 100, Weight: 3, Mean: denorm.Average{Sum: 10, N: 1}, Each: 10, Least: 100, Most: 100, Cheap: 10, Latest: *day(5)}
	two := house{ID: "a", Volumes: 2, Pages: 400, Weight: 7, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 100, Most: 300, Cheap: 10, Latest: *day(9)}
	second := house{ID: "b", Volumes: 1, Pages: 300, Weight: 4, Mean: denorm.Average{Sum: 30, N: 1}, Each: 30, Least: 300, Most: 300, Cheap: 30, Latest: *day(9)}
	b := house{ID: "b"}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason string
			do     []model.Change[any]
			want   []house
		}{
			{"nothing", nil, []house{two, b}},
			{"the greatest moves, and comes back", []model.Change[any]{fully.Move("2", "b", token(1))}, []house{one, second}},
			{"the greatest is deleted", []model.Change[any]{fully.Delete("2", token(1))}, []house{one, b}},
			{"all are deleted", []model.Change[any]{fully.Delete("2", token(1)), fully.Delete("1", token(2))}, []house{{ID: "a"}, b}},
			{"a deletion of what isn't there", []model.Change[any]{fully.Delete("9", token(1))}, []house{two, b}},
			{"a field that isn't counted", []model.Change[any]{set("1", 1, e("title", "T"))}, []house{two, b}},
			{"a condition ceases to hold, and holds again", []model.Change[any]{set("2", 1, e("state", "draft"))}, []house{one, b}},
			{"it holds again", []model.Change[any]{set("2", 1, e("state", "draft")), set("2", 2, e("state", "done"))}, []house{two, b}},
			{"the reference is taken off", []model.Change[any]{set("2", 1, e("house", nil))}, []house{one, b}},
			{"the greatest becomes the smallest", []model.Change[any]{set("2", 1, e("pages", 50))},
				[]house{{ID: "a", Volumes: 2, Pages: 150, Weight: 7, Mean: two.Mean, Each: 20, Least: 50, Most: 100, Cheap: 10, Latest: *day(9)}, b}},
			{"a value is taken off, and a document is set whole", []model.Change[any]{
				set("1", 1, e("price", nil), e("meta", weigh(volume{}, 9).Meta)), set("2", 2, e("out", *day(1)))},
				[]house{{ID: "a", Volumes: 2, Pages: 400, Weight: 13, Mean: denorm.Average{Sum: 30, N: 1}, Each: 30, Least: 100, Most: 300, Cheap: 30, Latest: *day(5)}, b}},
			{"everything at once", []model.Change[any]{set("1", 1, e("pages", 7), e("house", "b"), e("title", "T"), e("price", price(1)))},
				[]house{{ID: "a", Volumes: 1, Pages: 300, Weight: 4, Mean: denorm.Average{Sum: 30, N: 1}, Each: 30, Least: 300, Most: 300, Cheap: 30, Latest: *day(9)},
					{ID: "b", Volumes: 1, Pages: 7, Weight: 3, Mean: denorm.Average{Sum: 1, N: 1}, Each: 1, Least: 7, Most: 7, Cheap: 1, Latest: *day(5)}}},
		} {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{"houses": nil, "volumes": nil})
				if err := seedHouses(t.Context(), db, v1, v2); err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second run finds everything done
					mustCount(t, db, test.do...)
					wantAgreed(t, db, fully)
					if len(test.do) > 1 {
						break
					}
				}
				for i := range test.want {
					test.want[i].Latest = test.want[i].Latest.UTC()
				}
				wantHouses(t, db, fully, test.want...)
			})
		}
	})
}

// What can't be is an error, and nothing is written.
func TestCounterRefuses(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedHouses(t.Context(), db, volumeOf("1", "a", 5)); err != nil {
			t.Fatal(err)
		}
		before, _ := modeltest.Dump(t.Context(), db)
		nan := 0.0
		nan /= nan
		for _, test := range []struct {
			reason string
			change model.Change[any]
			err    error
		}{
			{"no token", fully.Insert(volumeOf("2", "a", 1), bson.NilObjectID), errRefused},
			{"no token to set", fully.Set("1", bson.D{e("pages", 1)}, bson.NilObjectID), errRefused},
			{"no token to delete", fully.Delete("1", bson.NilObjectID), errRefused},
			{"no _id", fully.Insert(volumeOf("", "a", 1), token(1)), errRefused},
			{"an empty parent", fully.Move("1", "", token(1)), errRefused},
			{"an empty child", fully.Delete("", token(1)), errRefused},
			{"a mark", fully.Insert(volume{ID: "2", House: "a", Pending: &denorm.CounterPending{}}, token(1)), errRefused},
			{"no number", fully.Insert(volume{ID: "2", House: "a", Price: &nan}, token(1)), errRefused},
			{"no number to set", fully.Set("1", bson.D{e("price", &nan)}, token(1)), errRefused},
			{"no field", fully.Set("1", nil, token(1)), errRefused},
			{"another type", fully.Set("1", bson.D{e("pages", "x")}, token(1)), errRefused},
			{"an unknown field", fully.Set("1", bson.D{e("page", 1)}, token(1)), errRefused},
			{"the _id", fully.Set("1", bson.D{e("_id", "x")}, token(1)), errRefused},
			{"the mark itself", fully.Set("1", bson.D{e("pending", nil)}, token(1)), errRefused},
			{"a field twice", fully.Set("1", bson.D{e("meta.weight", int64(1)), e("meta", nil)}, token(1)), errRefused},
			{"a child that isn't there", fully.Set("9", bson.D{e("pages", 1)}, token(1)), model.ErrNotFound},
			{"settle without marks", loosen.Settle("1"), errRefused},
		} {
			t.Run(test.reason, func(t *testing.T) { wantError(t, counterRun(t.Context(), db, test.change), test.err) })
		}
		if err := counterRun(t.Context(), db, fully.Insert(volumeOf("1", "b", 1), token(1))); !errors.Is(err, model.ErrTaken) || !strings.HasSuffix(err.Error(), "volumes: '1' is taken by another document") {
			t.Errorf("a taken _id: %v", err)
		}
		if _, _, err := fully.Recount("z").Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a parent that isn't there: %v", err)
		}
		if _, err := loosen.Pending(future).All(t.Context(), db); err == nil {
			t.Error("pending without marks")
		}
		if after, _ := modeltest.Dump(t.Context(), db); after != before {
			t.Errorf("changed:\n%s", after)
		}
	})
}

func TestCounterDeclaration(t *testing.T) {
	parallel(t)
	field := func(from, to string) []denorm.Field { return []denorm.Field{{From: from, To: to}} }
	tokens := func(s denorm.CounterSpec) denorm.CounterSpec {
		s.Tokens, s.Pending = "ops", "pending"
		return s
	}
	for reason, declare := range map[string]func(){
		"nothing kept":            func() { counterOf(denorm.CounterSpec{}) },
		"no such path":            func() { counterOf(denorm.CounterSpec{Count: "volume"}) },
		"not a number":            func() { counterOf(denorm.CounterSpec{Count: "latest"}) },
		"twice":                   func() { counterOf(denorm.CounterSpec{Count: "pages", Sums: field("pages", "pages")}) },
		"within the tokens":       func() { counterOf(denorm.CounterSpec{Count: "ops"}) },
		"a text":                  func() { counterOf(denorm.CounterSpec{Sums: field("title", "pages")}) },
		"a sum of dates":          func() { counterOf(denorm.CounterSpec{Sums: field("out", "pages")}) },
		"a date kept as a number": func() { counterOf(denorm.CounterSpec{Maxs: field("out", "pages")}) },
		"the reference":           func() { counterOf(denorm.CounterSpec{Count: "volumes", Where: bson.D{e("house", "a")}}) },
		"a condition by regex": func() {
			counterOf(denorm.CounterSpec{Count: "volumes", Where: bson.D{e("state", bson.Regex{Pattern: "a"})}})
		},
		"an unknown operator": func() {
			counterOf(denorm.CounterSpec{Count: "volumes", Where: bson.D{e("state", bson.D{e("$regex", "a")})}})
		},
		"greater than null": func() {
			counterOf(denorm.CounterSpec{Count: "volumes", Where: bson.D{e("state", bson.D{e("$gt", nil)})}})
		},
		"keep too many":       func() { counterOf(denorm.CounterSpec{Count: "volumes", Keep: 10_001}) },
		"partial with tokens": func() { counterOf(denorm.CounterSpec{Count: "volumes", Partial: true}) },
		"tokens alone": func() {
			denorm.NewCounter(volumes, "house", houses, denorm.CounterSpec{Count: "volumes", Tokens: "ops"})
		},
		"tokens that are none": func() {
			denorm.NewCounter(volumes, "house", houses, denorm.CounterSpec{Count: "volumes", Tokens: "each", Pending: "pending"})
		},
		"a mark that is none": func() {
			denorm.NewCounter(volumes, "house", houses, denorm.CounterSpec{Count: "volumes", Tokens: "ops", Pending: "state"})
		},
		"another type than _id": func() { denorm.NewCounter(volumes, "pages", houses, tokens(denorm.CounterSpec{Count: "volumes"})) },
		"within _id":            func() { denorm.NewCounter(volumes, "_id", houses, tokens(denorm.CounterSpec{Count: "volumes"})) },
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(*model.DeclarationError); !ok {
					t.Error("was declared")
				}
			}()
			declare()
		})
	}
}

// Where the server doesn't read all of a pipeline at one moment, an operation that came between shows, and the recount begins
// again.
func TestCounterDisturbed(t *testing.T) {
	parallel(t)
	for reason, d := range map[string]bson.D{
		"came":     {e("after", bson.A{token(1)})},
		"went":     {e("before", bson.A{token(1)})},
		"followed": {e("before", bson.A{token(1)}), e("after", bson.A{token(2)})},
	} {
		if _, err := counted.Recount("a").Decide(model.Finding{Detail: marshal(d)}); !errors.Is(err, model.ErrStale) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if p, err := counted.Recount("a").Decide(model.Finding{Detail: marshal(bson.D{})}); err != nil || len(p.Steps) > 0 {
		t.Errorf("undisturbed: %v, %v", p, err)
	}
}
