package design

import (
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// explained is a live database that asks for the plan of each query.
type explained struct {
	*live
	t    *testing.T
	db   *mongo.Database
	seen *int
}

func (x explained) find(q *model.Find[doc], e *entity, w expected) ([]doc, error) {
	if len(q.Filter) > 0 {
		var reply struct {
			Stats struct {
				Returned int `bson:"nReturned"`
				Examined int `bson:"totalDocsExamined"`
			} `bson:"executionStats"`
		}
		command := bson.D{{Key: "explain", Value: q.Command()}, {Key: "verbosity", Value: "executionStats"}}
		if err := x.db.RunCommand(x.ctx, command).Decode(&reply); err != nil {
			return nil, err
		}
		*x.seen++
		most := max(reply.Stats.Returned+1, int(4*w.loaded+min(5, 100*w.loaded))) // more only where that is priced
		for _, c := range q.Filter {
			if in, ok := c.Value.(bson.D); ok && c.Key == "_id" && q.Limit > 0 {
				ids, _ := in[0].Value.([]id)
				most = max(most, len(ids)) // the server sorts all of them
			}
		}
		if reply.Stats.Examined > most {
			x.t.Errorf("%s examines %d documents for %d", q, reply.Stats.Examined, reply.Stats.Returned)
		}
	}
	return x.live.find(q, e, w)
}

// What is priced as read is what the server examines: the indexes of a layout serve its queries.
func TestIndexed(t *testing.T) {
	seen := 0
	for seed := range seeds(8) {
		r := rand.New(rand.NewPCG(seed, 17))
		w := randomWorkload(r)
		g, err := newGraph(w)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			p, err := w.Price(randomLayout(r, g))
			if err != nil {
				continue
			}
			db := mongotest.NewClient(t).Database("indexed")
			run := p.Runner()
			if err := run.Fill(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for i, o := range w.Operations {
				for n := range 3 {
					if err := newWork(p.store, explained{run.live(t.Context(), db, o.Name, n), t, db, &seen}).
						operation(i); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d queries", seen)
	}
}
