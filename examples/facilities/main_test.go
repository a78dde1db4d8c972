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
	"github.com/docmodel/docmodel/model/modeltest"
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
	// // tasks.site.id_1 is covered by site.id_1__id_-1: its keys are the first of site.id_1__id_-1
	//
	// Opening a task:
	// db.tasks.insertOne({_id: 'lamp', title: 'Change the lamp', done: false, site: {id: 'lab', name: 'Laboratory'}})
	// db.sites.updateOne({_id: 'lab'}, {$inc: {open: Long('1')}, $addToSet: {tasks: 'lamp'}})
	// 2 commands, 2 documents written, by _id_ - transactional
	//
	// Moving it:
	// db.tasks.updateOne({_id: 'lamp', done: false, 'site.id': 'lab'}, {$set: {'site.id': 'library', 'site.name': 'Library'}})
	// db.sites.updateOne({_id: 'lab'}, {$inc: {open: Long('-1')}, $pull: {tasks: 'lamp'}})
	// db.sites.updateOne({_id: 'library'}, {$inc: {open: Long('1')}, $addToSet: {tasks: 'lamp'}})
	// // if stale: db.sites.updateOne({_id: 'library'}, {$pull: {tasks: 'lamp'}})
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
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		f := Facilities{db}
		if err := fill(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		lamp := Task{ID: "lamp", Title: "Change the lamp", Site: SiteRef{"lab", "Laboratory"}}
		site := func(id string) Site {
			s, err := sites.ByID(id).One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		library := site("library")
		for _, action := range []struct {
			name              string
			commands, written int // of commands; a transaction's commands are hello, reads, bulkWrite (since MongoDB 8.0) and commitTransaction
			run               func(context.Context) error
		}{
			{"open a task", 3, 2, func(ctx context.Context) error { return f.OpenTask(ctx, lamp) }},
			{"move it", 4, 3, func(ctx context.Context) error { return f.MoveTask(ctx, lamp, library) }},
			{"finish it", 4, 2, func(ctx context.Context) error { return f.Finish(ctx, "lamp") }},
			{"rename its site", 3, 3, func(ctx context.Context) error { return f.Rename(ctx, library, "The Library") }},
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
		if diff := modeltest.Diff([]Task{
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
	}, modeltest.WithMonitor(monitor))
}

// A crash anywhere in an action leaves nothing, or the whole action.
func TestActionsCut(t *testing.T) {
	lamp := Task{ID: "lamp", Title: "Change the lamp", Site: SiteRef{"lab", "Laboratory"}}
	moved := lamp
	moved.Site = SiteRef{"library", "Library"}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			f := Facilities{db}
			if err := fill(ctx, f); err != nil {
				return err
			}
			return f.OpenTask(ctx, lamp)
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			stored, err := tasks.ByID("lamp").One(ctx, db)
			if err != nil || stored.Site.ID == "library" { // moved before
				return err
			}
			library, err := sites.ByID("library").One(ctx, db)
			return errors.Join(err, Facilities{db}.MoveTask(ctx, stored, library))
		},
		Check: func(t testing.TB, db *mongo.Database) {
			stored, err := tasks.ByID("lamp").One(t.Context(), db)
			if diff := modeltest.Diff(moved, stored); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if n, err := (Facilities{db}).Problems(t.Context()); n != 0 || err != nil {
				t.Errorf("%d problems, %v", n, err)
			}
		},
	})
}

// A crash during a rename leaves no old name in tasks.
func TestRenameCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed:         func(ctx context.Context, db *mongo.Database) error { return fill(ctx, Facilities{db}) },
		Run: func(ctx context.Context, db *mongo.Database) error {
			library, err := sites.ByID("library").One(ctx, db)
			return errors.Join(err, Facilities{db}.Rename(ctx, library, "The Library"))
		},
		Repair: func(context.Context, *mongo.Database) error { return nil }, // nothing to repair
		Check: func(t testing.TB, db *mongo.Database) {
			if n, err := (Facilities{db}).Problems(t.Context()); n != 0 || err != nil {
				t.Errorf("%d problems, %v", n, err)
			}
		},
	})
}
