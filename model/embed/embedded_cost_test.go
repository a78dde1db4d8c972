package embed_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func TestEmbeddedCostsAndIndexes(t *testing.T) {
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var people []any
		for i := range 4000 {
			people = append(people, embPerson{ID: fmt.Sprint("p", i), Home: &embHome{City: fmt.Sprint("c", i)}, Tasks: []embTask{
				{ID: fmt.Sprint("t", i), Due: int32(2 * i), Steps: []embStep{{No: int32(i)}}},
				{ID: fmt.Sprint("u", i), Due: int32(2*i + 1)},
			}})
		}
		if err := embStore(t.Context(), db, people...); err != nil {
			t.Fatal(err)
		}
		if err := model.New("test", embTasks, embSteps, embHomes).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		due := d("due", d("$gte", 100, "$lt", 104))
		repeated, over := checkOf(t, "repeated keys", embFirst.Checks()), checkOf(t, "too many elements", embFirst.Checks())
		for _, c := range []struct {
			reason string
			query  any
			index  string
		}{
			{"Having the key", embTasks.Having(d("id", "t7")), "tasks.id_1"},
			{"Having the key", embTasks.Having(d("id", "t7", "text", d("$exists", false))), "tasks.id_1"},
			{"Having", embTasks.Having(due), "tasks.due_1"},
			{"Elements", embTasks.Elements(due, d("due", 1)), "tasks.due_1"},
			{"inner keys", embPeople.Find(d("tasks.steps.no", 7)), "tasks.steps.no_1"},
			{"Having a home", embHomes.Having(d("city", "c7")), "home.city_1"},
			{"Elements of one", embTasks.Elements(due, nil, "p7"), model.IDIndex},
			{"Elements of two", embTasks.Elements(due, nil, "p7", "p8"), model.IDIndex},
			{"one element", embTasks.Elements(d("id", "t7"), nil, "p7"), model.IDIndex},
			{"Set", embTasks.Update("p7", "t7", d("$set", d("due", 1))), model.IDIndex},
			{"Add", embTasks.Add("p7", embTask{ID: "n"}), model.IDIndex},
			{"a nested Set", embSteps.Update("p7", "t7", 7, d("$set", d("text", "x"))), model.IDIndex},
			{"Put", embTasks.Put("p7", embTask{ID: "n"}), model.IDIndex},
			{"Replace", embTasks.Replace("p7", embTask{ID: "t7"}), model.IDIndex},
			{"Update", embTasks.Update("p7", "t7", d("$inc", d("due", 1))), model.IDIndex},
			{"Remove", embTasks.Remove("p7", "t7"), model.IDIndex},
			{"Move adds", embTasks.Move("p7", "p8", embTask{ID: "n"}).Steps[0], model.IDIndex},
			{"Move takes", embTasks.Move("p7", "p8", embTask{ID: "n"}).Steps[1], model.IDIndex},
			{"Checks", repeated.Mend([]model.Finding{finding(repeated, d("id", "p7", "key", "t7"))}).Steps[0], model.IDIndex},
			{"Checks trim", over.Mend([]model.Finding{finding(over, d("_id", "p7"))}).Steps[0], model.IDIndex},
			{"a nested Add", embSteps.Add("p7", "t7", embStep{No: -1}), model.IDIndex},
			{"a nested Update", embSteps.Update("p7", "t7", 7, d("$unset", d("text", 1))), model.IDIndex},
			{"a nested Remove", embSteps.Remove("p7", "t7", 7), model.IDIndex},
			{"one Put", embHomes.Put("p7", embHome{}), model.IDIndex},
			{"one Create", embHomes.Create("p7", embHome{}), model.IDIndex},
			{"one Set", embHomes.Update("p7", d("$set", d("city", "x"))), model.IDIndex},
			{"one Update", embHomes.Update("p7", d("$unset", d("zip", 1))), model.IDIndex},
		} {
			t.Run(c.reason, func(t *testing.T) {
				modeltest.WantIndexed(t, db, c.query, c.index)
			})
			if q, ok := c.query.(interface{ Cost() model.Cost }); ok && c.reason != "inner keys" &&
				fmt.Sprint(q.Cost().Indexes) != fmt.Sprint([]string{c.index}) {
				t.Errorf("%s says that %v serves it, not %s", c.reason, q.Cost().Indexes, c.index)
			}
		}
		one := model.Cost{Commands: 1, Written: 1}
		for reason, w := range map[string]model.Write{
			"Add": embTasks.Add("p1", embTask{ID: "n"}), "Put": embTasks.Put("p2", embTask{ID: "n"}),
			"Set": embTasks.Update("p3", "t3", d("$set", d("due", 1))), "Remove": embTasks.Remove("p4", "t4"),
			"nested": embSteps.Add("p5", "t5", embStep{No: -1}), "one": embHomes.Put("p6", embHome{}),
		} {
			t.Run(reason+" costs", func(t *testing.T) {
				run := func() error {
					_, err := w.Run(t.Context(), db)
					return err
				}
				modeltest.WantCost(t, m, one, run)
				if got := w.Cost(); got.Commands != 1 || got.Written != 1 {
					t.Errorf("says %s", got)
				}
			})
		}
		t.Run("the tasks due between, of two parents", func(t *testing.T) {
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 4}, func() error {
				_, err := embTasks.Elements(due, d("due", 1)).All(t.Context(), db)
				return err
			})
		})
	}, m)
}

