package kills

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/subsetpages"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	reading struct {
		ID  string `bson:"_id"`
		Day string `bson:"day"`
	}
	story struct {
		ID     string   `bson:"_id"`
		Newest []remark `bson:"newest,omitempty"`
	}
	remark struct {
		ID string `bson:"id"`
		N  int64  `bson:"n"`
	}
)

var (
	readings = model.NewCollection[reading, string]("readings")
	fewer    = keys.NewSpread(readings, "day", keys.SpreadSpec{Parts: 4, By: "_id"})
	days     = keys.NewSpread(readings, "day", keys.SpreadSpec{Parts: 8, Was: []int{4}, By: "_id"})

	stories = model.NewCollection[story, string]("stories")
	remarks = bucket.New(model.NewCollection[bucket.Doc[string, remark], string]("remarks"),
		bucket.Spec{Max: 10, ElementKey: "id"})
	newest = subsetpages.New(stories, "newest", remarks, subsetpages.Spec{Max: 3, By: bson.D{e("n", -1)}})
)

// Writers of two declarations store readings of one day, and move what is in an old part.
func init() {
	acts = append(acts, act{
		name: "spread keys", technique: days,
		begin: func(context.Context, *mongo.Database) error { return nil },
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			id := fmt.Sprint(o.writer, "-", o.n)
			store := model.NewStore(model.New("readings", days), readings)
			if o.writer%2 == 0 {
				store = model.NewStore(model.New("readings", fewer), readings)
			}
			insert := store.Insert(reading{ID: id, Day: "monday"})
			if _, _, err := insert.Run(ctx, db); err != nil && !mongo.IsDuplicateKeyError(err) &&
				!errors.Is(err, model.ErrTaken) { // it was stored, and moved
				return err
			}
			if o.n%10 == 9 {
				return mended(days)(ctx, db)
			}
			return nil
		},
		settle: mended(days),
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			all, err := days.Find("monday", nil).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, r := range all {
				seen[r.ID] = true
			}
			for w, n := range done {
				for i := range n {
					id := fmt.Sprint(w, "-", i)
					if !seen[id] {
						t.Errorf("%s isn't found", id)
					} else if _, err := days.Point("monday", id).One(t.Context(), db); i%20 == 0 && err != nil {
						t.Errorf("%s isn't found by its part: %v", id, err)
					}
					delete(seen, id)
				}
			}
			if len(seen) > 0 {
				t.Errorf("%d others are there", len(seen))
			}
		},
	})
}

// All writers append remarks to one story.
func init() {
	key := func(w, n int) string { return fmt.Sprint(w, "-", n) }
	acts = append(acts, act{
		name: "newest embedded, rest in pages", technique: newest,
		begin: func(ctx context.Context, db *mongo.Database) error {
			_, err := stories.Insert(story{ID: "s"}).Run(ctx, db)
			return err
		},
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			_, err := newest.Append("s", remark{ID: key(o.writer, o.n), N: int64(o.n*writers + o.writer)}).Run(ctx, db)
			return err
		},
		settle: mended(newest),
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			pages, err := remarks.Oldest("s").All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			next, most := [writers]int{}, int64(-1)
			for _, p := range pages {
				for _, r := range p.Items {
					var w, n int
					if _, err := fmt.Sscanf(r.ID, "%d-%d", &w, &n); err != nil || next[w] != n {
						t.Errorf("%s comes where %d of writer %d is due", r.ID, next[w], w)
					}
					next[w], most = n+1, max(most, r.N)
				}
			}
			if next != done {
				t.Errorf("%v remarks, want %v", next, done)
			}
			s, err := stories.ByID("s").One(t.Context(), db)
			if err != nil || len(s.Newest) != 3 || s.Newest[0].N != most {
				t.Errorf("%+v, %v, want the newest %d first", s, err, most)
			}
		},
	})
}
