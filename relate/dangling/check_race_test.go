package dangling_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/dangling"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A mending that was cut is completed by running it again.
func TestDanglingFaults(t *testing.T) {
	testkit.Parallel(t)
	eachMending(func(name string, way way, lost *dangling.Dangling[crate, string, tag, string], want string) {
		for how, run := range map[string]testkit.DBFunc{
			"at once": testkit.MendedAll(lost.Checks()),
			"in batches of one": func(ctx context.Context, db *mongo.Database) error {
				return testkit.RunJob(ctx, db, inBatchesOfOne(lost))
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: seedCrates, Run: run, Check: func(
					t testing.TB, db *mongo.Database,
				) {
					if got := valuesOf(t, db, way.path); got != want {
						t.Errorf("left %s\nwant %s", got, want)
					}
				}})
			})
		}
	})
}

// inBatchesOfOne is the job that mends one document after the other, and waits for no age.
func inBatchesOfOne(lost *dangling.Dangling[crate, string, tag, string]) model.Job {
	check := lost.Checks()[0]
	check.Age = 0
	job := check.Job()
	job.Stages[0].BatchSize = 1
	return job
}

// Another writer gives the crate 2 other tags while it is mended: what it wrote stays. The missing tag that it puts in
// comes back as it is, and only that.
func TestDanglingInterleaved(t *testing.T) {
	testkit.Parallel(t)
	update := func(update bson.D) testkit.DBFunc {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := crates.Update("2", update).Run(ctx, db)
			return err
		}
	}
	set := func(path string, v any) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: path, Value: v}}}} }
	for _, c := range []struct {
		reason, path string
		other        testkit.DBFunc
		want         []string // for each scope, what crate 2 holds: one of several
	}{
		{"a reference led elsewhere", "main", update(set("main", "a")), []string{"'a'", "'a'|-", "'a'"}},
		{
			"a list replaced", "tags", update(set("tags", bson.A{"a", "b"})),
			[]string{"['a', 'b']", "['a', 'b']|-", "['a', 'b']"},
		},
		{
			"a list added to", "tags", update(bson.D{{Key: "$push", Value: bson.D{{Key: "tags", Value: "b"}}}}),
			[]string{"['a', 'b']", "-", "['b', 'a', 'b', 'b', 'b']"},
		},
		{
			"an element changed", "lines.tag",
			update(
				bson.D{
					{
						Key:   "$push",
						Value: bson.D{{Key: "lines", Value: bson.D{{Key: "tag", Value: "a"}, {Key: "n", Value: 7}}}},
					},
				},
			),
			[]string{
				"[{tag: 'b', n: 2}, {n: 3}, {tag: 'a', n: 7}]", "-",
				"[{tag: 'b', n: 1}, {tag: 'b', n: 2}, {n: 3}, {tag: 'b', n: 4}, {tag: 'a', n: 7}]",
			},
		},
		{
			"the target comes: saved, or taken away in the last round trip", "main",
			func(ctx context.Context, db *mongo.Database) error {
				_, err := tags.Insert(tag{ID: "x"}).Run(ctx, db)
				return err
			},
			[]string{"'x'|null", "'x'|-", "'x'|'b'"},
		},
		{"two mendings", "tags", nil, []string{"['a']", "-", "['b', 'a', 'b', 'b']"}},
	} {
		for i, m := range mendings {
			t.Run(c.reason+"/"+m.name, func(t *testing.T) {
				lost := dangling.New(crates, c.path, tags, m.spec)
				mend := testkit.MendedAll(lost.Checks())
				other := c.other
				if other == nil {
					other = mend
				}
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Seed: seedCrates, Sample: 3, A: mend, B: other,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						gone := m.spec.Repair == dangling.DeleteReferrers && errB != nil // the writer found no crate
						if errA != nil || errB != nil && !gone {
							t.Errorf("%v; %v", errA, errB)
						}
						if got := crateHolds(t, db, c.path); !slices.Contains(strings.Split(c.want[i], "|"), got) {
							t.Errorf("left %s, want %s", got, c.want[i])
						}
					},
				})
			})
		}
	}
}

// crateHolds is what crate 2 holds at the first name of a path; "-" when it is gone, null when it holds nothing.
func crateHolds(t testing.TB, db *mongo.Database, path string) string {
	t.Helper()
	name, _, _ := strings.Cut(path, ".")
	all, err := (&model.Find[bson.Raw]{
		Query: model.Query{Collection: "crates", Filter: bson.D{{Key: "_id", Value: "2"}}},
	}).All(
		context.Background(), db,
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return "-"
	}
	v, err := all[0].LookupErr(name)
	if err != nil {
		return "null"
	}
	return model.Shell(v)
}

