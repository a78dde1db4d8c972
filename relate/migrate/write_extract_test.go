package migrate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
)

var namedChildren = model.NewCollection[bson.D, string]("c")

type address struct {
	ID     int    `bson:"_id"`
	Street string `bson:"street"`
	City   string `bson:"city"`
}

type dweller struct {
	ID   string    `bson:"_id"`
	Home *address  `bson:"home,omitempty"`
	At   int       `bson:"at,omitempty"`
	All  []address `bson:"all,omitempty"`
}

var (
	dwellers  = model.NewCollection[dweller, string]("p")
	addresses = model.NewCollection[address, int]("c")
)

func newExtract(spec migrate.ExtractSpec[string, int]) *migrate.Migration {
	return migrate.NewExtract(anyParents, "list", anyChildren, spec)
}

func ownedBy(owner string, i int, _ bson.Raw) (string, error) {
	return fmt.Sprintf("%s:%d", owner, i), nil
}

func TestExtractPhases(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	before := stored{
		"p": {`{"_id":"$a","list":[{"id":2,"t":"$x"},{"id":1,"u":{"$v":1}}]}`, `{"_id":"b","list":[]}`, `{"_id":"c"}`},
	}
	owners := []string{`{"_id":"$a"}`, `{"_id":"b"}`, `{"_id":"c"}`}
	for _, tc := range []struct {
		reason    string
		migration *migrate.Migration
		size      int
		before    stored
		after     stored
	}{
		{
			reason: "the documents hold the owner and their place",
			size:   1, migration: newExtract(migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "at"}),
			before: before,
			after: stored{
				"p": owners,
				"c": {`{"_id":1,"u":{"$v":1},"post":"$a","at":1}`, `{"_id":2,"t":"$x","post":"$a","at":0}`},
			},
		},
		{
			reason:    "the owner lists the ids",
			migration: newExtract(migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids"}),
			before:    before,
			after: stored{
				"p": {`{"_id":"$a","ids":[2,1]}`, `{"_id":"b","ids":[]}`, `{"_id":"c"}`},
				"c": {`{"_id":1,"u":{"$v":1}}`, `{"_id":2,"t":"$x"}`},
			},
		},
		{
			reason: "ids of owner and position: the elements keep all their fields",
			migration: migrate.NewExtract(anyParents, "list", namedChildren, migrate.ExtractSpec[string, string]{
				ID: ownedBy, Parent: "post", Order: "at",
			}),
			before: before,
			after: stored{"p": owners, "c": {
				`{"_id":"$a:0","id":2,"t":"$x","post":"$a","at":0}`,
				`{"_id":"$a:1","id":1,"u":{"$v":1},"post":"$a","at":1}`,
			}},
		},
		{
			reason: "ids of owner and position, listed by the owner",
			migration: migrate.NewExtract(anyParents, "list", namedChildren, migrate.ExtractSpec[string, string]{
				ID: ownedBy, Refs: "ids",
			}),
			before: before,
			after: stored{
				"p": {`{"_id":"$a","ids":["$a:0","$a:1"]}`, `{"_id":"b","ids":[]}`, `{"_id":"c"}`},
				"c": {`{"_id":"$a:0","id":2,"t":"$x"}`, `{"_id":"$a:1","id":1,"u":{"$v":1}}`},
			},
		},
		{
			reason: "a subdocument and a single id",
			migration: migrate.NewExtract(dwellers, "home", addresses, migrate.ExtractSpec[string, int]{
				Key: "_id", Refs: "at",
			}),
			before: stored{"p": {`{"_id":"a","home":{"_id":7,"street":"s","city":"c"}}`, `{"_id":"b"}`}},
			after:  stored{"p": {`{"_id":"a","at":7}`, `{"_id":"b"}`}, "c": {`{"_id":7,"street":"s","city":"c"}`}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			migrationCase{migration: tc.migration, size: tc.size, before: tc.before, after: tc.after}.check(t)
		})
	}
}

