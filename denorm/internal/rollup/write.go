package rollup

import (
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// waiting is the token of events that no batch has claimed.
var waiting bson.ObjectID

// Expire deletes the events of before a time that are rolled up.
func (r *Rollup) Expire(before time.Time) model.Write {
	if err := r.checkTime(r.docs.Refuse, "cutoff", before); err != nil {
		return model.Refused(r.docs.Name(), err)
	}
	return model.Write{Collection: r.docs.Name(), Index: r.ByTime().Name, Final: true, Model: &mongo.DeleteManyModel{Filter: bson.D{
		{Key: r.time, Value: bson.D{{Key: "$lt", Value: before}}}, {Key: r.mark, Value: mql.Exists(false)},
	}}}
}

// isWaiting matches the events that no batch has claimed. Not every server infers $exists from $eq, for its partial index.
func (r *Rollup) isWaiting() bson.E { return r.inBatch(waiting) }

// inBatch matches the events of a batch.
func (r *Rollup) inBatch(op bson.ObjectID) bson.E {
	return bson.E{Key: r.batchPath(), Value: bson.D{{Key: "$exists", Value: true}, {Key: "$eq", Value: op}}}
}

// A batch is what one event leads. The leader holds the list of the events that the batch may claim, itself among them.
type batch struct {
	op     bson.ObjectID
	leader bson.RawValue
	events []bson.RawValue
}

// others are the events besides the leader.
func (b batch) others() bson.A {
	out := bson.A{}
	for _, id := range b.events {
		if !id.Equal(b.leader) {
			out = append(out, id)
		}
	}
	return out
}

// lead claims the leader, with the list of the others. It expects that the leader waits.
func (r *Rollup) lead(b batch) model.Write {
	mark := bson.D{{Key: "batch", Value: b.op}, {Key: "events", Value: mql.A(b.events)}}
	w := commands.UpdateIf(r.docs.Name(), append(commands.ByID(b.leader), r.isWaiting()), mql.Set(mql.E(r.mark, mark)))
	w.Expect, w.Deleted = model.One, true
	w.Done = append(commands.ByID(b.leader), bson.E{Key: r.batchPath(), Value: b.op})
	return w
}

// claim gives the batch those of its events that still wait. Once it has passed through all of them, none waits any more, and
// none can come to the batch or leave it for another.
func (r *Rollup) claim(b batch) model.Write {
	return r.many(append(commands.AmongIDs(b.others()), r.isWaiting()), mql.Set(mql.E(r.batchPath(), b.op)))
}

// release takes the marks off the events of the batch, those of the leader excepted.
func (r *Rollup) release(b batch) model.Write {
	return r.many(append(commands.AmongIDs(b.others()), r.inBatch(b.op)), mql.Op("$unset", bson.D{{Key: r.mark, Value: ""}}))
}

// end takes the mark off the leader, and with it the list.
func (r *Rollup) end(b batch) model.Write {
	w := commands.UpdateIf(r.docs.Name(), append(commands.ByID(b.leader), r.inBatch(b.op)), mql.Op("$unset", bson.D{{Key: r.mark, Value: ""}}))
	w.Deleted = true
	return w
}

func (r *Rollup) many(filter, update bson.D) model.Write {
	return model.Write{
		Collection: r.docs.Name(), Index: model.IDIndex, Once: true, Deleted: true,
		Model: &mongo.UpdateManyModel{Filter: filter, Update: update},
	}
}
