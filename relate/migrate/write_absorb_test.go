package migrate_test

import (
	"errors"
	"fmt"
	"strings"
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

func newAbsorb(spec migrate.AbsorbSpec) *migrate.Migration {
	return migrate.NewAbsorb(anyParents, "list", anyChildren, spec)
}

func TestAbsorbPhases(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	for _, tc := range []struct {
		reason    string
		migration *migrate.Migration
		size      int
		before    stored
		after     stored
	}{
		{
			reason: "the owner lists the ids; a shared document goes into both, and one that nobody refers to stays",
			size:   1, migration: newAbsorb(migrate.AbsorbSpec{Refs: "ids"}),
			before: stored{
				"p": {`{"_id":"$a","ids":[2,1]}`, `{"_id":"b","ids":[]}`, `{"_id":"c"}`, `{"_id":"d","ids":[1]}`},
				"c": {`{"_id":1,"t":"$x"}`, `{"_id":2,"u":{"$v":[]}}`, `{"_id":3}`},
			},
			after: stored{
				"p": {
					`{"_id":"$a","list":[{"_id":2,"u":{"$v":[]}},{"_id":1,"t":"$x"}]}`, `{"_id":"b","list":[]}`,
					`{"_id":"c"}`, `{"_id":"d","list":[{"_id":1,"t":"$x"}]}`,
				},
				"c": {`{"_id":3}`},
			},
		},
		{
			reason: "the documents hold the owner and their place", size: 1,
			migration: newAbsorb(migrate.AbsorbSpec{Parent: "post", Order: "at", Key: "id"}),
			before: stored{
				"p": {`{"_id":"a"}`, `{"_id":"b"}`},
				"c": {`{"_id":1,"t":1,"post":"a","at":7}`, `{"_id":2,"post":"a","at":3}`, `{"_id":3}`},
			},
			after: stored{"p": {`{"_id":"a","list":[{"id":2},{"id":1,"t":1}]}`, `{"_id":"b"}`}, "c": {`{"_id":3}`}},
		},
		{
			reason: "a subdocument by a single id",
			migration: migrate.NewAbsorb(dwellers, "home", addresses, migrate.AbsorbSpec{
				Refs: "at",
			}),
			before: stored{"p": {`{"_id":"a","at":7}`, `{"_id":"b"}`}, "c": {`{"_id":7,"street":"s","city":"c"}`}},
			after:  stored{"p": {`{"_id":"a","home":{"_id":7,"street":"s","city":"c"}}`, `{"_id":"b"}`}, "c": {}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			migrationCase{migration: tc.migration, size: tc.size, before: tc.before, after: tc.after}.check(t)
		})
	}
}

func TestAbsorbReports(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	half := strings.Repeat("x", 9<<20)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{
			"p": {
				`{"_id":"big","ids":[1,2]}`, `{"_id":"gone","ids":[8,3]}`, `{"_id":"named","ids":[4]}`,
				`{"_id":"ok","ids":[3]}`,
			},
			"c": {`{"_id":3,"t":1}`, `{"_id":4,"key":1}`},
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for id := range 2 {
			if _, err := db.Collection("c").InsertOne(
				t.Context(), bson.D{{Key: "_id", Value: id + 1}, {Key: "t", Value: half}},
			); err != nil {
				t.Fatal(err)
			}
		}
		a := newAbsorb(migrate.AbsorbSpec{Refs: "ids", Key: "key"})
		passed, err := a.Copy().Run(t.Context(), db, model.JobOptions{})
		var left *model.LeftError
		if !errors.As(err, &left) {
			t.Errorf("copy: %v", err)
		}
		wantLines(t, "copy", inWords(passed.Findings), []string{
			"dangling: p 'gone': [8]",
			"refused: p 'named': [4]: the document has a field \"key\", which the element needs",
			"too large: p 'big': [1, 2]",
		})
		wantLines(t, "verify", mismatches(t, db, a), []string{
			"dangling: p 'gone': [8]", "missing: p 'big': [1, 2]", "missing: p 'gone': [8]", "missing: p 'named': [4]",
		})
		if _, err := a.Drop().Run(t.Context(), db, model.JobOptions{}); !errors.As(err, &left) {
			t.Errorf("drop: %v", err)
		}
		stored{"p": {
			`{"_id":"big","ids":[1,2]}`, `{"_id":"gone","ids":[8,3],"list":[{"key":3,"t":1}]}`,
			`{"_id":"named","ids":[4]}`, `{"_id":"ok","list":[{"key":3,"t":1}]}`,
		}}.want(t, db)
		if n, err := db.Collection("c").CountDocuments(t.Context(), bson.D{}); n != 4 || err != nil {
			t.Errorf("%d documents are left, %v: one is referred to still", n, err)
		}
	})
}

