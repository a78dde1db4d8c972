package kills

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type measured struct {
	ID   string       `bson:"_id"`
	At   time.Time    `bson:"at"`
	Of   string       `bson:"of"`
	Size int64        `bson:"size"`
	Mark *rollup.Mark `bson:"mark,omitempty"`
}

var (
	measures = model.NewCollection[measured, string]("measured")
	totals   = rollup.New(measures,
		model.NewCollection[rollup.Doc[string, int64], string]("measured_totals"), rollup.Spec{
			Time: "at", By: []string{"of"}, Sums: []string{"size"},
			Bins: []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly}, Mark: "mark", Keep: 1000,
		})
	measureStore = model.NewStore(model.New("measured", totals), measures)
)

// Writers store events of several hours, in any order, and roll them up now and then.
func init() {
	acts = append(acts, act{
		name: "roll-ups", technique: totals,
		begin: func(context.Context, *mongo.Database) error { return nil },
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			at := noon.Add(time.Duration(o.n*7%50) * time.Hour)
			_, _, err := measureStore.Insert(measured{
				ID: fmt.Sprint(o.writer, "-", o.n), At: at, Of: "x", Size: int64(o.n),
			}).Run(ctx, db)
			if err == nil && o.n%5 == 0 {
				_, err = totals.Roll().Run(ctx, db, model.JobOptions{})
			}
			return err
		},
		settle: func(ctx context.Context, db *mongo.Database) error {
			_, err := totals.Roll().Run(ctx, db, model.JobOptions{})
			return err
		},
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			var n, size int64
			for _, all := range done {
				for i := range all {
					n, size = n+1, size+int64(i)
				}
			}
			for _, unit := range []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly} {
				list, err := totals.Bins("x", unit, time.Time{}, time.Time{}).All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				var gotN, gotSize int64
				for _, b := range list {
					gotN, gotSize = gotN+b.N, gotSize+b.Values["size"].Sum
				}
				if gotN != n || gotSize != size {
					t.Errorf("unit %d: %d events of %d, sizes %d of %d", unit, gotN, n, gotSize, size)
				}
			}
		},
	})
}
