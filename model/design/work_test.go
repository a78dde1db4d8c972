package design

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Under every layout the same operations give the same answers, and are priced as what is sent.
func TestAnswers(t *testing.T) {
	for seed := range seeds(24) {
		r := rand.New(rand.NewPCG(seed, 0))
		w := randomWorkload(r)
		w.Server.Transactions = seed%4 == 0
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			layouts := []Layout{{}}
			g, err := newGraph(w)
			if err != nil {
				t.Fatal(err)
			}
			for range 8 {
				l := Layout{}
				for _, group := range g.groups() {
					l = l.over(group[r.IntN(len(group))])
				}
				if len(w.Relations) > 0 && r.IntN(3) == 0 {
					l = l.with(w.Relations[r.IntN(len(w.Relations))].name(), []Storage{
						{As: Paged, Page: 3}, {As: Paged, Page: 3, Newest: 2, By: "at"}, {As: Paged, Page: 3, Newest: 3, By: "n"},
					}[r.IntN(3)])
				}
				if _, err := w.Price(l); err == nil {
					layouts = append(layouts, l)
				}
			}
			monitor := mongotest.NewMonitor()
			client := mongotest.NewClient(t, monitor)
			var want []string
			for i, l := range layouts {
				got, err := answersOf(t.Context(), w, l, client.Database(fmt.Sprint("layout", i)))
				if err != nil {
					t.Fatalf("%s: %v", l, err)
				}
				if i == 0 {
					want = got
				}
				for k := range want {
					if got[k] != want[k] {
						t.Fatalf("%s: %s\nnot %s", l, got[k], want[k])
					}
				}
			}
		})
	}
}

// seeds is how many random workloads a test tries: 25 times as many with DOCMODEL_FULL.
func seeds(n uint64) uint64 {
	if os.Getenv("DOCMODEL_FULL") != "" {
		return 25 * n
	}
	return n
}

func answersOf(ctx context.Context, w Workload, l Layout, db *mongo.Database) (out []string, err error) {
	p, err := w.Price(l)
	if err != nil {
		return nil, err
	}
	run := p.Runner()
	if err := run.Fill(ctx, db); err != nil {
		return nil, err
	}
	var now string
	run.answered = func(a *access, rows []row, totals answers) {
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.doc[0].Value.(id).Hex())
		}
		if a.order == nil && a.since == nil {
			slices.Sort(ids)
		}
		var numbers []string
		for name, n := range totals {
			numbers = append(numbers, fmt.Sprint(name, " ", n))
		}
		slices.Sort(numbers)
		out = append(out, fmt.Sprint(now, a.Do, a.Of, a.By, a.Since, ids, numbers))
	}
	for n := range 10 {
		for _, o := range w.Operations {
			now = fmt.Sprint(o.Name, n)
			if err := run.Run(ctx, db, o.Name, n); err != nil {
				return out, fmt.Errorf("%s: %w", now, err)
			}
		}
	}
	return out, nil
}

// randomWorkload makes a small workload of four entities, each of which has up to two parents among those before it.
func randomWorkload(r *rand.Rand) Workload {
	w := Workload{Name: "random"}
	for i := range 4 {
		name := string(rune('a' + i))
		w.Entities = append(w.Entities, Entity{
			Name: name, Count: 5 + r.Int64N(60),
			Fields: []Field{{Name: "n"}, {Name: "at", Grows: true}, {Name: "text", Text: 4, Values: 1 + r.Int64N(5)}},
		})
		for k := range r.IntN(3) {
			if i > 0 {
				rel := Relation{
					Child: name, Field: fmt.Sprint("parent", k), Parent: string(rune('a' + r.IntN(i))),
					List: fmt.Sprint("list", name, k),
				}
				switch r.IntN(8) {
				case 0, 1:
					rel.Ordered = true
				case 2, 3:
					rel.Each = 2 + r.Int64N(2)
				}
				w.Relations = append(w.Relations, rel)
			}
		}
	}
	for i := range 6 {
		o := Operation{Name: fmt.Sprint("operation", i), Rate: 1 + r.Float64()*9}
		for range 1 + r.IntN(3) {
			o.Accesses = append(o.Accesses, randomAccess(r, w))
		}
		w.Operations = append(w.Operations, o)
	}
	return w
}

func randomAccess(r *rand.Rand, w Workload) Access {
	e := w.Entities[r.IntN(len(w.Entities))]
	var parents []Relation
	for _, rel := range w.Relations {
		if rel.Child == e.Name {
			parents = append(parents, rel)
		}
	}
	a := Access{Of: e.Name}
	switch r.IntN(6) {
	case 0:
		a.Do = Insert
		return a
	case 1:
		a.Do, a.By, a.Fields = Update, []string{"_id"}, []string{"n", "text"}[r.IntN(2):]
		for _, p := range parents {
			if p.Each > 1 && r.IntN(2) == 0 {
				a.Fields = append(a.Fields, p.Field)
			}
		}
		return a
	case 2:
		a.By = []string{"_id"}
	default:
		if r.IntN(2) == 0 {
			a.By = append(a.By, "text")
		}
		for _, p := range parents {
			switch r.IntN(4) {
			case 0:
				a.By = append(a.By, p.Field)
			case 1:
				a.By = append(a.By, p.Field+".text")
			}
		}
	}
	for _, rel := range w.Relations {
		if rel.Parent == e.Name && r.IntN(4) == 0 {
			a.Fields = append(a.Fields, []string{
				"count(" + rel.List + ")", "sum(" + rel.List + ".n)", "max(" + rel.List + ".n)", "min(" + rel.List + ".at)",
			}[r.IntN(4)])
		}
	}
	ranges := []string{"n"}
	for _, p := range parents {
		if r.IntN(2) == 0 {
			a.Fields = append(a.Fields, p.Field+"."+[]string{"text", "*", "n"}[r.IntN(3)])
		}
		if p.Each == 0 {
			ranges = append(ranges, p.Field+".n")
		}
	}
	if r.IntN(2) == 0 && (len(a.By) == 0 || a.By[0] != "_id") {
		a.Since, a.Share = ranges[r.IntN(len(ranges))], r.Float64()
	}
	if len(parents) > 0 && r.IntN(4) == 0 {
		a = Access{
			Of: e.Name, By: []string{parents[0].Field}, Order: []string{"n", "at"}[r.IntN(2)], Limit: 1 + r.Int64N(3),
			Fields: a.Fields,
		}
	}
	return a
}