// extractReportCases are owners that can't be extracted, and why.
var extractReportCases = []struct {
	reason string
	p, c   []string
	want   []string // of Copy
}{
	{
		reason: "a document with other content is there", p: []string{`{"_id":"a","list":[{"id":1,"t":1},{"id":2}]}`},
		c: []string{`{"_id":1,"t":2,"post":"a","at":0}`}, want: []string{"occupied: p 'a': [1]"},
	},
	{
		reason: "a document of another owner is there", p: []string{`{"_id":"a","list":[{"id":1,"t":1}]}`},
		c: []string{`{"_id":1,"t":1,"post":"b","at":0}`}, want: []string{"occupied: p 'a': [1]"},
	},
	{
		reason: "an element twice", p: []string{`{"_id":"a","list":[{"id":1},{"id":1}]}`},
		want: []string{"duplicate: p 'a': [1]"},
	},
	{
		reason: "elements without an id, with an empty one of another type, or that are no documents",
		p:      []string{`{"_id":"a","list":[{"t":1}]}`, `{"_id":"b","list":[{"id":"x"}]}`, `{"_id":"c","list":[5]}`},
		want: []string{
			"refused: p 'a': [0]: the element has no \"id\"",
			"refused: p 'b': [0]: the element's \"id\" isn't a int: cannot decode string into an integer type",
			"refused: p 'c': [0]: the element is a 32-bit integer, not a document",
		},
	},
	{
		reason: "fields that the document needs, or that would be read as more than a name",
		p: []string{
			`{"_id":"a","list":[{"id":1,"post":1}]}`, `{"_id":"b","list":[{"id":1,"_id":5}]}`,
			`{"_id":"c","list":[{"id":1,"a.b":1}]}`,
		},
		want: []string{
			"refused: p 'a': [0]: the element has a field \"post\", which the document needs",
			"refused: p 'b': [0]: the element has a field \"_id\", which the document needs",
			"refused: p 'c': [0]: field name: must not contain a dot: 'a.b'",
		},
	},
}

// TestExtractReports: what can't be extracted is left as it is, with its owner, and the others are extracted.
func TestExtractReports(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	for _, tc := range extractReportCases {
		t.Run(tc.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				all := append(tc.p[:len(tc.p):len(tc.p)], `{"_id":"z","list":[{"id":99}]}`)
				if err := (stored{"p": all, "c": tc.c}).insert(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				x := newExtract(migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "at"})
				passed, err := x.Copy().Run(t.Context(), db, model.JobOptions{})
				var left *model.LeftError
				if !errors.As(err, &left) || passed.Modified != 1 {
					t.Errorf("copied %d, %v", passed.Modified, err)
				}
				wantLines(t, "copy", inWords(passed.Findings), tc.want)
				if rows := mismatches(t, db, x); len(rows) == 0 {
					t.Error("Verify finds nothing")
				}
				if passed, err = x.Drop().Run(t.Context(), db, model.JobOptions{}); !errors.As(err, &left) {
					t.Errorf("dropped %d, %v", passed.Modified, err)
				}
				stored{"p": append(tc.p[:len(tc.p):len(tc.p)], `{"_id":"z"}`)}.want(t, db)
				if len(tc.c) > 0 {
					wantLines(t, "the other's document", contents(t, db, "c")[:1], []string{inOrder(parseDoc(tc.c[0]))})
				}
			})
		})
	}
}

func TestExtractVerify(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	for _, tc := range []struct {
		reason string
		refs   bool
		p, c   []string
		want   []string
	}{
		{
			reason: "missing, differing and extra documents",
			p:      []string{`{"_id":"a","list":[{"id":1},{"id":2,"t":1}]}`},
			c:      []string{`{"_id":2,"t":2,"post":"a","at":0}`, `{"_id":3,"post":"a","at":1}`},
			want:   []string{"differing: p 'a': [2]", "extra: p 'a': [3]", "missing: p 'a': [1]"},
		},
		{
			reason: "places in another order", p: []string{`{"_id":"a","list":[{"id":1},{"id":2}]}`},
			c:    []string{`{"_id":1,"post":"a","at":1}`, `{"_id":2,"post":"a","at":0}`},
			want: []string{"order: p 'a': [2, 1]"},
		},
		{
			reason: "ids in another order", refs: true,
			p: []string{`{"_id":"a","list":[{"id":1},{"id":2}],"ids":[2,1]}`},
			c: []string{`{"_id":1}`, `{"_id":2}`}, want: []string{"order: p 'a': [2, 1]"},
		},
		{
			reason: "an id that leads nowhere, and a copy without an owner", refs: true,
			p:    []string{`{"_id":"a","list":[{"id":1}],"ids":[1]}`},
			c:    []string{`{"_id":2,"extracted":{"of":"z","sum":""}}`},
			want: []string{"dangling: p 'a': [1]", "extra: c 2: ['z']"},
		},
		{
			reason: "the order of fields is not compared, their values are",
			p:      []string{`{"_id":"a","list":[{"x":1,"id":1,"y":"$x"}]}`},
			c:      []string{`{"_id":1,"at":0,"y":"$x","x":1,"post":"a"}`},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if err := (stored{"p": tc.p, "c": tc.c}).insert(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				spec := migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "at"}
				if tc.refs {
					spec = migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids"}
				}
				wantLines(t, tc.reason, mismatches(t, db, newExtract(spec)), append([]string{}, tc.want...))
				wantDropReports(t, db, newExtract(spec), "c")
			})
		})
	}
}

