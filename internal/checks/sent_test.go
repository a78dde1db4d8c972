package checks

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// sent is a command that a job sent.
type sent bson.D

func (s sent) Command() bson.D  { return bson.D(s) }
func (s sent) String() string   { return model.Shell(bson.D(s)) }
func (s sent) Cost() model.Cost { return model.Cost{Commands: 1} }

// sentBy are the commands that a job sends, of which no stage plans before it has read, over some documents.
func sentBy(job model.Job, over model.Plan) []sent {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("checks")
	if _, err := over.Run(ctx, db); err != nil {
		panic(err)
	}
	monitor.Reset()
	if _, err := job.Run(ctx, db, model.JobOptions{}); err != nil {
		panic(err)
	}
	var out []sent
	for _, c := range monitor.Commands() {
		var cmd bson.D
		if err := bson.Unmarshal(c.Body, &cmd); err != nil {
			panic(err)
		}
		out = append(out, sent(slices.DeleteFunc(cmd, func(e bson.E) bool {
			return slices.Contains([]string{
				"lsid", "$db", "$clusterTime", "txnNumber", "cursor", "ordered", "writeConcern", "readConcern", "$readPreference",
			}, e.Key)
		})))
	}
	return out
}
