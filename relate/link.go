package relate

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Link is one end of a relation that is stored on both sides, with what makes it safe under races: the version that it was
// made at, and the operation that made it. Use it as the element of a list, or as a single reference:
//
//	Tasks []relate.Link[string] `bson:"tasks,omitempty"`
//	Owner relate.Link[string]   `bson:"owner"`
//
// The zero Link holds nothing.
type Link[K any] struct {
	ID K             `bson:"id"`
	V  int64         `bson:"v"`
	Op bson.ObjectID `bson:"op"` // its time is the operation's, by which checks pass over young operations

	// Ended says that a single reference holds nothing any more. Its version goes on counting.
	Ended bool `bson:"ended,omitempty"`
}

// Holds reports whether the link leads to a document.
func (l Link[K]) Holds() bool { return l.V > 0 && !l.Ended }

// Side says which of two stored sides of a relation is believed when the sides differ.
type Side uint8

const (
	// TrustRefs believes the single reference, or the left side: the other side is mended by it. It is the default.
	TrustRefs Side = iota
	// TrustLists believes the list, or the right side.
	TrustLists
)

// FullError says that a list holds as many links as it may. It wraps [model.ErrFull].
type FullError struct {
	Collection, Path string
	ID               any // of the document that holds the list
	Max              int
}

func (e *FullError) Error() string {
	return fmt.Sprintf("docmodel: %s of %s %s is full: it holds %d links already", e.Path, e.Collection, model.Shell(e.ID), e.Max)
}

func (e *FullError) Unwrap() error { return model.ErrFull }

// isLink reports whether a field holds versioned links to K.
func isLink[K any](f model.Field) (versioned bool) {
	return !f.Open && f.Type == reflect.TypeFor[Link[K]]()
}

// link is a versioned link as it is stored.
func link(id any, v int64, op bson.ObjectID) bson.D {
	return bson.D{{Key: "id", Value: id}, {Key: "v", Value: v}, {Key: "op", Value: op}}
}

// exactly is the condition of one operation's link at one version.
func exactly(id any, v int64, op bson.ObjectID) bson.D {
	return bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: v}, {Key: "op", Value: op}}
}

// atVersion finds the document of an _id whose version is as it was read; 0 is also a version that is missing.
func atVersion(id any, path string, v int64) bson.D {
	is := any(v)
	if v == 0 {
		is = bson.D{{Key: "$in", Value: bson.A{nil, int64(0)}}}
	}
	return bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: path, Value: is}}
}

// reserve is the write that lists a link before the other side decides, if there is room. It takes the links to the same document
// below the version off the list: no operation can decide for one of them any more. A first link has none below it.
func reserve(collection, path string, holder, id any, v int64, token bson.ObjectID, max int) model.Write {
	is := link(id, v, token)
	listed := func(link bson.D) bson.D { return bson.D{{Key: "$elemMatch", Value: link}} }
	filter := bson.D{{Key: "_id", Value: model.Eq(holder)}, {Key: path, Value: bson.D{{Key: "$not", Value: listed(exactly(id, v, token))}}}}
	var update any
	if v == 1 {
		filter, update = model.And(filter, room(path, max)), bson.D{{Key: "$push", Value: bson.D{{Key: path, Value: is}}}}
	} else {
		if max > 0 {
			below := bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "v", Value: bson.D{{Key: "$lt", Value: v}}}}
			filter = append(filter, bson.E{Key: "$or", Value: bson.A{room(path, max), bson.D{{Key: path, Value: listed(below)}}}})
		}
		others := mql.Op("$filter", bson.D{
			{Key: "input", Value: mql.Op("$ifNull", "$"+path, bson.A{})}, {Key: "as", Value: "l"},
			{Key: "cond", Value: mql.Op("$or", mql.Op("$ne", "$$l.id", mql.Literal(id)), mql.Op("$gte", "$$l.v", v))},
		})
		update = mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: path, Value: mql.Op("$concatArrays", others, bson.A{mql.Literal(is)})}}}}}
	}
	return model.Write{
		Collection: collection, Expect: model.One, Once: true, Index: model.IDIndex, Reasons: full(collection, path, holder, max),
		Done:  bson.D{{Key: "_id", Value: model.Eq(holder)}, {Key: path, Value: listed(exactly(id, v, token))}},
		Model: &mongo.UpdateOneModel{Filter: filter, Update: update},
	}
}

// ended is a single reference that holds nothing any more.
func ended(v int64, op bson.ObjectID) bson.D {
	return bson.D{{Key: "id", Value: nil}, {Key: "v", Value: v}, {Key: "op", Value: op}, {Key: "ended", Value: true}}
}

// room is the condition that a list holds fewer than max elements, or nothing for no bound.
func room(path string, max int) bson.D {
	if max == 0 {
		return nil
	}
	return bson.D{{Key: fmt.Sprintf("%s.%d", path, max-1), Value: bson.D{{Key: "$exists", Value: false}}}}
}

// full is the reason that a list without room matches nothing.
func full(collection, path string, id any, max int) []model.Reason {
	if max == 0 {
		return nil
	}
	return []model.Reason{{
		If: bson.D{
			{Key: "_id", Value: model.Eq(id)},
			{Key: fmt.Sprintf("%s.%d", path, max-1), Value: bson.D{{Key: "$exists", Value: true}}},
		},
		Err: &FullError{collection, path, id, max},
	}}
}

// checkOp refuses the operation token that the form of the links doesn't take.
func checkOp(collection string, versioned bool, op bson.ObjectID) error {
	switch {
	case versioned && op.IsZero():
		return &model.ValueError{Collection: collection, Field: "op", Reason: "versioned links need the operation's token: bson.NewObjectID(), the same when it is run again"}
	case !versioned && !op.IsZero():
		return &model.ValueError{Collection: collection, Field: "op", Value: op, Reason: "bare ids keep no token: give bson.NilObjectID"}
	}
	return nil
}
