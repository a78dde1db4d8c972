package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	if err := connect.Run(context.Background(), "", "facilities", os.Stdout, tour); err != nil { // needs transactions
		fmt.Println(err)
	}
	// Output:
	// The indexes of all techniques:
	// db.sites.createIndex({parent: 1, order: 1})
	// db.sites.createIndex({geo: 1, open: 1})
	// db.sites.createIndex({'contacts.mail': 1})
	// db.tasks.createIndex({'site.id': 1, _id: -1})
	// db.sites.createIndex({tasks: 1})
	//
	// Opening a task:
	// db.sites.updateOne({_id: 'lab'}, {$set: {tasks: ['lamp']}, $inc: {open: Long('1')}}) // twosided.TwoWay, counter.Counter
	// db.tasks.insertOne({_id: 'lamp', title: 'Change the lamp', done: false, site: {id: 'lab', name: 'Laboratory'}})
	// 2 commands, 2 documents written, by _id_ - transactional
	//
	// Moving it:
	// db.sites.updateOne({_id: 'lab'}, {$set: {tasks: []}, $inc: {open: Long('-1')}}) // twosided.TwoWay, counter.Counter
	// db.sites.updateOne({_id: 'library'}, {$set: {tasks: ['door', 'lamp']}, $inc: {open: Long('1')}}) // twosided.TwoWay, counter.Counter
	// db.tasks.updateOne({_id: 'lamp'}, {$set: {'site.id': 'library', 'site.name': 'Library'}})
	// 3 commands, 3 documents written, by _id_ - transactional
	//
	// Two techniques, one write:
	// db.sites.updateOne({_id: 'library', 'contacts.mail': 'ann@x.org'}, {$set: {at: {type: 'Point', coordinates: [13.3903, 52.5203]}, geo: Long('940245523410281890'), 'contacts.$[e].name': 'Ann'}}, {arrayFilters: [{'e.mail': 'ann@x.org'}]})
	//
	// Open tasks around here:
	// Library, 65 m: 2
	//
	// Problems: 0
}

func Example_diagram() {
	fmt.Print(everything.Diagram())
	// Output:
	// erDiagram
	//     "sites" {
	//         string _id PK
	//         string name
	//         string parent FK
	//         string order
	//         long change
	//         any at
	//         long geo
	//         document[] contacts
	//         string[] tasks
	//         long open
	//     }
	//     "tasks" {
	//         string _id PK
	//         string title
	//         bool done
	//         document site
	//         string site_id FK "site.id"
	//     }
	//     "sites" }o--o| "sites" : "parent: tree"
	//     "tasks" }o--o| "sites" : "site.id: two-way"
	//     "tasks" }o--o| "sites" : "site.id: counted, copy"
}

// The cost of each action, the index of each query, and no findings of the checks.
func TestActions(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		f, err := New(t.Context(), db)
		if err := errors.Join(err, fill(t.Context(), f)); err != nil {
			t.Fatal(err)
		}
		lamp := Task{ID: "lamp", Title: "Change the lamp", Site: SiteRef{ID: "lab"}}
		site := func(id string) Site {
			s, err := sites.ByID(id).One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		for _, action := range []struct {
			name              string
			commands, written int // of commands; a transaction's commands are reads, bulkWrite (since MongoDB 8.0) and commitTransaction
			run               func(context.Context) error
		}{
			{"open a task", 3, 2, func(ctx context.Context) error { return f.OpenTask(ctx, lamp) }},
			{"move it", 4, 3, func(ctx context.Context) error { return f.MoveTask(ctx, "lamp", "library") }},
			{"finish it", 3, 2, func(ctx context.Context) error { return f.Finish(ctx, "lamp") }},
			{"rename its site", 3, 3, func(ctx context.Context) error { return f.Rename(ctx, "library", "The Library") }},
			{"relocate it", 1, 1, func(ctx context.Context) error {
				return f.Relocate(ctx, "library", geohash.Point{Lat: 52.5203, Lng: 13.3903}, "ann@x.org", "Ann")
			}},
		} {
			cost, err := modeltest.Measure(monitor, func() error { return action.run(t.Context()) })
			if err != nil || cost.Commands != action.commands || cost.Written != action.written {
				t.Errorf("%s: %v, %v; want %d commands, %d documents written", action.name, cost, err, action.commands, action.written)
			}
			if n, err := f.Problems(t.Context()); n != 0 || err != nil {
				t.Errorf("after %s: %d problems, %v", action.name, n, err)
			}
		}
		got, err := f.TasksOf(t.Context(), "campus")
		if diff := mongotest.Diff([]Task{
			{ID: "door", Title: "Oil the door", Site: SiteRef{"library", "The Library"}},
			{ID: "lamp", Title: "Change the lamp", Done: true, Site: SiteRef{"library", "The Library"}},
		}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		modeltest.WantIndexed(t, db, busy(geohash.Circle{Center: geohash.Point{Lat: 52.52, Lng: 13.39}, Meters: 500}).Find, "geo_1_open_1")
		modeltest.WantIndexed(t, db, of([]string{"library", "lab"}), "site.id_1__id_-1")
		if s := site("library"); s.Open != 1 || strings.Join(s.Tasks, " ") != "door lamp" || s.Contacts[0].Name != "Ann" {
			t.Errorf("the library is %+v", s)
		}
	}, monitor)
}

// openFacilities returns the facilities, with transactions.
func openFacilities(ctx context.Context, t testing.TB, db *mongo.Database) Facilities {
	f, err := New(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantNoProblems expects that the checks find nothing.
func wantNoProblems(t testing.TB, db *mongo.Database) {
	if n, err := openFacilities(t.Context(), t, db).Problems(t.Context()); n != 0 || err != nil {
		t.Errorf("%d problems, %v", n, err)
	}
}

// A crash anywhere in an action leaves nothing, or the whole action.
func TestActionsCut(t *testing.T) {
	moved := Task{ID: "lamp", Title: "Change the lamp", Site: SiteRef{"library", "Library"}}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			f := openFacilities(ctx, t, db)
			return errors.Join(fill(ctx, f), f.OpenTask(ctx, Task{ID: "lamp", Title: "Change the lamp", Site: SiteRef{ID: "lab"}}))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return openFacilities(ctx, t, db).MoveTask(ctx, "lamp", "library")
		},
		Check: func(t testing.TB, db *mongo.Database) {
			stored, err := tasks.ByID("lamp").One(t.Context(), db)
			if diff := mongotest.Diff(moved, stored); diff != "" || err != nil {
				t.Error(diff, err)
			}
			wantNoProblems(t, db)
		},
	})
}

// A crash during a rename leaves no old name in tasks.
func TestRenameCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed:         func(ctx context.Context, db *mongo.Database) error { return fill(ctx, openFacilities(ctx, t, db)) },
		Run: func(ctx context.Context, db *mongo.Database) error {
			return openFacilities(ctx, t, db).Rename(ctx, "library", "The Library")
		},
		Repair: func(context.Context, *mongo.Database) error { return nil }, // nothing to repair
		Check:  wantNoProblems,
	})
}

// An update of a task's reference to a missing site changes nothing.
func TestNoSite(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		f := openFacilities(t.Context(), t, db)
		if err := fill(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		errMove := f.MoveTask(t.Context(), "door", "nowhere")
		errOpen := f.OpenTask(t.Context(), Task{ID: "lamp", Site: SiteRef{ID: "nowhere"}})
		if !errors.Is(errMove, model.ErrNotFound) || !errors.Is(errOpen, model.ErrNotFound) {
			t.Error(errMove, errOpen)
		}
		wantNoProblems(t, db)
	})
}