func TestExtractLiveWriters(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	race := &racer{}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{
			"p": {
				`{"_id":"a","list":[{"id":1,"t":1},{"id":2,"t":1}]}`, `{"_id":"b","list":[{"id":3}]}`,
				`{"_id":"c","list":[{"id":4}]}`,
			},
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		x := newExtract(migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "at"})
		_, err := x.Copy().Run(t.Context(), db, model.JobOptions{BatchSize: 1, Progress: func(p model.Progress) error {
			switch p.Batches {
			case 1: // a was copied: one removed, one changed, one added
				update(t, db, "p", "a", `{"$set":{"list":[{"id":2,"t":5},{"id":9}]}}`)
			case 2: // an owner is deleted, its copy with it
				if _, err := db.Collection("p").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "b"}}); err != nil {
					t.Error(err)
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		mustPass(t, db, x.Copy(), 1)
		wantLines(t, "after the second pass", mismatches(t, db, x), []string{})
		race.setBefore(1, "update", "p", func() { update(t, db, "p", "a", `{"$push":{"list":{"id":10}}}`) })
		mustPass(t, db, x.Drop(), 1)
		stored{
			"p": {`{"_id":"a","list":[{"id":2,"t":5},{"id":9},{"id":10}]}`, `{"_id":"c"}`},
		}.want(t, db)
		wantLines(t, "after the drop", mismatches(t, db, x), []string{"missing: p 'a': [10]"})
		// A copy that somebody changed is not overwritten, should the migration begin again.
		update(t, db, "c", 2, `{"$set":{"t":77}}`)
		if _, err := x.Restart().Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		passed, err := x.Copy().Run(t.Context(), db, model.JobOptions{})
		if err == nil {
			t.Error("a changed copy was not reported")
		}
		wantLines(t, "again", inWords(passed.Findings), []string{"occupied: p 'a': [2]"})
	}, race.option())
}

func TestExtractCost(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{}
		for p := range 10 {
			seed["p"] = append(seed["p"], fmt.Sprintf(`{"_id":"%d","list":[{"id":%d},{"id":%d}]}`, p, 2*p, 2*p+1))
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		x := newExtract(migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids"})
		for _, tc := range []struct {
			reason string
			pass   model.Job
			want   model.Cost
		}{
			// Begin: state, presence, begin. Owners: state, documents, insert, update; the end. Copies: state, owners;
			// the end.
			{
				"a first pass", x.Copy(),
				model.Cost{Commands: 3 + 5 + 2 + 3 + 2, Written: 1 + 20 + 10, Returned: 10 + 1 + 20 + 1 + 10},
			},
			{
				"a second pass writes nothing", x.Copy(),
				model.Cost{Commands: 1 + 3 + 2 + 3 + 2, Returned: 10 + 20 + 20 + 10 + 3},
			},
			{
				"a drop", x.Drop(),
				model.Cost{Commands: 1 + 3 + 2 + 3 + 2, Written: 1 + 10 + 20, Returned: 10 + 20 + 20 + 10},
			},
		} {
			t.Log(tc.reason)
			modeltest.WantCost(t, monitor, tc.want, func() error {
				_, err := tc.pass.Run(t.Context(), db, model.JobOptions{})
				return err
			})
		}
	}, monitor)
}

// TestExtractThenAbsorb: random elements, extracted and absorbed again, are the same.
func TestExtractThenAbsorb(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 2))
			for _, name := range []string{"p", "c", "docmodel.migrations"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			next := 0
			for i := range 1 + r.IntN(8) {
				list := bson.A{}
				for range 1 + r.IntN(5) {
					next++
					list = append(list, bson.D{
						{Key: "id", Value: (next*37 + 5) % 1009}, {Key: "t", Value: hostile[r.IntN(len(hostile))]},
						{Key: "d", Value: bson.D{{Key: "$n", Value: bson.A{nil, 1.5, bson.Regex{Pattern: "^.*"}}}}},
					})
				}
				p := bson.D{{Key: "_id", Value: fmt.Sprint(hostile[i%len(hostile)], i)}, {Key: "list", Value: list}}
				if _, err := db.Collection("p").InsertOne(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			before := contents(t, db, "p")
			size := 1 + r.IntN(10)
			out := migrate.ExtractSpec[string, int]{Key: "id", Parent: "post", Order: "at"}
			in := migrate.AbsorbSpec{Key: "id", Parent: "post", Order: "at"}
			if seed%2 == 0 {
				out = migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids"}
				in = migrate.AbsorbSpec{Key: "id", Refs: "ids"}
			}
			for _, m := range []*migrate.Migration{newExtract(out), newAbsorb(in)} {
				if err := runPhases(m, size)(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			wantLines(t, fmt.Sprint("seed ", seed), contents(t, db, "p"), before)
			wantLines(t, fmt.Sprint("seed ", seed), contents(t, db, "c"), []string{})
		}
	})
}
