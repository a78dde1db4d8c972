package dangling_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/dangling"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A job leaves what no _id can be, and tells; it mends everything else of the batch.
func TestDanglingByHand(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedCrates)
		pattern := bson.Regex{Pattern: ".*"}
		if _, err := db.Collection("crates").UpdateOne(
			ctx, bson.D{{Key: "_id", Value: "2"}}, bson.D{{Key: "$push", Value: bson.D{{Key: "tags", Value: pattern}}}},
		); err != nil {
			t.Fatal(err)
		}
		check := dangling.New(crates, "tags", tags, dangling.Spec{Repair: dangling.DetachIDs}).Checks()[0]
		check.Age = 0
		p, err := check.Job().Run(ctx, db, model.JobOptions{})
		var left *model.LeftError
		if !errors.As(err, &left) || left.Left != 1 || !strings.Contains(err.Error(), "correct it by hand") ||
			p.Modified != 2 {
			t.Errorf("mended %+v, %v", p, err)
		}
		if got, want := valuesOf(t, db, "tags"), "['a', 'b'] ['a', RegExp('.*')] [] - [null, '', 'a']"; got != want {
			t.Errorf("left %s, want %s", got, want)
		}
	})
}

// Documents whose fields are not known: the declared list is mended; an array where a single id was declared is left.
func TestDanglingOpen(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	testkit.Parallel(t)
	open := model.NewCollection[bson.D, any]("open")
	anyTags := model.NewCollection[bson.D, any]("tags")
	doc := func(id int, v any) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: "ref", Value: v}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		mend := func(d *dangling.Dangling[bson.D, any, bson.D, any]) string {
			t.Helper()
			if _, err := testkit.MendAll(ctx, db, d.Checks()); err != nil {
				t.Fatal(err)
			}
			all, err := open.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			return model.Shell(all)
		}
		seed := model.Concat(
			anyTags.InsertMany([]bson.D{{{Key: "_id", Value: int32(5)}}}),
			open.InsertMany(
				[]bson.D{
					doc(1, "x"), doc(2, bson.A{"x", int64(5)}), doc(3, 5.0), {{Key: "_id", Value: 4}},
					doc(5, bson.D{{Key: "k", Value: "$x"}}),
				},
			),
		)
		if _, err := seed.Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		single := dangling.New(open, "ref", anyTags, dangling.Spec{Repair: dangling.DetachIDs})
		if got, want := mend(single), "[{_id: 1}, {_id: 2, ref: ['x', Long('5')]}, {_id: 3, ref: Double(5)}, {_id: "+
			"4}, {_id: 5}]"; got != want {
			t.Errorf("single: %s, want %s", got, want)
		}
		list := dangling.New(open, "ref", anyTags, dangling.Spec{Repair: dangling.DetachIDs, List: "ref"})
		if got, want := mend(list), "[{_id: 1}, {_id: 2, ref: [Long('5')]}, {_id: 3, ref: Double(5)}, {_id: 4}, "+
			"{_id: 5}]"; got != want {
			t.Errorf("list: %s, want %s", got, want)
		}
	})
}

// A target that comes while a job waits for the age saves its references; one that was missing and stays away doesn't.
func TestDanglingMendAge(t *testing.T) {
	testkit.Parallel(t)
	check := dangling.New(crates, "tags", tags, dangling.Spec{Repair: dangling.DetachIDs}).Checks()[0]
	if check.Age != time.Minute {
		t.Errorf("the age is %v", check.Age)
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		check.Age = 400 * time.Millisecond
		ctx := testkit.MustSeed(t, db, seedCrates)
		done := make(chan error)
		go func() {
			time.Sleep(100 * time.Millisecond)
			_, err := tags.Insert(tag{ID: "x"}).Run(ctx, db)
			done <- err
		}()
		var p model.Progress
		cost, err := modeltest.Measure(m, func() (err error) {
			p, err = check.Job().Run(ctx, db, model.JobOptions{})
			return errors.Join(err, <-done)
		})
		// the batch, two looks, the writes; two reads; and the insert
		if err != nil || p.Writes != 2 || cost.Commands != 4+2+1 {
			t.Errorf("mended %+v, %v, %v", p, cost, err)
		}
		if got, want := valuesOf(t, db, "tags"), "['a', 'b'] ['x', 'a', 'x'] ['x'] - [null, '', 'a']"; got != want {
			t.Errorf("left %s, want %s", got, want)
		}
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if _, err := tags.Delete("x").Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		check.Age = time.Hour
		if _, err := check.Job().Run(short, db, model.JobOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled while it waits: %v", err)
		}
	}, m)
}
