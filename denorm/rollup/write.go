package rollup

// This file has the writes of events: the claims of a batch, in the order of its states,
// and the deletion of old events.

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

// expireEvents deletes the counted events of before a time.
func (r *untypedRollup) expireEvents(before time.Time) model.Write {
	if err := r.checkTime(r.docs.Refuse, "cutoff", before); err != nil {
		return model.Refused(r.docs.Name(), err)
	}
	return model.Write{
		Collection: r.docs.Name(), Index: r.timeIndex().Name, Final: true,
		Model: &mongo.DeleteManyModel{Filter: bson.D{
			{Key: r.time, Value: bson.D{{Key: "$lt", Value: before}}}, {Key: r.mark, Value: mql.Exists(false)},
		}},
	}
}

// matchWaiting matches the events that no batch has claimed.
func (r *untypedRollup) matchWaiting() bson.E { return r.matchBatch(waiting) }

// matchBatch matches the events of a batch. It says $exists too, because not every server
// infers it from $eq for the partial index.
func (r *untypedRollup) matchBatch(op bson.ObjectID) bson.E {
	return bson.E{Key: r.batchPath(), Value: bson.D{{Key: "$exists", Value: true}, {Key: "$eq", Value: op}}}
}

// A batch is a leader and the events that the batch may claim, with the leader among
// them.
type batch struct {
	// The token.
	op     bson.ObjectID
	leader bson.RawValue
	// All events of the leader's list. Some of them may belong to another batch.
	events []bson.RawValue
}

// listFollowers returns the events besides the leader.
func (b batch) listFollowers() bson.A {
	out := bson.A{}
	for _, id := range b.events {
		if !id.Equal(b.leader) {
			out = append(out, id)
		}
	}
	return out
}

// claimLeader gives the leader the token and the list of the events. It expects that the
// leader waits.
func (r *untypedRollup) claimLeader(b batch) model.Write {
	mark := bson.D{{Key: "batch", Value: b.op}, {Key: "events", Value: mql.Array(b.events)}}
	w := commands.UpdateIf(r.docs.Name(), append(commands.MatchID(b.leader), r.matchWaiting()),
		mql.Set(mql.E(r.mark, mark)))
	w.Expect, w.Deleted = model.One, true
	w.Done = append(commands.MatchID(b.leader), bson.E{Key: r.batchPath(), Value: b.op})
	return w
}

// claimFollowers gives the token to those events of the batch that still wait. After it
// has run once to its end, no event of the list waits, and none can come to the batch or
// leave it for another.
func (r *untypedRollup) claimFollowers(b batch) model.Write {
	return r.updateEvents(append(commands.MatchIDs(b.listFollowers()), r.matchWaiting()),
		mql.Set(mql.E(r.batchPath(), b.op)))
}

// unmarkFollowers removes the marks of the batch's events, without the leader's.
func (r *untypedRollup) unmarkFollowers(b batch) model.Write {
	return r.updateEvents(append(commands.MatchIDs(b.listFollowers()), r.matchBatch(b.op)),
		mql.Op("$unset", bson.D{{Key: r.mark, Value: ""}}))
}

// unmarkLeader removes the leader's mark, and with it the list.
func (r *untypedRollup) unmarkLeader(b batch) model.Write {
	w := commands.UpdateIf(r.docs.Name(), append(commands.MatchID(b.leader), r.matchBatch(b.op)),
		mql.Op("$unset", bson.D{{Key: r.mark, Value: ""}}))
	w.Deleted = true
	return w
}

// updateEvents is an update of several events, with those that a scope has marked as
// deleted.
func (r *untypedRollup) updateEvents(filter, update bson.D) model.Write {
	return model.Write{
		Collection: r.docs.Name(), Index: model.IDIndex, Idempotent: true, Deleted: true,
		Model: &mongo.UpdateManyModel{Filter: filter, Update: update},
	}
}
