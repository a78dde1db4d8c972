package kills

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var stock = slots.New(model.NewCollection[slots.Doc[string], string]("stock"),
	slots.Spec{Slots: 4, Stock: true, Keep: 1000})

// All writers add to one stock and take from it.
func init() {
	const first = 10_000
	change := func(o op) (n int64) {
		if o.n%2 == 0 {
			return 3
		}
		return -5
	}
	acts = append(acts, act{
		name: "slots", technique: stock,
		begin: func(ctx context.Context, db *mongo.Database) error {
			_, err := stock.Add("nuts", first, opOf(writers, 0).token).Run(ctx, db)
			return err
		},
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			c := stock.Add("nuts", change(o), o.token)
			if n := change(o); n < 0 {
				c = stock.Take("nuts", -n, o.token)
			}
			_, err := c.Run(ctx, db)
			return err
		},
		settle: mended(stock),
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			want := int64(first)
			for w, all := range done {
				for n := range all {
					want += change(op{writer: w, n: n})
				}
			}
			total, err := stock.Totals("nuts").One(t.Context(), db)
			if err != nil || total.Sum != want || total.Free != want {
				t.Errorf("%+v, %v, want %d", total, err, want)
			}
		},
	})
}
