package relate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var danglingSpecs = []relate.DanglingSpec{
	{Repair: relate.DetachIDs}, {Repair: relate.DeleteReferrers}, {Repair: relate.ReplaceIDs, ReplaceBy: "b"},
}

// A mending that was cut is completed by running it again.
func TestDanglingFaults(t *testing.T) {
	parallel(t)
	for _, way := range danglingWays {
		for i, spec := range danglingSpecs {
			if spec.Repair == relate.ReplaceIDs && way.path == "owner.id" {
				continue
			}
			lost := relate.NewDangling(crates, way.path, tags, spec)
			want := []string{way.detached, way.deleted, way.other}[i]
			check := func(t testing.TB, db *mongo.Database) {
				if got := valuesOf(t, db, way.path); got != want {
					t.Errorf("left %s\nwant %s", got, want)
				}
			}
			t.Run(way.path+"/"+spec.Repair.String(), func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: seedCrates, Check: check, Run: mending(lost.Checks())})
			})
			t.Run(way.path+"/"+spec.Repair.String()+"/in batches of one", func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: seedCrates, Check: check,
					Run: func(ctx context.Context, db *mongo.Database) error {
						_, err := inBatchesOfOne(lost).Run(ctx, db, model.JobOptions{})
						return err
					},
				})
			})
		}
	}
}

// inBatchesOfOne is the job that mends one document after the other, and waits for no age.
func inBatchesOfOne(lost *relate.Dangling[crate, string, tag, string]) model.Job {
	check := lost.Checks()[0]
	check.Age = 0
	job := check.Job()
	job.BatchSize = 1
	return job
}

