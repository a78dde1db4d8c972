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
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: seedCrates, Check: check,
					Run: func(ctx context.Context, db *mongo.Database) error {
						_, _, err := lost.Mend(0).Run(ctx, db)
						return err
					},
				})
			})
			t.Run(way.path+"/"+spec.Repair.String()+"/job", func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: seedCrates, Check: check,
					Run: func(ctx context.Context, db *mongo.Database) error {
						missing, err := lost.Missing(nil).All(ctx, db)
						if err == nil {
							_, err = lost.RepairJob(missing...).Run(ctx, db, model.JobOptions{})
						}
						return err
					},
				})
			})
		}
	}
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
				mend := func(ctx context.Context, db *mongo.Database) error {
					_, _, err := lost.Mend(0).Run(ctx, db)
					return err
				}
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

// What a repair sends, and what it costs.
func TestDanglingRepairs(t *testing.T) {
	parallel(t)
	missing := []relate.MissingID{{ID: rawValue("x")}, {ID: rawValue("$y")}}
	for _, c := range []struct {
		path   string
		repair relate.RepairPolicy
		want   string
	}{
		{"main", relate.ReportOnly, ""},
		{"main", relate.DetachIDs, "db.crates.updateMany({main: {$in: ['x', '$y']}}, {$unset: {main: ''}})"},
		{"tags", relate.DetachIDs, "db.crates.updateMany({tags: {$in: ['x', '$y']}}, {$pullAll: {tags: ['x', '$y']}})"},
		{"lines.tag", relate.DetachIDs, "db.crates.updateMany({'lines.tag': {$in: ['x', '$y']}}, {$pull: {lines: {tag: {$in: ['x', '$y']}}}})"},
		{"owner.id", relate.DetachIDs, "db.crates.updateMany({'owner.id': {$in: ['x', '$y']}}, {$set: {'owner.id': null, 'owner.ended': true}, $inc: {'owner.v': Long('1')}})"},
		{"main", relate.DeleteReferrers, "db.crates.deleteMany({main: {$in: ['x', '$y']}})"},
		{"main", relate.ReplaceIDs, "db.crates.updateMany({main: {$in: ['x', '$y']}}, {$set: {main: 'b'}})"},
		{"tags", relate.ReplaceIDs, "db.crates.updateMany({tags: {$in: ['x', '$y']}}, {$set: {'tags.$[e]': 'b'}}, {arrayFilters: [{e: {$in: ['x', '$y']}}]})"},
		{"lines.tag", relate.ReplaceIDs, "db.crates.updateMany({'lines.tag': {$in: ['x', '$y']}}, {$set: {'lines.$[e].tag': 'b'}}, {arrayFilters: [{'e.tag': {$in: ['x', '$y']}}]})"},
	} {
		spec := relate.DanglingSpec{Repair: c.repair}
		if c.repair == relate.ReplaceIDs {
			spec.ReplaceBy = "b"
		}
		p := relate.NewDangling(crates, c.path, tags, spec).Repair(missing...)
		if got := p.String(); got != c.want {
			t.Errorf("%s, %s:\n%s\nwant %s", c.path, c.repair, got, c.want)
		}
		wantCommands := 1
		if c.repair == relate.ReportOnly {
			wantCommands = 0
		}
		if cost := p.Cost(); cost.Commands != wantCommands || p.Guarantee() == model.Transactional || wantCommands == 1 && fmt.Sprint(cost.Indexes) != "["+c.path+"_1]" {
			t.Errorf("%s, %s: %v, %v", c.path, c.repair, cost, p.Guarantee())
		}
	}
}

func TestDanglingCommands(t *testing.T) {
	parallel(t)
	lost := relate.NewDangling(crates, "lines.tag", tags, relate.DanglingSpec{Repair: relate.DetachIDs})
	ids := "{$cond: [{$isArray: '$lines.tag'}, '$lines.tag', {$cond: [{$eq: [{$ifNull: ['$lines.tag', null]}, null]}, [], ['$lines.tag']]}]}"
	for _, c := range []struct{ reason, got, want string }{
		{"references", lost.Check(bson.D{{Key: "_id", Value: "$1"}}).String(), "db.crates.aggregate([{$match: {_id: '$1'}}, {$sort: {_id: 1}}, {$project: {ids: " + ids + "}}, " +
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
	missing := []relate.MissingID{{ID: rawValue("x")}, {ID: rawValue("y")}}
	filter := bson.D{{Key: "_id", Value: "1"}}
	plan, job, find := lost.Repair(missing...), lost.RepairJob(missing...), lost.Check(filter)
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "1"}, {Key: "tags", Value: bson.A{"x", "z"}}})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := job.Plan([]bson.Raw{doc})
	if err != nil {
		t.Fatal(err)
	}
	show := func() string { return plan.String() + batch.String() + model.Shell(job.Filter) + find.String() }
	want := show()
	if got := batch.String(); got != "db.crates.updateOne({_id: '1', tags: {$in: ['x']}}, {$pullAll: {tags: ['x']}})" {
		t.Error(got)
	}
	clear(missing[0].ID.Value)
	clear(doc)
	missing[1], filter[0].Value = relate.MissingID{}, "2"
	if got := show(); got != want {
		t.Errorf("changed: %s\nwas %s", got, want)
	}
}