type (
	embNulls struct {
		ID    string                 `bson:"_id"`
		Tasks []embTask              `bson:"tasks"`
		Names []string               `bson:"names,omitempty"`
		Deep  *struct{ L []embTask } `bson:"deep"`
		In    []struct {
			K     string    `bson:"k"`
			Steps []embStep `bson:"steps"`
		} `bson:"in,omitempty"`
		Tags []struct {
			K []string `bson:"k,omitempty"`
		} `bson:"tags,omitempty"`
	}
)

func TestEmbeddedDeclarations(t *testing.T) {
	nulls := model.NewCollection[embNulls, string]("nulls")
	open := model.NewCollection[bson.D, string]("open")
	key := embed.EmbeddedSpec{Key: "id"}
	type in = struct {
		K     string    `bson:"k"`
		Steps []embStep `bson:"steps"`
	}
	inner := embed.NewEmbedded[in](nulls, "in", embed.EmbeddedSpec{Key: "k"})
	for reason, f := range map[string]func(){
		"no such path":             func() { embed.NewEmbedded[embTask](embPeople, "taks", key) },
		"no array":                 func() { embed.NewEmbedded[embHome](embPeople, "home", key) },
		"an array in another":      func() { embed.NewEmbedded[embStep](embPeople, "tasks.steps", key) },
		"a nil slice that is null": func() { embed.NewEmbedded[embTask](nulls, "tasks", key) },
		"below what may be null":   func() { embed.NewEmbedded[embTask](nulls, "deep.l", key) },
		"another type":             func() { embed.NewEmbedded[embHome](embPeople, "tasks", key) },
		"plain values":             func() { embed.NewEmbedded[string](nulls, "names", key) },
		"no key":                   func() { embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{}) },
		"no such key": func() {
			embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "name"})
		},
		"a key that is an array": func() { embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "steps"}) },
		"a negative Max": func() {
			embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Max: -1})
		},
		"an index of no such field": func() {
			embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Indexes: []bson.D{d("dew", 1)}})
		},
		"an index of no field": func() {
			embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Indexes: []bson.D{{}}})
		},
		"an index sideways": func() {
			embed.NewEmbedded[embTask](embPeople, "tasks", embed.EmbeddedSpec{Key: "id", Indexes: []bson.D{d("due", 3)}})
		},
		"no collection": func() {
			embed.NewEmbedded[embTask]((*model.Collection[embPerson, string])(nil), "tasks", key)
		},
		"scalars of an open type": func() { embed.NewEmbedded[string](open, "tasks", key) },
		"nested: no such path":    func() { embed.NewNested[embStep](embTasks, "stps", embed.EmbeddedSpec{Key: "no"}) },
		"nested: no array":        func() { embed.NewNested[embStep](embTasks, "text", embed.EmbeddedSpec{Key: "no"}) },
		"nested: no key":          func() { embed.NewNested[embStep](embTasks, "steps", embed.EmbeddedSpec{}) },
		"nested: a negative Max": func() {
			embed.NewNested[embStep](embTasks, "steps", embed.EmbeddedSpec{Key: "no", Max: -1})
		},
		"nested: stored as null": func() { embed.NewNested[embStep](inner, "steps", embed.EmbeddedSpec{Key: "no"}) },
		"nested: another type": func() {
			embed.NewNested[embHome](embTasks, "steps", embed.EmbeddedSpec{Key: "city"})
		},
		"nested in nothing": func() {
			embed.NewNested[embStep]((*embed.Embedded[embPerson, string, embTask])(nil), "steps", key)
		},
		"one: an array":               func() { embed.NewOne[embTask](embPeople, "tasks", embed.OneSpec{}) },
		"one: no such path":           func() { embed.NewOne[embHome](embPeople, "hom", embed.OneSpec{}) },
		"one: another type":           func() { embed.NewOne[embTask](embPeople, "home", embed.OneSpec{}) },
		"one: below what may be null": func() { embed.NewOne[embTask](nulls, "deep.l", embed.OneSpec{}) },
		"one: an unknown index": func() {
			embed.NewOne[embHome](embPeople, "home", embed.OneSpec{Indexes: []bson.D{d("zap", 1)}})
		},
		"one: the _id": func() { embed.NewOne[bson.D](model.NewCollection[bson.D, bson.D]("x"), "_id", embed.OneSpec{}) },
	} {
		t.Run(reason, func(t *testing.T) {
			if e := catch(t, f); e == nil || e.Remedy == "" {
				t.Errorf("panicked with %v", e)
			}
		})
	}
	embed.NewEmbedded[bson.D](open, "tasks", key)
	embed.NewOne[bson.D](open, "home", embed.OneSpec{Indexes: []bson.D{d("city", 1)}})
	if got := fmt.Sprint(embTasks.Relations(), embSteps.Relations(), embHomes.Relations()); got != "[] [] []" {
		t.Error(got)
	}
}