// Another writer gives the crate 2 other tags while it is mended: what it wrote stays. The missing tag that it puts in
// comes back as it is, and only that.
func TestDanglingInterleaved(t *testing.T) {
	parallel(t)
	update := func(update bson.D) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := crates.Update("2", update).Run(ctx, db)
			return err
		}
	}
	set := func(path string, v any) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: path, Value: v}}}} }
	for _, c := range []struct {
		reason, path string
		other        func(context.Context, *mongo.Database) error
		want         []string // for each policy, what crate 2 holds: one of several
	}{
		{"a reference led elsewhere", "main", update(set("main", "a")), []string{"'a'", "'a'|-", "'a'"}},
		{"a list replaced", "tags", update(set("tags", bson.A{"a", "b"})), []string{"['a', 'b']", "['a', 'b']|-", "['a', 'b']"}},
		{"a list added to", "tags", update(bson.D{{Key: "$push", Value: bson.D{{Key: "tags", Value: "b"}}}}), []string{"['a', 'b']", "-", "['b', 'a', 'b', 'b', 'b']"}},
		{
			"an element changed", "lines.tag", update(bson.D{{Key: "$push", Value: bson.D{{Key: "lines", Value: bson.D{{Key: "tag", Value: "a"}, {Key: "n", Value: 7}}}}}}),
			[]string{"[{tag: 'b', n: 2}, {n: 3}, {tag: 'a', n: 7}]", "-", "[{tag: 'b', n: 1}, {tag: 'b', n: 2}, {n: 3}, {tag: 'b', n: 4}, {tag: 'a', n: 7}]"},
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
		for i, spec := range danglingSpecs {
			t.Run(c.reason+"/"+spec.Repair.String(), func(t *testing.T) {
				lost := relate.NewDangling(crates, c.path, tags, spec)
				mend := mending(lost.Checks())
				other := c.other
				if other == nil {
					other = mend
				}
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Seed: seedCrates, OnServer: 3, A: mend, B: other,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						gone := spec.Repair == relate.DeleteReferrers && errB != nil // the writer found no crate
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
	all, err := model.Find[bson.Raw]{Query: model.Query{Collection: "crates", Filter: bson.D{{Key: "_id", Value: "2"}}}}.All(context.Background(), db)
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
	parallel(t)
	for _, c := range []struct {
		path   string
		repair relate.RepairPolicy
		want   string
	}{
		{"main", relate.DetachIDs, "db.crates.updateOne({_id: '1', main: {$in: ['x', '$y']}}, {$unset: {main: ''}})"},
		{"tags", relate.DetachIDs, "db.crates.updateOne({_id: '1', tags: {$in: ['x', '$y']}}, {$pullAll: {tags: ['x', '$y']}})"},
		{"lines.tag", relate.DetachIDs, "db.crates.updateOne({_id: '1', 'lines.tag': {$in: ['x', '$y']}}, {$pull: {lines: {tag: {$in: ['x', '$y']}}}})"},
		{"owner.id", relate.DetachIDs, "db.crates.updateOne({_id: '1', 'owner.id': {$in: ['x', '$y']}}, {$set: {'owner.id': null, 'owner.ended': true}, $inc: {'owner.v': Long('1')}})"},
		{"main", relate.DeleteReferrers, "db.crates.deleteOne({_id: '1', main: {$in: ['x', '$y']}})"},
		{"main", relate.ReplaceIDs, "db.crates.updateOne({_id: '1', main: {$in: ['x', '$y']}}, {$set: {main: 'b'}})"},
		{"tags", relate.ReplaceIDs, "db.crates.updateOne({_id: '1', tags: {$in: ['x', '$y']}}, {$set: {'tags.$[e]': 'b'}}, {arrayFilters: [{e: {$in: ['x', '$y']}}]})"},
		{"lines.tag", relate.ReplaceIDs, "db.crates.updateOne({_id: '1', 'lines.tag': {$in: ['x', '$y']}}, {$set: {'lines.$[e].tag': 'b'}}, {arrayFilters: [{'e.tag': {$in: ['x', '$y']}}]})"},
	} {
		spec := relate.DanglingSpec{Repair: c.repair}
		if c.repair == relate.ReplaceIDs {
			spec.ReplaceBy = "b"
		}
		check := relate.NewDangling(crates, c.path, tags, spec).Checks()[0]
		p := check.Mend(foundAs(t, check, danglingRow("1", "x"), danglingRow("1", "$y")))
		if got := p.String(); got != c.want {
			t.Errorf("%s, %s:\n%s\nwant %s", c.path, c.repair, got, c.want)
		}
		two := check.Mend(foundAs(t, check, danglingRow("1", "x"), danglingRow("2", "x")))
		if cost := two.Cost(); cost.Commands != 1 || cost.Written != 2 || two.Guarantee() != model.Rerunnable || fmt.Sprint(cost.Indexes) != "[_id_]" {
			t.Errorf("%s, %s: %v, %v", c.path, c.repair, cost, two.Guarantee())
		}
	}
	only := relate.NewDangling(crates, "main", tags).Checks()[0]
	if only.Mend != nil || only.Job().Err == nil {
		t.Error("a check that only reports mends")
	}
}

// danglingRow is the detail of a finding: a document, and an id that it holds.
func danglingRow(doc, id any) bson.D { return bson.D{{Key: "doc", Value: doc}, {Key: "id", Value: id}} }

func TestDanglingCommands(t *testing.T) {
	parallel(t)
	lost := relate.NewDangling(crates, "lines.tag", tags, relate.DanglingSpec{Repair: relate.DetachIDs})
	ids := "{$cond: [{$isArray: '$lines.tag'}, '$lines.tag', {$cond: [{$eq: [{$ifNull: ['$lines.tag', null]}, null]}, [], ['$lines.tag']]}]}"
	for _, c := range []struct{ reason, got, want string }{
		{"references", lost.Checks()[0].In(bson.D{{Key: "_id", Value: "$1"}}).String(), "db.crates.aggregate([{$match: {_id: '$1'}}, {$sort: {_id: 1}}, {$project: {ids: " + ids + "}}, " +
			"{$lookup: {from: 'tags', localField: 'ids', foreignField: '_id', pipeline: [{$project: {_id: 1}}], as: 'known'}}, " +
			"{$project: {_id: 0, doc: '$_id', path: {$literal: 'lines.tag'}, id: {$reduce: {input: {$filter: {input: '$ids', as: 'id', " +
			"cond: {$not: [{$in: ['$$id', {$concatArrays: ['$known._id', {$literal: [null, '']}]}]}]}}}, initialValue: [], " +
			"in: {$cond: [{$in: ['$$this', '$$value']}, '$$value', {$concatArrays: ['$$value', ['$$this']]}]}}}}}, {$unwind: '$id'}])"},
		{"missing ids", lost.Missing(nil).String(), "db.crates.aggregate([{$project: {_id: 0, ids: {$setUnion: [" + ids + "]}}}, {$unwind: '$ids'}, {$match: {ids: {$nin: [null, '']}}}, " +
			"{$group: {_id: '$ids', n: {$sum: Long('1')}}}, {$lookup: {from: 'tags', localField: '_id', foreignField: '_id', pipeline: [{$project: {_id: 1}}], as: 'known'}}, " +
			"{$match: {known: {$size: 0}}}, {$project: {_id: 0, id: '$_id', n: 1}}, {$sort: {n: -1, id: 1}}])"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%s\nwant %s", c.reason, c.got, c.want)
		}
	}
}

// What a call returns doesn't change with what the caller does to its arguments afterwards.
func TestDanglingPure(t *testing.T) {
	parallel(t)
	lost := relate.NewDangling(crates, "tags", tags, relate.DanglingSpec{Repair: relate.DetachIDs})
	check := lost.Checks()[0]
	found := foundAs(t, check, danglingRow("1", "x"), danglingRow("1", "y"))
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
