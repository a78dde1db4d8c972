package feed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Where there is no change stream, what was written is found by a field that grows. Deletions are not.
func TestFeedPolls(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := newFeed(feedCopy, feed.Spec{Since: "name"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		o := feedOnce
		o.Poll, o.Queue = true, 7
		total := int64(0)
		for i := range 5 {
			feedWrite(t, feedChanges(t.Context(), db, 1, i*100, 10, false))
			// Many documents with one value, over several pages; and one without the field, which is passed over.
			for k := range 10 {
				_, err := boards.Insert(board{
					ID: fmt.Sprintf("x%d%d", i, k), Name: fmt.Sprintf("v%02d99", i),
				}).Run(t.Context(), db)
				feedWrite(t, err)
			}
			n := feedRun(t, db, feed, o)
			if total += n; n < 11 || n > 14 {
				t.Errorf("round %d applied %d documents, want the 10 new ones and at most 4 changed", i, n)
			}
			wantCopies(t, db)
		}
		_, err := boards.Insert(board{ID: "nameless"}).Run(t.Context(), db)
		feedWrite(t, err)
		_, err = boards.Delete("x00").Run(t.Context(), db)
		feedWrite(t, err)
		if n := feedRun(t, db, feed, o); n != 0 {
			t.Errorf("%d documents were applied that polling can't see", n)
		}
	})
}

// From now on, by polling.
func TestFeedPollsFromNow(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := newFeed(feedCopy, feed.Spec{Since: "name"})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "1"}, board{ID: "b", Name: "2"}}})
		o := feedOnce
		o.Poll, o.FromNow = true, true
		if n := feedRun(t, db, feed, o); n != 0 {
			t.Errorf("%d old documents were applied", n)
		}
		testkit.Seed(t, db, testkit.Docs{
			"boards": {
				board{ID: "a", Name: "1"}, board{ID: "b", Name: "2"}, board{ID: "c", Name: "2"},
				board{ID: "d", Name: "3"},
			},
		})
		if n := feedRun(t, db, feed, o); n != 2 {
			t.Errorf("%d documents were applied, want c and d", n)
		}
	})
}

// A server without change streams is polled without being asked to, or refused.
func TestFeedNoChangeStreams(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	refuse := func() *mongotest.Faults { // what servers say that have none
		return mongotest.NewFaults().From(mongotest.Named("aggregate"), 1, mongotest.Fail(40573))
	}
	for name, spec := range map[string]feed.Spec{"poll": {Since: "name"}, "refuse": {}} {
		t.Run(name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "1"}}})
				err := newFeed(feedCopy, spec).Run(t.Context(), db, feedOnce)
				if name == "refuse" && !errors.Is(err, model.ErrNoChangeStreams) || name == "poll" && err != nil {
					t.Fatalf("the feed ends with %v", err)
				}
				if name == "poll" {
					wantCopies(t, db)
				}
			}, refuse())
		})
	}
}

// A poll goes back by the overlap, and its own updates of the source don't make it go round.
func TestFeedPollOverlap(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	synctest.Test(t, func(t *testing.T) {
		db := mongotest.NewClient(t).Database("feed")
		events := model.NewCollection[bson.M, bson.ObjectID]("events")
		var got []string
		feed := feed.New(events, "events", bson.M{"_id": bson.NewObjectID()},
			func(c feed.Change[bson.M, bson.ObjectID]) model.Plan {
				if c.Doc == nil {
					return model.Plan{}
				}
				name, _ := (*c.Doc)["name"].(string)
				got = append(got, name)
				return model.NewPlan(model.Write{Collection: "events", Model: &mongo.UpdateOneModel{
					Filter: bson.D{{Key: "_id", Value: c.ID}},
					Update: bson.D{{Key: "$set", Value: bson.D{{Key: "upper", Value: strings.ToUpper(name)}}}},
				}})
			}, feed.Spec{Since: "at", Overlap: time.Minute, Mark: "fed"}).Stream()
		o := model.StreamOptions{Poll: true, Once: true, Workers: 1}
		insert := func(name string, at time.Time) {
			_, err := db.Collection("events").
				InsertOne(t.Context(), bson.D{{Key: "name", Value: name}, {Key: "at", Value: at}})
			feedWrite(t, err)
		}
		run := func(want string) {
			t.Helper()
			got = nil
			feedRun(t, db, feed, o)
			if s := strings.Join(got, " "); s != want {
				t.Errorf("the poll sees %q, want %q", s, want)
			}
		}
		begin := time.Now()
		insert("a", begin)
		run("a")
		insert("c", begin.Add(10*time.Minute))
		run("a c")
		insert("late", begin.Add(9*time.Minute+30*time.Second))
		insert("later", begin.Add(8*time.Minute))
		run("late c")
		run("late c")
		insert("d", begin.Add(30*time.Minute))
		run("late c d")
		run("d")
	})
}

// What a feed costs beside its plans: a command for the place in SaveEvery changes, and what reads them; a poll's query
// is served by the index that the feed declares.
func TestFeedCost(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	feed := feed.New(boards, "copies", board{ID: "s"}, feedCopy, feed.Spec{Since: "name"})
	count := func(collection string) (n int) {
		for _, c := range m.Commands() {
			if c.Collection == collection {
				n++
			}
		}
		return n
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.ChangeStreams)
		o := feedOnce
		o.Workers = 1
		feedRun(t, db, feed.Stream(), o)
		feedWrite(t, feedChanges(t.Context(), db, 1, 0, 250, true))
		m.Reset()
		n := feedRun(t, db, feed.Stream(), o)
		if got := int64(count("copies")); got != n || n < 100 {
			t.Errorf("%d commands for the plans of %d changes of one command each", got, n)
		}
		if got := count("docmodel.feeds"); got > 5 {
			t.Errorf("%d commands for the place, want one in 100 changes, one to begin and one to end", got)
		}
		if got := count("boards"); got > 8 {
			t.Errorf("%d commands to read %d changes", got, n)
		}
	}, m)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		x := feed.Indexes()[0]
		_, err := db.Collection("boards").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: x.Keys})
		feedWrite(t, err)
		feedWrite(t, feedChanges(t.Context(), db, 1, 0, 20, false))
		list := make([]any, 2000)
		for i := range list {
			list[i] = board{ID: fmt.Sprint("c", i), Name: fmt.Sprintf("v%05d", i)}
		}
		_, err = db.Collection("boards").InsertMany(t.Context(), list)
		feedWrite(t, err)
		o := feedOnce
		o.Poll, o.FromNow = true, true
		feedRun(t, db, feed.Stream(), o)
		m.Reset()
		feedRun(t, db, feed.Stream(), o)
		for _, c := range m.Commands() {
			if c.Name != "find" {
				continue
			}
			f := &model.Find[bson.Raw]{Query: model.Query{Collection: "boards"}}
			feedWrite(t, bson.Unmarshal(c.Body.Lookup("filter").Value, &f.Filter))
			feedWrite(t, bson.Unmarshal(c.Body.Lookup("sort").Value, &f.Sort))
			modeltest.WantIndexed(t, db, f, x.Name)
		}
	}, m)
}