func TestAbsorbVerify(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	for _, tc := range []struct {
		reason   string
		refs     bool
		dropping bool
		p, c     []string
		want     []string
	}{
		{
			reason: "missing, differing and extra elements",
			p:      []string{`{"_id":"a","list":[{"_id":1,"t":1},{"_id":9}]}`},
			c:      []string{`{"_id":1,"t":2,"post":"a"}`, `{"_id":2,"post":"a"}`, `{"_id":3,"post":"z"}`},
			want: []string{"differing: p 'a': [1]", "extra: p 'a': [9]", "missing: c 3: ['z']", "missing: p 'a': " +
				"[2]"},
		},
		{
			reason: "an owner without the array", p: []string{`{"_id":"a"}`}, c: []string{`{"_id":1,"post":"a"}`},
			want: []string{"missing: p 'a': [1]"},
		},
		{
			reason: "an element whose document is gone was dropped, once the drop has begun", dropping: true,
			p: []string{`{"_id":"a","list":[{"_id":1,"t":1},{"_id":9}]}`}, c: []string{`{"_id":1,"t":1,"post":"a"}`},
		},
		{
			reason: "elements in another order than the documents",
			p:      []string{`{"_id":"a","list":[{"_id":2},{"_id":1}]}`},
			c:      []string{`{"_id":1,"post":"a","at":1}`, `{"_id":2,"post":"a","at":2}`},
			want:   []string{"order: p 'a': [1, 2]"},
		},
		{
			reason: "elements in another order than the ids, and one whose id is gone", refs: true,
			p:    []string{`{"_id":"a","list":[{"_id":2},{"_id":1},{"_id":3}],"ids":[1,2]}`},
			c:    []string{`{"_id":1}`, `{"_id":2}`, `{"_id":3}`},
			want: []string{"extra: p 'a': [3]", "order: p 'a': [1, 2]"},
		},
		{
			reason: "no ids: dropped, once the drop has begun", refs: true, dropping: true,
			p: []string{`{"_id":"a","list":[{"_id":2}]}`},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if err := (stored{"p": tc.p, "c": tc.c}).insert(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				spec := migrate.AbsorbSpec{Parent: "post", Order: "at"}
				if tc.refs {
					spec = migrate.AbsorbSpec{Refs: "ids"}
				}
				m := newAbsorb(spec)
				if tc.dropping {
					beginDrop(t, db, m)
				}
				wantLines(t, tc.reason, mismatches(t, db, m), append([]string{}, tc.want...))
				wantDropReports(t, db, m, "")
			})
		})
	}
}

func TestAbsorbLiveWriters(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	for _, refs := range []bool{true, false} {
		t.Run(fmt.Sprint("refs ", refs), func(t *testing.T) {
			race := &racer{}
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				seed := stored{
					"p": {`{"_id":"a","ids":[1,2]}`, `{"_id":"b","ids":[3]}`},
					"c": {`{"_id":1,"post":"a"}`, `{"_id":2,"post":"a"}`, `{"_id":3,"post":"b"}`},
				}
				if err := seed.insert(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				spec := migrate.AbsorbSpec{Parent: "post"}
				if refs {
					spec = migrate.AbsorbSpec{Refs: "ids"}
				}
				a := newAbsorb(spec)
				options := model.JobOptions{BatchSize: 1}
				options.Progress = func(p model.Progress) error {
					if p.Batches == 1 && !p.Done { // one changed, one moved
						update(t, db, "c", 1, `{"$set":{"t":5}}`)
						update(t, db, "c", 2, `{"$set":{"post":"b"}}`)
						update(t, db, "p", "a", `{"$pull":{"ids":2}}`)
						update(t, db, "p", "b", `{"$push":{"ids":2}}`)
					}
					return nil
				}
				_, err := a.Copy().Run(t.Context(), db, options)
				if err != nil {
					t.Fatal(err)
				}
				mustPass(t, db, a.Copy(), 1)
				wantLines(t, "after the second pass", mismatches(t, db, a), []string{})
				// A document changes after it was compared, before it is deleted: it stays.
				race.setBefore(1, "delete", "c", func() { update(t, db, "c", 1, `{"$set":{"t":6}}`) })
				passed, err := a.Drop().Run(t.Context(), db, model.JobOptions{BatchSize: 1})
				if err != nil {
					t.Fatal(err)
				}
				if passed.Modified >= passed.Writes {
					t.Errorf("%d of %d writes were done", passed.Modified, passed.Writes)
				}
				stored{"c": {`{"_id":1,"post":"a","t":6}`}}.want(t, db)
				var left *model.LeftError
				if passed, err = a.Drop().Run(t.Context(), db, model.JobOptions{}); !errors.As(err, &left) ||
					passed.Modified != 0 {
					t.Errorf("a second drop: %d, %v", passed.Modified, err)
				}
			}, race.option())
		})
	}
}

func TestAbsorbCost(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{}
		for p := range 10 {
			seed["p"] = append(seed["p"], fmt.Sprintf(`{"_id":"%d","ids":[%d,%d]}`, p, 2*p, 2*p+1))
			seed["c"] = append(seed["c"], fmt.Sprintf(`{"_id":%d}`, 2*p), fmt.Sprintf(`{"_id":%d}`, 2*p+1))
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		a := newAbsorb(migrate.AbsorbSpec{Refs: "ids"})
		for _, tc := range []struct {
			reason string
			pass   model.Job
			want   model.Cost
		}{
			// Begin: state, presence, begin. Owners: state, documents, update; the end.
			{"a first pass", a.Copy(), model.Cost{Commands: 3 + 4 + 2, Written: 1 + 10, Returned: 10 + 1 + 20}},
			{"a second pass writes nothing", a.Copy(), model.Cost{Commands: 1 + 3 + 2, Returned: 10 + 20 + 2}},
			// The state. Owners: documents, update; the end. Documents: who refers, who embeds, delete; the end.
			{
				"a drop", a.Drop(),
				model.Cost{Commands: 1 + 3 + 2 + 4 + 2, Written: 1 + 10 + 20, Returned: 10 + 20 + 20 + 10},
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
