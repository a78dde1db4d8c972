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
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
)

func newInvert(spec migrate.InvertSpec) *migrate.Migration {
	return migrate.NewInvert(anyParents, "list", anyChildren, "of.parent", spec)
}

func TestInvertPhases(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	inLists := stored{
		"p": {`{"_id":"$a","n":1,"list":[3,1]}`, `{"_id":"b.","list":[]}`, `{"_id":"c","list":[2]}`},
		"c": {`{"_id":1}`, `{"_id":2,"x":"$list"}`, `{"_id":3}`, `{"_id":4}`},
	}
	inRefs := stored{
		"p": {`{"_id":"$a","n":1}`, `{"_id":"b."}`, `{"_id":"c"}`},
		"c": {
			`{"_id":1,"of":{"parent":"$a"},"at":1}`, `{"_id":2,"x":"$list","of":{"parent":"c"},"at":0}`,
			`{"_id":3,"of":{"parent":"$a"},"at":0}`, `{"_id":4}`,
		},
	}
	t.Run("to refs", func(t *testing.T) {
		migrationCase{
			size: 3, migration: newInvert(migrate.InvertSpec{Order: "at"}),
			before: inLists, copied: stored{"p": inLists["p"], "c": inRefs["c"]}, after: inRefs,
		}.check(t)
	})
	back := stored{
		"p": {`{"_id":"$a","n":1,"list":[3,1]}`, `{"_id":"b."}`, `{"_id":"c","list":[2]}`},
		"c": {`{"_id":1,"of":{}}`, `{"_id":2,"x":"$list","of":{}}`, `{"_id":3,"of":{}}`, `{"_id":4}`},
	}
	t.Run("to lists", func(t *testing.T) {
		migrationCase{
			size: 2, migration: newInvert(migrate.InvertSpec{Order: "at", ToLists: true}),
			before: inRefs, copied: stored{"p": back["p"], "c": inRefs["c"]}, after: back,
		}.check(t)
	})
}

