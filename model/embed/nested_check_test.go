package embed_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Persons of any shape: what other code may have written.
var (
	embOpen      = model.NewCollection[bson.D, string]("people")
	embOpenTasks = embed.NewEmbedded[bson.D](embOpen, "tasks",
		embed.EmbeddedSpec{Key: "id", Max: 2, Keep: embed.KeepFirst})
	embOpenSteps = func(keep embed.KeepElement) []model.Check {
		return embed.NewNested[bson.D](embOpenTasks, "plan.steps", embed.EmbeddedSpec{Key: "no", Max: 2, Keep: keep}).Checks()
	}
)

// nesDrift is a person whose tasks, and their steps, are damaged in every way.
func nesDrift(r *rand.Rand, id string) bson.D {
	steps := func() any {
		switch r.IntN(12) {
		case 0:
			return nil
		case 1:
			return "none"
		}
		list := bson.A{}
		for range r.IntN(5) {
			step := bson.D{
				{Key: "no", Value: []any{int32(0), int64(0), 0.0, int32(1), 1.5, "x"}[r.IntN(6)]},
				{Key: "text", Value: "ab"[r.IntN(2):][:1]},
			}
			switch r.IntN(30) {
			case 0:
				step[0].Value = []any{nil, bson.A{int32(0)}, bson.Regex{Pattern: "x"}}[r.IntN(3)]
			case 1:
				step = step[1:]
			case 2:
				list = append(list, []any{nil, "loose", bson.A{step}}[r.IntN(3)])
			}
			list = append(list, step)
		}
		return list
	}
	tasks := bson.A{}
	for range r.IntN(4) {
		task := bson.D{
			{Key: "id", Value: []any{"a", "b", int32(7), int64(7)}[r.IntN(4)]},
			{Key: "plan", Value: bson.D{{Key: "x", Value: "y"}}},
			{Key: "z", Value: "z"},
		}
		if r.IntN(6) > 0 {
			task[1].Value = bson.D{{Key: "steps", Value: steps()}, {Key: "x", Value: "y"}}
		}
		switch r.IntN(16) {
		case 0:
			task[0].Value = []any{nil, bson.A{"a"}, bson.Regex{Pattern: "x"}}[r.IntN(3)]
		case 1:
			task = task[1:]
		case 2:
			tasks = append(tasks, "loose")
		}
		tasks = append(tasks, task)
	}
	return d("_id", id, "tasks", tasks)
}

// nesKey is a field of an element as a key of maps, or "" where it is none.
func nesKey(element any, field string) string {
	doc, _ := element.(bson.D)
	for _, e := range doc {
		if e.Key == field {
			switch e.Value.(type) {
			case nil, bson.A, bson.Regex:
				return ""
			}
			return bsonval.Key(embRaw(e.Value))
		}
	}
	return ""
}

// nesSteps is where a task's steps are stored, or nil.
func nesSteps(task any) *any {
	doc, _ := task.(bson.D)
	for _, e := range doc {
		if plan, ok := e.Value.(bson.D); ok && e.Key == "plan" && plan[0].Key == "steps" {
			return &plan[0].Value
		}
	}
	return nil
}

// nesFound is what the checks should find: repeated keys with their number, the oversized, what is null, and the
// malformed.
func nesFound(docs []any) (repeated map[string]int, oversized, null, malformed []string) {
	repeated = map[string]int{}
	for _, doc := range docs {
		id, over, none, bad := doc.(bson.D)[0].Value.(string), false, false, false
		for _, task := range doc.(bson.D)[1].Value.(bson.A) {
			at := nesSteps(task)
			if at == nil {
				continue
			}
			list, ok := (*at).(bson.A)
			over, none, bad = over || len(list) > 2, none || *at == nil, bad || !ok && *at != nil
			times := map[string]int{}
			for _, step := range list {
				key := nesKey(step, "no")
				times[key]++
				bad = bad || key == ""
			}
			for key, n := range times {
				if in := nesKey(task, "id"); n > 1 && in != "" && key != "" {
					name := id + "|" + in + "|" + key
					repeated[name] = max(repeated[name], n)
				}
			}
		}
		if over {
			oversized = append(oversized, id)
		}
		if none {
			null = append(null, id)
		}
		if bad {
			malformed = append(malformed, id)
		}
	}
	return repeated, oversized, null, malformed
}