// What the comments promise of commands and documents, that no other test measures: also of writes that match nothing.
func TestPromisedCosts(t *testing.T) {
	type cost struct{ commands, written, returned int }
	people := []any{
		embPerson{
			ID:    "a",
			Tasks: []embTask{{ID: "x", Due: 1, Steps: []embStep{{No: 1}}}, {ID: "y", Due: 2}},
			Home:  &embHome{City: "Rome"},
		},
		embPerson{ID: "b", Tasks: embList("z3 w4")}, embPerson{ID: "c"},
	}
	lots := []any{verLot{ID: "l", Qty: 5, Version: 3}, d("_id", "n", "qty", int32(1), "version", nil)}
	lot := func(version int64) verLot { return verLot{ID: "l", Qty: 6, Version: version} }
	inc := d("$inc", d("due", 1))
	read := func(q interface {
		Command() bson.D
	}) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			switch q := q.(type) {
			case *model.Find[embPerson]:
				_, err := q.All(ctx, db)
				return err
			case *model.Aggregate[embed.ElementOf[string, embTask]]:
				_, err := q.All(ctx, db)
				return err
			case *model.Aggregate[bson.Raw]:
				_, err := q.All(ctx, db)
				return err
			}
			return fmt.Errorf("a %T", q)
		}
	}
	write := func(s model.Step, want error) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			p := model.NewPlan(s)
			p.Options.AllowPartial = true
			if _, err := p.Run(ctx, db); !errors.Is(err, want) {
				return fmt.Errorf("%w: want %w", err, want)
			}
			return nil
		}
	}
	change := func(c model.ChangeOf[model.Stored[verLot]], want error) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			if _, _, err := c.Run(ctx, db); !errors.Is(err, want) {
				return fmt.Errorf("%w: want %w", err, want)
			}
			return nil
		}
	}
	verMend := verPlain.Checks()[0]
	cases := []struct {
		reason string
		want   cost
		run    func(ctx context.Context, db *mongo.Database) error
	}{
		{"Add of a key that is there", cost{3, 0, 1}, write(embTasks.Add("a", embTask{ID: "x"}), model.ErrTaken)},
		{"Add to a full array", cost{4, 0, 1}, write(embTasks.Add("a", embTask{ID: "q"}, embTask{ID: "r"}), model.ErrFull)},
		{"Add to nobody", cost{5, 0, 0}, write(embTasks.Add("q", embTask{ID: "q"}), model.ErrNotFound)},
		{"Replace of an element", cost{1, 1, 0}, write(embTasks.Replace("a", embTask{ID: "x"}), nil)},
		{"Update of an element", cost{1, 1, 0}, write(embTasks.Update("a", "x", inc), nil)},
		{"Update of no element", cost{2, 0, 1}, write(embTasks.Update("a", "q", inc), model.ErrNotFound)},
		{"Update of nobody's element", cost{2, 0, 0}, write(embTasks.Update("q", "x", inc), model.ErrNotFound)},
		{"Move", cost{2, 2, 0}, func(ctx context.Context, db *mongo.Database) error {
			p := embTasks.Move("b", "a", embList("z3")[0])
			p.Options.AllowPartial = true
			_, err := p.Run(ctx, db)
			return err
		}},
		{"a nested Update", cost{1, 1, 0}, write(embSteps.Update("a", "x", 1, d("$set", d("text", "t"))), nil)},
		{
			reason: "a nested Update of none", want: cost{2, 0, 1},
			run: write(embSteps.Update("a", "x", 9, d("$set", d("text", "t"))), model.ErrNotFound),
		},
		{"one Create", cost{1, 1, 0}, write(embHomes.Create("b", embHome{City: "x"}), nil)},
		{"one Create over another", cost{3, 0, 1}, write(embHomes.Create("a", embHome{City: "x"}), model.ErrTaken)},
		{"one Update", cost{1, 1, 0}, write(embHomes.Update("a", d("$set", d("zip", "1"))), nil)},
		{"one Update of none", cost{2, 0, 1}, write(embHomes.Update("b", d("$set", d("zip", "1"))), model.ErrNotFound)},
		{"Having the key", cost{1, 0, 1}, read(embTasks.Having(d("id", "x")))},
		{"Having", cost{1, 0, 1}, read(embTasks.Having(d("due", 1)))},
		{"one element", cost{1, 0, 1}, read(embTasks.Elements(d("id", "x"), nil, "a"))},
		{"Elements of one", cost{1, 0, 2}, read(embTasks.Elements(nil, nil, "a"))},
		{"Checks", cost{4, 0, 0}, func(ctx context.Context, db *mongo.Database) (err error) {
			for _, c := range embTasks.Checks() {
				_, e := c.All(ctx, db)
				err = errors.Join(err, e)
			}
			return err
		}},
		{"a store's Replace", cost{2, 1, 1}, change(verPlainStore.Replace(lot(3)), nil)},
		{"a store's Replace in another version", cost{1, 0, 1}, change(verPlainStore.Replace(lot(2)), embed.ErrVersion)},
		{
			reason: "Versioned.Update in another version", want: cost{3, 0, 1},
			run: write(verTokens.Update("l", 2, d("$set", d("qty", 1)), oid(1)), embed.ErrVersion),
		},
		{
			reason: "Versioned.Update of none", want: cost{3, 0, 0},
			run: write(verTokens.Update("q", 3, d("$set", d("qty", 1)), oid(1)), model.ErrNotFound),
		},
		{
			reason: "a store's Delete in a version", want: cost{1, 1, 1},
			run: change(verPlainStore.Where(d("version", 3), embed.ErrVersion).Delete("l"), nil),
		},
		{
			reason: "a store's Delete in another version", want: cost{2, 0, 1},
			run: change(verPlainStore.Where(d("version", 2), embed.ErrVersion).Delete("l"), embed.ErrVersion),
		},
		{"Versioned.Take", cost{1, 1, 0}, write(verTokens.Take("l", "qty", 5, oid(1)), nil)},
		{"Versioned.Take of too many", cost{3, 0, 1}, write(verTokens.Take("l", "qty", 6, oid(1)), model.ErrGuard)},
		{"a store's Edit", cost{2, 1, 1}, func(ctx context.Context, db *mongo.Database) error {
			_, err := verTaken(ctx, db, verTokenStore, oid(1))
			return err
		}},
		{"Versioned.Checks", cost{1, 0, 1}, read(verPlain.Checks()[0].Find())},
		{
			reason: "Versioned.Checks mend", want: cost{1, 1, 0},
			run: write(verMend.Mend([]model.Finding{finding(verMend, d("_id", "n"))}).Steps[0], nil),
		},
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				if err := errors.Join(embStore(t.Context(), db, people...), verStore(t.Context(), db, lots...)); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, m, model.Cost{Commands: c.want.commands, Written: c.want.written, Returned: c.want.returned},
					func() error { return c.run(t.Context(), db) })
			})
		}
	}, m)
}