// What mending sends, and what it costs.
func TestDanglingRepairs(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		path string
		spec dangling.Spec
		want string
	}{
		{
			"main", dangling.Spec{Repair: dangling.DetachIDs},
			"db.crates.updateOne({_id: '1', main: {$in: ['x', '$y']}}, {$unset: {main: ''}})",
		},
		{
			"tags", dangling.Spec{Repair: dangling.DetachIDs},
			"db.crates.updateOne({_id: '1', tags: {$in: ['x', '$y']}}, {$pullAll: {tags: ['x', '$y']}})",
		},
		{
			"lines.tag", dangling.Spec{Repair: dangling.DetachIDs},
			"db.crates.updateOne({_id: '1', 'lines.tag': {$in: ['x', '$y']}}, {$pull: {lines: {tag: {$in: ['x', " +
				"'$y']}}}})",
		},
		{
			"main", dangling.Spec{Repair: dangling.DeleteReferrers},
			"db.crates.deleteOne({_id: '1', main: {$in: ['x', '$y']}})",
		},
		{
			"main", dangling.Spec{ReplaceBy: "b"},
			"db.crates.updateOne({_id: '1', main: {$in: ['x', '$y']}}, {$set: {main: 'b'}})",
		},
		{
			"tags", dangling.Spec{ReplaceBy: "b"},
			"db.crates.updateOne({_id: '1', tags: {$in: ['x', '$y']}}, {$set: {'tags.$[e]': 'b'}}, {arrayFilters: " +
				"[{e: {$in: ['x', '$y']}}]})",
		},
		{
			"lines.tag", dangling.Spec{ReplaceBy: "b"},
			"db.crates.updateOne({_id: '1', 'lines.tag': {$in: ['x', '$y']}}, {$set: {'lines.$[e].tag': 'b'}}, " +
				"{arrayFilters: [{'e.tag': {$in: ['x', '$y']}}]})",
		},
	} {
		check := dangling.New(crates, c.path, tags, c.spec).Checks()[0]
		p := check.Mend(testkit.FoundAs(t, check, danglingRow("1", "x"), danglingRow("1", "$y")))
		if got := p.String(); got != c.want {
			t.Errorf("%s, %v:\n%s\nwant %s", c.path, c.spec, got, c.want)
		}
		two := check.Mend(testkit.FoundAs(t, check, danglingRow("1", "x"), danglingRow("2", "x")))
		if cost := two.Cost(); cost.Commands != 1 || cost.Written != 2 || two.Guarantee() != model.Rerunnable ||
			fmt.Sprint(cost.Indexes) != "[_id_]" {
			t.Errorf("%s, %v: %v, %v", c.path, c.spec, cost, two.Guarantee())
		}
	}
	only := dangling.New(crates, "main", tags, dangling.Spec{}).Checks()[0]
	if only.Mend != nil || only.Job().Err == nil {
		t.Error("a check that only reports mends")
	}
}

// danglingRow is the detail of a finding: a document, and an id that it holds.
func danglingRow(doc, id any) bson.D { return bson.D{{Key: "doc", Value: doc}, {Key: "id", Value: id}} }

func TestDanglingCommands(t *testing.T) {
	testkit.Parallel(t)
	lost := dangling.New(crates, "lines.tag", tags, dangling.Spec{Repair: dangling.DetachIDs})
	ids := "{$cond: [{$isArray: '$lines.tag'}, '$lines.tag', {$cond: [{$eq: [{$ifNull: ['$lines.tag', null]}, " +
		"null]}, [], ['$lines.tag']]}]}"
	for _, c := range []struct{ reason, got, want string }{
		{"references", lost.Checks()[0].In(
			bson.D{{Key: "_id", Value: "$1"}},
		).String(), "db.crates.aggregate([{$match: {_id: '$1'}}, {$sort: {_id: 1}}, {$project: {ids: " + ids + "}}, " +
			"{$lookup: {from: 'tags', localField: 'ids', foreignField: '_id', pipeline: [{$project: {_id: 1}}], as: " +
			"'known'}}, " +
			"{$project: {_id: 0, doc: '$_id', path: {$literal: 'lines.tag'}, id: {$reduce: {input: {$filter: " +
			"{input: '$ids', as: 'id', " +
			"cond: {$not: [{$in: ['$$id', {$concatArrays: ['$known._id', {$literal: [null, '']}]}]}]}}}, " +
			"initialValue: [], " +
			"in: {$cond: [{$in: ['$$this', '$$value']}, '$$value', {$concatArrays: ['$$value', ['$$this']]}]}}}}}, " +
			"{$unwind: '$id'}])"},
		{"missing ids", lost.Missing(nil).String(), "db.crates.aggregate([{$project: {_id: 0, " +
			"ids: {$setUnion: [" + ids + "]}}}, {$unwind: '$ids'}, {$match: {ids: {$nin: [null, '']}}}, " +
			"{$group: {_id: '$ids', n: {$sum: Long('1')}}}, {$lookup: {from: 'tags', localField: '_id', " +
			"foreignField: '_id', pipeline: [{$project: {_id: 1}}], as: 'known'}}, " +
			"{$match: {known: {$size: 0}}}, {$project: {n: 1}}, {$sort: {n: -1, _id: 1}}])"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%s\nwant %s", c.reason, c.got, c.want)
		}
	}
}