// nesMended is what a repair of all that was found leaves of a list of steps.
func nesMended(list bson.A, keep embed.KeepElement) bson.A {
	out, seen := bson.A{}, map[string]bool{}
	if keep == embed.KeepLast {
		slices.Reverse(list)
	}
	for _, step := range list {
		key := nesKey(step, "no")
		if name := key; name != "" {
			if keep == embed.KeepDistinct {
				name = bsonval.Key(embRaw(step))
			}
			if seen[name] {
				continue
			}
			seen[name] = true
		}
		out = append(out, step)
	}
	if keep == embed.KeepLast {
		slices.Reverse(list)
		slices.Reverse(out)
	}
	return out
}

// Random damage is found, all of it and nothing else, and mended as asked; what is sound stays as it is.
func TestNestedDrift(t *testing.T) {
	rounds := 4
	if os.Getenv("DOCMODEL_FULL") != "" {
		rounds = 100
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(5, 6))
		for round := range rounds {
			var docs []any
			for i := range 12 {
				docs = append(docs, nesDrift(r, fmt.Sprintf("%02d", i)))
			}
			if err := embStore(t.Context(), db, docs...); err != nil {
				t.Fatal(err)
			}
			keep := embed.KeepElement(round % 3)
			checks := embOpenSteps(keep)
			repeated, oversized, null, malformed := nesFound(docs)
			found, err := checks[0].All(t.Context(), db)
			got := map[string]int{}
			for _, f := range found {
				got[f.ID.StringValue()+"|"+bsonval.Key(f.Detail.Lookup("in"))+"|"+
					bsonval.Key(f.Detail.Lookup("key"))] += int(f.Detail.Lookup("times").AsInt64())
			}
			if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", repeated) {
				t.Errorf("repeated %q, want %q, %v", got, repeated, err)
			}
			for finds, want := range map[string][]string{"too many elements": oversized, "null": null, "malformed": malformed} {
				if got := foundIDs(t, db, checkOf(t, finds, checks)); !slices.Equal(got, want) {
					t.Errorf("%s %q, want %q", finds, got, want)
				}
			}
			mustRun(t, db, checks[0].Mend(found), checks[0].Mend(found))
			nesWant(t, db, docs, "repaired", func(task, steps any) any {
				if list, ok := steps.(bson.A); ok && nesKey(task, "id") != "" {
					return nesMended(list, keep)
				}
				return steps
			})
			if left, err := checks[0].All(t.Context(), db); err != nil || keep != embed.KeepDistinct && len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
			last := round%2 == 0
			trim := embOpenSteps(embed.KeepFirst)[1:]
			if last {
				trim = embOpenSteps(embed.KeepLast)[1:]
			}
			if err := errors.Join(mend(t.Context(), db, trim), mend(t.Context(), db, trim)); err != nil {
				t.Fatal(err)
			}
			nesWant(t, db, docs, "trimmed", func(_, steps any) any {
				if steps == nil {
					return bson.A{}
				}
				if list, ok := steps.(bson.A); ok && len(list) > 2 {
					if last {
						return list[len(list)-2:]
					}
					return list[:2]
				}
				return steps
			})
			if t.Failed() {
				t.Fatalf("round %d, by %d", round, keep)
			}
		}
	})
}

// nesWant does to the steps of each task what should have been done to those that are stored, and compares.
func nesWant(t testing.TB, db *mongo.Database, docs []any, what string, do func(task, steps any) any) {
	t.Helper()
	lines := make([]string, len(docs))
	for i, doc := range docs {
		for _, task := range doc.(bson.D)[1].Value.(bson.A) {
			if at := nesSteps(task); at != nil {
				*at = do(task, *at)
			}
		}
		lines[i] = model.Shell(doc)
	}
	got := strings.Split(embShow(t, db), "\n")
	for i := range lines {
		if i >= len(got) || got[i] != lines[i] {
			t.Errorf("%s: stored\n%s, want\n%s", what, got[min(i, len(got)-1)], lines[i])
		}
	}
}