// invertVerifyCases are databases in which the forms disagree, and what Verify says of each.
var invertVerifyCases = []struct {
	reason   string
	toLists  bool
	first    bool
	dropping bool
	p, c     []string
	want     []string
}{
	{
		reason: "a child that holds nothing is missing in the new form",
		p:      []string{`{"_id":"a","list":[1]}`}, c: []string{`{"_id":1}`},
		want: []string{"missing: p 'a': [1]"},
	},
	{
		reason: "an empty string is what a Go string without omitempty is stored as: no parent",
		p:      []string{`{"_id":"a","list":[1]}`},
		c:      []string{`{"_id":1,"of":{"parent":""}}`, `{"_id":2,"of":{"parent":""}}`},
		want:   []string{"missing: p 'a': [1]"},
	},
	{
		reason: "a child that holds a parent which doesn't list it is extra",
		p:      []string{`{"_id":"a","list":[]}`}, c: []string{`{"_id":1,"of":{"parent":"a"}}`},
		want: []string{"extra: p 'a': [1]"},
	},
	{
		reason: "a child of the wrong parent is extra there and missing here",
		p:      []string{`{"_id":"a","list":[1]}`, `{"_id":"b","list":[]}`},
		c:      []string{`{"_id":1,"of":{"parent":"b"}}`},
		want:   []string{"extra: p 'b': [1]", "missing: p 'a': [1]"},
	},
	{
		reason: "places in another order than the list",
		p:      []string{`{"_id":"a","list":[1,2]}`},
		c:      []string{`{"_id":1,"of":{"parent":"a"},"at":5}`, `{"_id":2,"of":{"parent":"a"},"at":4}`},
		want:   []string{"order: p 'a': [1, 2]"},
	},
	{
		reason: "an id that leads nowhere, and one listed twice",
		p:      []string{`{"_id":"a","list":[1,9,1]}`}, c: []string{`{"_id":1,"of":{"parent":"a"}}`},
		want: []string{"dangling: p 'a': [9]", "duplicate: p 'a': [1]"},
	},
	{
		reason: "a parent that doesn't exist",
		c:      []string{`{"_id":1,"of":{"parent":"$z"}}`},
		want:   []string{"extra: c 1: ['$z']"},
	},
	{
		reason: "a child of two parents is missing in the one that it doesn't hold",
		p:      []string{`{"_id":"a","list":[1]}`, `{"_id":"b","list":[1]}`},
		c:      []string{`{"_id":1,"of":{"parent":"a"}}`},
		want:   []string{"missing: p 'b': [1]"},
	},
	{
		reason: "when the first wins, the second is content", first: true,
		p: []string{`{"_id":"a","list":[1]}`, `{"_id":"b","list":[1]}`}, c: []string{`{"_id":1,"of":{"parent":"a"}}`},
	},
	{
		reason: "when the first wins, the second must not have it", first: true,
		p: []string{`{"_id":"a","list":[1]}`, `{"_id":"b","list":[1]}`}, c: []string{`{"_id":1,"of":{"parent":"b"}}`},
		want: []string{"missing: p 'a': [1]"},
	},
	{
		reason: "before the drop, no list means no children",
		p:      []string{`{"_id":"a"}`}, c: []string{`{"_id":1,"of":{"parent":"a"}}`},
		want: []string{"extra: p 'a': [1]"},
	},
	{
		reason: "during the drop, no list means dropped", dropping: true,
		p: []string{`{"_id":"a"}`}, c: []string{`{"_id":1,"of":{"parent":"a"}}`},
	},
	{
		reason: "to lists: what the child holds is the old form", toLists: true,
		p: []string{`{"_id":"a","list":[2]}`, `{"_id":"b"}`},
		c: []string{
			`{"_id":1,"of":{"parent":"a"}}`, `{"_id":2,"of":{"parent":"b"}}`, `{"_id":3,"of":{"parent":"z"}}`,
		},
		want: []string{"extra: p 'a': [2]", "missing: c 3: ['z']", "missing: p 'a': [1]", "missing: p 'b': [2]"},
	},
	{
		reason: "to lists, before the drop: a listed child that holds nothing is extra", toLists: true,
		p: []string{`{"_id":"a","list":[1]}`}, c: []string{`{"_id":1}`},
		want: []string{"extra: p 'a': [1]"},
	},
	{
		reason: "to lists, during the drop: a listed child that holds nothing is dropped", toLists: true,
		dropping: true,
		p:        []string{`{"_id":"a","list":[1]}`}, c: []string{`{"_id":1}`},
	},
	{
		reason: "what should be a list and is none lists nothing",
		p:      []string{`{"_id":"a","list":"1"}`, `{"_id":"b","list":null}`}, c: []string{`{"_id":1}`},
	},
}

func TestInvertVerify(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	for _, tc := range invertVerifyCases {
		t.Run(tc.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				m := newInvert(migrate.InvertSpec{Order: "at", FirstWins: tc.first})
				if tc.toLists {
					m = newInvert(migrate.InvertSpec{Order: "at", FirstWins: tc.first, ToLists: true})
				}
				if err := (stored{"p": tc.p, "c": tc.c}).insert(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				if tc.dropping {
					beginDrop(t, db, m)
				}
				wantLines(t, tc.reason, mismatches(t, db, m), append([]string{}, tc.want...))
				newForm := "c"
				if tc.toLists {
					newForm = ""
				}
				wantDropReports(t, db, m, newForm)
			})
		})
	}
}