// What a call returns doesn't change with what the caller does to its arguments afterwards.
func TestDanglingPure(t *testing.T) {
	testkit.Parallel(t)
	lost := dangling.New(crates, "tags", tags, dangling.Spec{Repair: dangling.DetachIDs})
	check := lost.Checks()[0]
	found := testkit.FoundAs(t, check, danglingRow("1", "x"), danglingRow("1", "y"))
	filter := bson.D{{Key: "_id", Value: "1"}}
	plan, find, missing := check.Mend(found), check.In(filter), lost.Missing(filter)
	show := func() string { return plan.String() + find.String() + missing.String() }
	want := show()
	for _, f := range found {
		clear(f.Detail)
	}
	filter[0].Value = "2"
	if got := show(); got != want {
		t.Errorf("changed: %s\nwas %s", got, want)
	}
}

// A document is mended by its _id. The documents that hold some ids are found by the index of the reference.
func TestDanglingIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := testkit.Docs{}
		for i := range 2000 {
			all["crates"] = append(
				all["crates"],
				crate{ID: fmt.Sprint("c", i), Main: fmt.Sprint("t", i%50), Tags: []string{fmt.Sprint("t", i%40)}},
			)
		}
		testkit.SeedAlone(t, db, all)
		main := dangling.New(crates, "main", tags, dangling.Spec{Repair: dangling.DetachIDs})
		listed := dangling.New(crates, "tags", tags, dangling.Spec{Repair: dangling.DetachIDs})
		testkit.EnsureIndexes(t, db, main, listed)
		single, lists := main.Checks()[0], listed.Checks()[0]
		holds := func(path, id string) bson.D {
			return bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: bson.A{id}}}}}
		}
		testkit.WantAllIndexed(t, db, []testkit.IndexedCase{
			{
				Reason: "in one document", Query: single.In(bson.D{{Key: "_id", Value: "c7"}}).Find(),
				Index: model.IDIndex,
			},
			{Reason: "in the documents that hold an id", Query: single.In(holds("main", "t7")).Find(), Index: "main_1"},
			{Reason: "in the lists that hold an id", Query: lists.In(holds("tags", "t7")).Find(), Index: "tags_1"},
			{
				Reason: "a single id taken away",
				Query:  single.Mend(testkit.FoundAs(t, single, danglingRow("c7", "t7"))).Steps[0], Index: model.IDIndex,
			},
			{
				Reason: "ids taken out of a list",
				Query:  lists.Mend(testkit.FoundAs(t, lists, danglingRow("c7", "t7"))).Steps[0], Index: model.IDIndex,
			},
		})
	})
}

func TestDanglingPrices(t *testing.T) {
	testkit.Parallel(t)
	check := dangling.New(crates, "tags", tags, dangling.Spec{Repair: dangling.DetachIDs}).Checks()[0]
	stored := testkit.Docs{
		"crates": {crate{ID: "1", Tags: []string{"x", "a"}}, crate{ID: "2", Tags: []string{"x"}}},
		"tags":   {tag{ID: "a"}},
	}
	testkit.WantPrices(t, testkit.Stored(stored),
		testkit.Reads("Checks", 2, check.Find()),
		testkit.Mending(1, 2, check),
	)
	testkit.WantPrices(t, testkit.Stored(stored), // a batch's read, look and write, and two reads that find no more
		testkit.Does("a job", 3+2, 2, 2+2, testkit.MendedByJobs(check)),
	)
}
