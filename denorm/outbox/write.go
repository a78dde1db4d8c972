package outbox

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// errFull says that too many events wait in a document.
var errFull = fmt.Errorf("docmodel: outbox.Spec.Max events wait already, so run the relay: %w", model.ErrFull)

// publishEvent is the write that adds an event to a document. Its filter has the limit
// and the token: if nothing matches, Done and Reasons find out why.
func (o *untypedOutbox) publishEvent(id, body any, at time.Time, op bson.ObjectID) model.Write {
	event, err := o.encodeEvent(body, at, op)
	if err != nil {
		return model.Refused(o.docs.Name(), err)
	}
	byID, err := o.docs.ByID(id)
	if err != nil {
		return model.Refused(o.docs.Name(), err)
	}
	raw, err := o.docs.RawID("_id", id)
	if err != nil {
		return model.Refused(o.docs.Name(), err)
	}
	room := fmt.Sprintf("%s.%d", o.events, o.spec.Max-1)
	none := bson.D{mql.E(o.events+".id", mql.Op("$ne", op)), mql.E(o.parked+".id", mql.Op("$ne", op))}
	update := bson.D{
		mql.E("$push", bson.D{mql.E(o.events, event)}), mql.E("$set", bson.D{mql.E(o.hash, hashID(raw))}),
	}
	holds := func(path string) bson.D { return bsondoc.JoinFilters(byID, bson.D{mql.E(path+".id", op)}) }
	w := model.Write{
		Collection: o.docs.Name(), Index: model.IDIndex, Expect: model.One, Idempotent: true, Token: op,
		Done: bsondoc.JoinFilters(byID, bson.D{
			mql.E("$or", bson.A{o.matchEvent(o.events, event, op), o.matchEvent(o.parked, event, op)}),
		}),
		Reasons: []model.Reason{
			{If: holds(o.events), Err: stored.ErrToken}, {If: holds(o.parked), Err: stored.ErrToken},
			{If: bsondoc.JoinFilters(byID, bson.D{mql.E(room, mql.Exists(true))}), Err: errFull},
		},
	}
	hasRoom := bsondoc.JoinFilters(byID, none, bson.D{mql.E(room, mql.Exists(false))})
	one := &mongo.UpdateOneModel{Filter: hasRoom, Update: update}
	if o.spec.Create {
		upsert := true
		one.Upsert = &upsert
	}
	w.Model = one
	return w
}

// matchEvent matches documents that have an event with this token and this body.
func (o *untypedOutbox) matchEvent(path string, event bson.D, op bson.ObjectID) bson.D {
	return bson.D{mql.E(path, mql.Op("$elemMatch", bson.D{mql.E("id", op), mql.E("body", mql.Eq(event[2].Value))}))}
}

// makeOutgoing returns the outbox of a new document with its first event.
func (o *untypedOutbox) makeOutgoing(id, body any, at time.Time, op bson.ObjectID) (bson.Raw, error) {
	event, err := o.encodeEvent(body, at, op)
	if err != nil {
		return nil, err
	}
	raw, err := o.docs.RawID("_id", id)
	if err != nil {
		return nil, err
	}
	return bson.Marshal(bson.D{mql.E("events", bson.A{event}), mql.E("hash", hashID(raw))})
}

// retryParked is the write that lets parked events of a document wait again, without
// attempts.
func (o *untypedOutbox) retryParked(id any) model.Write {
	byID, err := o.docs.ByID(id)
	if err != nil {
		return model.Refused(o.docs.Name(), err)
	}
	again := mql.Map("$"+o.parked, "e", bson.D{mql.E("id", "$$e.id"), mql.E("at", "$$e.at"), mql.E("body", "$$e.body")})
	update := mongo.Pipeline{
		mql.Set(mql.E(o.events, mql.Op("$concatArrays", mql.List(o.events), again))),
		bson.D{mql.E("$unset", o.parked)},
	}
	hasParked := bsondoc.JoinFilters(byID, bson.D{mql.E(o.parked+".id", mql.Exists(true))})
	return commands.UpdateIf(o.docs.Name(), hasParked, update)
}

// dropParked is the write that deletes a parked event.
func (o *untypedOutbox) dropParked(id any, op bson.ObjectID) model.Write {
	byID, err := o.docs.ByID(id)
	if err == nil && op.IsZero() {
		err = o.docs.Refuse(o.parked+".id", nil, "is the zero ObjectID: name the event by its token")
	}
	if err != nil {
		return model.Refused(o.docs.Name(), err)
	}
	return commands.UpdateIf(o.docs.Name(), byID, mql.Op("$pull", bson.D{mql.E(o.parked, bson.D{mql.E("id", op)})}))
}