func TestInvertShared(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{
			"p": {`{"_id":"a","list":[1,2,7]}`, `{"_id":"b","list":[2,3,3]}`, `{"_id":"c","list":[4]}`},
			"c": {`{"_id":1}`, `{"_id":2}`, `{"_id":3}`, `{"_id":4}`},
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		m := newInvert(migrate.InvertSpec{})
		dry, _ := m.Copy().Run(t.Context(), db, model.JobOptions{DryRun: true})
		wantLines(t, "dry run", inWords(dry.Findings), []string{"shared: c 2: ['a', 'b']"})
		passed, err := m.Copy().Run(t.Context(), db, model.JobOptions{})
		var left *model.LeftError
		if !errors.As(err, &left) || left.Left != 1 || passed.Left != 1 || passed.Modified != 3 {
			t.Errorf("copied %d, left %d: %v", passed.Modified, passed.Left, err)
		}
		wantLines(t, "copy", inWords(passed.Findings), []string{"shared: c 2: ['a', 'b']"})
		passed, err = m.Drop().Run(t.Context(), db, model.JobOptions{})
		if !errors.As(err, &left) || passed.Modified != 1 {
			t.Errorf("dropped %d: %v", passed.Modified, err)
		}
		wantLines(t, "drop", inWords(passed.Findings), []string{
			"dangling: p 'a': [7]", "duplicate: p 'b': [3]", "missing: p 'a': [2]", "missing: p 'b': [2]",
		})
		stored{"p": {`{"_id":"a","list":[1,2,7]}`, `{"_id":"b","list":[2,3,3]}`, `{"_id":"c"}`}}.want(t, db)
	})
}

func TestInvertFirstWins(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	migrationCase{
		size: 1, migration: newInvert(migrate.InvertSpec{FirstWins: true}),
		before: stored{"p": {`{"_id":"a","list":[1]}`, `{"_id":"b","list":[1,2]}`}, "c": {`{"_id":1}`, `{"_id":2}`}},
		copied: stored{"c": {`{"_id":1,"of":{"parent":"a"}}`, `{"_id":2,"of":{"parent":"b"}}`}},
		after: stored{
			"p": {`{"_id":"a"}`, `{"_id":"b"}`},
			"c": {`{"_id":1,"of":{"parent":"a"}}`, `{"_id":2,"of":{"parent":"b"}}`},
		},
	}.check(t)
}

func TestInvertBegin(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{"p": {`{"_id":"a","list":[1]}`}, "c": {`{"_id":1}`}}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		// The wrong direction would empty every list.
		_, err := newInvert(migrate.InvertSpec{ToLists: true}).Copy().Run(t.Context(), db, model.JobOptions{})
		if !errors.Is(err, migrate.ErrPresent) {
			t.Errorf("to lists over lists: %v", err)
		}
		seed.want(t, db)
		mustPass(t, db, newInvert(migrate.InvertSpec{Overwrite: true, ToLists: true}).Copy())
		stored{"p": {`{"_id":"a","list":[]}`}}.want(t, db)
	})
}

func TestInvertResumes(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{"p": {`{"_id":"a","list":[4,3,2,1]}`}, "c": {`{"_id":1}`, `{"_id":2}`, `{"_id":3}`, `{"_id":4}`}}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		m, size := newInvert(migrate.InvertSpec{Order: "at"}), 1
		stop := errors.New("enough")
		var seen []int64
		o := model.JobOptions{Checkpoint: "jobs", BatchSize: size, Progress: func(p model.Progress) error {
			if seen = append(seen, p.Documents); p.Batches == 2 {
				return stop
			}
			return nil
		}}
		if p, err := m.Copy().Run(t.Context(), db, o); !errors.Is(err, stop) || p.Modified != 2 {
			t.Errorf("stopped: %+v, %v", p, err)
		}
		o.Progress = nil
		p, err := m.Copy().Run(t.Context(), db, o)
		if err != nil || p.Documents != 2 || p.Modified != 2 || !p.Done {
			t.Errorf("resumed: %+v, %v", p, err)
		}
		wantLines(t, "both runs", mismatches(t, db, m), []string{})
		if got := fmt.Sprint(seen, contents(t, db, "jobs")); got != "[1 2] []" {
			t.Errorf("progress and checkpoints: %s", got)
		}
	})
}