func TestNestedRepairRefuses(t *testing.T) {
	loose := embed.NewNested[embStep](embTasks, "steps", embed.EmbeddedSpec{Key: "no"})
	checks := embSteps.Checks()
	for reason, detail := range map[string]bson.D{
		"no id": d("in", "x", "key", "x"), "no outer key": d("id", "x", "key", "x"), "no key": d("id", "x", "in", "x"),
	} {
		t.Run(reason, func(t *testing.T) {
			embErr(t, checks[0].Mend([]model.Finding{finding(checks[0], detail)}).Err(), errEmbRefused)
		})
	}
	if len(checks) != 4 || len(loose.Checks()) != 3 || checks[1].Mend != nil {
		t.Error("too many elements are found without a Max, or mended without a Keep")
	}
	if got := loose.Indexes(); len(got) != 0 {
		t.Errorf("indexes that serve nothing: %v", got)
	}
}

// Keys are compared as the server compares them: in what is added at once, and in what is found repeated. What is no
// key is reported by another check, and doesn't keep the others from being mended.
func TestEmbeddedKeysByValue(t *testing.T) {
	for reason, keys := range map[string][2]any{
		"int and long": {int32(1), int64(1)}, "long and double": {int64(1), 1.0},
		"decimal and int":  {bson.NewDecimal128(0x303c000000000000, 100), int32(1)},
		"within documents": {d("a", int32(1)), d("a", 1.0)},
	} {
		t.Run(reason, func(t *testing.T) {
			embErr(t, embOpenTasks.Add("p", d("id", keys[0]), d("id", keys[1])).Err, errEmbRefused)
		})
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		pattern := bson.Regex{Pattern: "x"}
		if err := embStore(t.Context(), db,
			d("_id", "a", "tasks", bson.A{d("id", int32(1), "n", "x"), d("id", int64(1), "n", "y"), d("id", "1")}),
			d("_id", "b", "tasks", bson.A{d("id", pattern), d("id", pattern)}),
			d("_id", "c", "tasks", bson.A{d("id", bson.A{"x"}), d("id", bson.A{"x"}), d("id", "y"), d("id", "y")}),
			d("_id", "d", "tasks", bson.A{d("id", nil), d("id", nil), d("n", "x"), d("n", "x")})); err != nil {
			t.Fatal(err)
		}
		checks := embOpenTasks.Checks()
		found, err := checks[0].All(t.Context(), db)
		if err != nil || fmt.Sprint(found) != "[people 'a': holds the key 1 2 times people 'c': holds the key 'y' 2 times]" {
			t.Fatalf("repeated %v, %v", found, err)
		}
		if got := fmt.Sprint(foundIDs(t, db, checkOf(t, "malformed", checks))); got != "[b c d]" {
			t.Errorf("malformed %s", got)
		}
		mustRun(t, db, checks[0].Mend(found))
		const want = "{_id: 'a', tasks: [{id: 1, n: 'x'}, {id: '1'}]}\n{_id: 'b', tasks: [{id: RegExp('x')}, {id: RegExp('x')}]}\n" +
			"{_id: 'c', tasks: [{id: ['x']}, {id: ['x']}, {id: 'y'}]}\n{_id: 'd', tasks: [{id: null}, {id: null}, {n: 'x'}, {n: 'x'}]}"
		if got := embShow(t, db); got != want {
			t.Errorf("stored\n%s", got)
		}
	})
}

// An array may have any name, also those that elements are given out by.
func TestEmbeddedNames(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, path := range []string{"at", "at.list", "place", "parent", "element", "element.at"} {
			list := embed.NewEmbedded[embTask](embOpen, path, embed.EmbeddedSpec{Key: "id"})
			if err := embStore(t.Context(), db, d("_id", "p")); err != nil {
				t.Fatal(err)
			}
			mustRun(t, db, model.NewPlan(list.Add("p", embList("a3 b2 c1")...)))
			if got := embElems(t, db, list.Elements(d("due", d("$gt", 1)), d("due", 1))); got != "p.1 b2, p.0 a3" {
				t.Errorf("at %s: %s", path, got)
			}
		}
	})
}
