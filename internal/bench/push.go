package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/chenmingyong0423/go-mongox/v2/builder/query"
	"github.com/chenmingyong0423/go-mongox/v2/builder/update"
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A host keeps its last messages, how many there ever were, and when the last came.
type host struct {
	ID       bson.ObjectID `bson:"_id"`
	Messages []logMessage  `bson:"logmsgs,omitempty"`
	Count    int64         `bson:"count"`
	Last     time.Time     `bson:"last"`
}

type logMessage struct {
	Time    time.Time `bson:"time"`
	Level   string    `bson:"level"`
	Message string    `bson:"message"`
}

const kept = 1000

var (
	hosts   = model.NewCollection[host, bson.ObjectID]("hosts")
	recent  = bounded.New(hosts, "logmsgs", bounded.Spec{Max: kept})
	hostID  = id(3, 0)
	message = logMessage{time.Date(2014, 3, 28, 9, 42, 41, 0, time.UTC), "warning", "cpu is on fire!"}
)

// pushStatements are the filter and the update, as a command holds them.
var pushStatements = []statement{
	{"hand-written bson.D", func() ([]byte, error) {
		return marshalUpdate(
			bson.D{{Key: "_id", Value: hostID}},
			bson.D{
				{Key: "$push", Value: bson.D{{Key: "logmsgs", Value: bson.D{
					{Key: "$each", Value: bson.A{message}}, {Key: "$slice", Value: -kept},
				}}}},
				{Key: "$inc", Value: bson.D{{Key: "count", Value: int64(1)}}},
				{Key: "$set", Value: bson.D{{Key: "last", Value: message.Time}}},
			},
		)
	}},
	{"docmodel Bounded.Push, Update, Update, Merge", func() ([]byte, error) {
		w := model.Merge(
			recent.Push(hostID, message),
			hosts.Update(hostID, bson.D{{Key: "$inc", Value: bson.D{{Key: "count", Value: int64(1)}}}}),
			hosts.Update(hostID, bson.D{{Key: "$set", Value: bson.D{{Key: "last", Value: message.Time}}}}),
		)
		return marshalWrite(w)
	}},
	{"docmodel Bounded.PushWith", func() ([]byte, error) {
		w := recent.PushWith(hostID, bson.D{
			{Key: "$inc", Value: bson.D{{Key: "count", Value: int64(1)}}},
			{Key: "$set", Value: bson.D{{Key: "last", Value: message.Time}}},
		}, message)
		return marshalWrite(w)
	}},
	{"go-mongox builders", func() ([]byte, error) {
		return marshalUpdate(
			query.NewBuilder().Id(hostID).Build(),
			update.NewBuilder().
				Push("logmsgs", update.NewBuilder().Each(message).Slice(-kept).Build()).
				Inc("count", int64(1)).
				Set("last", message.Time).
				Build(),
		)
	}},
}

// marshalUpdate makes a statement's bytes like the driver's BulkWrite, which marshals
// filter and update, and copies their bytes into the command. A nil update means a
// delete.
func marshalUpdate(filter, update any) ([]byte, error) {
	q, err := bson.Marshal(filter)
	if err != nil {
		return nil, err
	}
	var u bson.Raw
	if update != nil {
		if u, err = bson.Marshal(update); err != nil {
			return nil, err
		}
	}
	return statementOf(q, u)
}

// marshalWrite is marshalUpdate for a docmodel write, which a plan encodes before the
// driver does. The driver uses a bson.Raw update as it is, and copies a bson.Raw filter.
func marshalWrite(w model.Write) ([]byte, error) {
	var filter, update any
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		filter, update = m.Filter, m.Update
	case *mongo.UpdateManyModel:
		filter, update = m.Filter, m.Update
	case *mongo.DeleteManyModel:
		filter = m.Filter
	default:
		return nil, cmp.Or(w.Err, fmt.Errorf("%T is none of the writes that are compared", w.Model))
	}
	encoded, err := core.Marshal(filter)
	if err != nil {
		return nil, err
	}
	q, err := bson.Marshal(encoded)
	if err != nil {
		return nil, err
	}
	var u bson.Raw
	if update != nil {
		if u, err = core.Marshal(update); err != nil {
			return nil, err
		}
	}
	return statementOf(q, u)
}

// statementOf is the statement of an update; without an update, that of a delete.
func statementOf(q, u bson.Raw) ([]byte, error) {
	at, doc := bsoncore.AppendDocumentStart(nil)
	doc = bsoncore.AppendDocumentElement(doc, "q", q)
	if u != nil {
		doc = bsoncore.AppendDocumentElement(doc, "u", u)
	}
	return bsoncore.AppendDocumentEnd(doc, at)
}

func pushTable(rounds int) (table, error) {
	rows, err := compare(rounds, contenders(pushStatements))
	return table{
		title: "Build and marshal a bounded push with a counter and a field",
		note: "Three techniques' updates of one document, as one write, marshaled as the driver's BulkWrite does: filter and update " +
			"each, a bson.Raw taken as it is. Target: of the time of the hand-written bson.D at most 0.5 in one call, 0.8 where three " +
			"writes are merged. The bytes that come out are the same.",
		rows: rows,
	}, err
}