func TestInvertCost(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var seed stored = stored{}
		for p := range 10 {
			var ids []string
			for c := range 20 {
				seed["c"] = append(seed["c"], fmt.Sprintf(`{"_id":%d}`, p*20+c))
				ids = append(ids, fmt.Sprint(p*20+c))
			}
			seed["p"] = append(seed["p"], fmt.Sprintf(`{"_id":"%d","list":[%s]}`, p, strings.Join(ids, ",")))
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		m, size := newInvert(migrate.InvertSpec{Order: "at"}), 100
		run := func(p model.Job, want model.Cost) {
			t.Helper()
			modeltest.WantCost(t, monitor, want, func() error {
				_, err := p.Run(t.Context(), db, model.JobOptions{BatchSize: size})
				return err
			})
		}
		// Begin: state, presence, begin. Each of 2 batches: children, state, parents, update. The end: two reads.
		run(m.Copy(), model.Cost{Commands: 3 + 2*4 + 2, Written: 1 + 200, Returned: 200 + 10 + 2})
		// Nothing differs: the state; children, state, parents; the end.
		run(m.Copy(), model.Cost{Commands: 1 + 2*3 + 2, Returned: 200 + 10 + 1 + 2})
		// The state; parents, children (and a second batch of them), update; the end.
		run(m.Drop(), model.Cost{Commands: 1 + 4 + 2, Written: 1 + 10, Returned: 10 + 200})
	}, monitor)
}

func TestInvertLiveWriters(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	race := &racer{}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{
			"p": {`{"_id":"a","list":[1,2,3]}`, `{"_id":"b","list":[4,5]}`, `{"_id":"z","list":[6]}`},
			"c": {`{"_id":1}`, `{"_id":2}`, `{"_id":3}`, `{"_id":4}`, `{"_id":5}`, `{"_id":6}`},
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		m, size := newInvert(migrate.InvertSpec{Order: "at"}), 2
		writers := []func(){
			func() {
				update(t, db, "p", "a", `{"$pull":{"list":1}}`)
				update(t, db, "p", "b", `{"$push":{"list":1}}`)
			},
			func() { update(t, db, "p", "a", `{"$set":{"list":[3,2]}}`) },
			func() { update(t, db, "p", "b", `{"$pull":{"list":4}}`) },
		}
		options := model.JobOptions{BatchSize: size}
		options.Progress = func(p model.Progress) error {
			if p.Batches <= len(writers) && !p.Done {
				writers[p.Batches-1]()
			}
			return nil
		}
		_, err := m.Copy().Run(t.Context(), db, options)
		if err != nil {
			t.Fatal(err)
		}
		if len(mismatches(t, db, m)) == 0 {
			t.Error("the writers changed nothing that the first pass had copied")
		}
		mustPass(t, db, m.Copy(), size)
		wantLines(t, "after the second pass", mismatches(t, db, m), []string{})
		// A writer comes between the read and the write of the drop.
		race.setBefore(2, "update", "p", func() { update(t, db, "p", "z", `{"$push":{"list":4}}`) })
		if got := mustPass(t, db, m.Drop(), size); got.Writes != 3 || got.Modified != 2 {
			t.Errorf("the drop planned %d and wrote %d", got.Writes, got.Modified)
		}
		stored{
			"p": {`{"_id":"a"}`, `{"_id":"b"}`, `{"_id":"z","list":[6,4]}`},
			"c": {
				`{"_id":1,"of":{"parent":"b"},"at":1}`, `{"_id":2,"of":{"parent":"a"},"at":1}`,
				`{"_id":3,"of":{"parent":"a"},"at":0}`,
				`{"_id":4,"of":{}}`, `{"_id":5,"of":{"parent":"b"},"at":0}`, `{"_id":6,"of":{"parent":"z"},"at":0}`,
			},
		}.want(t, db)
		wantLines(t, "after the drop", mismatches(t, db, m), []string{"missing: p 'z': [4]"})
	}, race.option())
}

// hostile are values that mean something where they would be taken for more than data.
var hostile = []string{"$where", "a.b", "^.*", "$$ROOT", "é\x00é", "{$ne: 1}", "plain"}
