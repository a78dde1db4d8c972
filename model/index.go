package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// IDIndex is the name of the index on _id that every collection has.
const IDIndex = "_id_"

// An Index is an index that a technique needs. [NewIndex] names it as the server would.
type Index struct {
	Collection  string
	Name        string
	Keys        bson.D
	Unique      bool
	Partial     bson.D        // partialFilterExpression; nil means all documents
	ExpireAfter time.Duration // TTL, in whole seconds; 0 means none, negative means at once
	Why         string        // the queries that it serves, in words
}

// NewIndex returns an index under its default name, e.g. host_1_time_-1.
func NewIndex(collection string, keys bson.D) Index {
	return Index{Collection: collection, Name: indexName(keys), Keys: slices.Clone(keys)}
}

// indexName is the name that the server and the driver give to an index by default.
func indexName(keys bson.D) string {
	parts := make([]string, 0, 2*len(keys))
	for _, k := range keys {
		parts = append(parts, k.Key, keyText(k.Value))
	}
	return strings.Join(parts, "_")
}

// keyText is the value of an index's key as text: 1, -1, hashed.
func keyText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if r := reflect.ValueOf(v); r.CanInt() || r.CanUint() || r.CanFloat() {
		return fmt.Sprint(v)
	}
	return shell(v)
}

// String is the index as a mongosh command.
func (x Index) String() string {
	o := bson.D{{Key: "name", Value: x.Name}}
	if x.Unique {
		o = append(o, bson.E{Key: "unique", Value: true})
	}
	if x.Partial != nil {
		o = append(o, bson.E{Key: "partialFilterExpression", Value: x.Partial})
	}
	if x.ExpireAfter != 0 {
		o = append(o, bson.E{Key: "expireAfterSeconds", Value: x.seconds()})
	}
	if len(o) == 1 && x.Name == indexName(x.Keys) {
		return shellCall(x.Collection, "createIndex", x.Keys)
	}
	return shellCall(x.Collection, "createIndex", x.Keys, o)
}

func (x Index) seconds() int32 { return int32(max(0, x.ExpireAfter/time.Second)) }

// Model is the index as the driver takes it.
func (x Index) Model() mongo.IndexModel {
	o := options.Index().SetName(x.Name)
	if x.Unique {
		o.SetUnique(true)
	}
	if x.Partial != nil {
		o.SetPartialFilterExpression(x.Partial)
	}
	if x.ExpireAfter != 0 {
		o.SetExpireAfterSeconds(x.seconds())
	}
	return mongo.IndexModel{Keys: slices.Clone(x.Keys), Options: o}
}

// covers says why x makes y needless, or "". An index that does more than serve queries (unique, TTL) is needed whatever
// covers its keys; a partial index covers nothing, for it leaves documents out.
func (x Index) covers(y Index) string {
	switch {
	case x.Collection != y.Collection, x.Partial != nil && !sameD(x.Partial, y.Partial),
		y.Unique && !(x.Unique && len(x.Keys) == len(y.Keys)),
		y.ExpireAfter != 0 && (x.ExpireAfter == 0 || x.seconds() != y.seconds()),
		len(y.Keys) > len(x.Keys):
		return ""
	}
	same, opposite := true, true
	for i, k := range y.Keys {
		if k.Key != x.Keys[i].Key {
			return ""
		}
		dx, dy := keyText(x.Keys[i].Value), keyText(k.Value)
		same = same && dx == dy
		opposite = opposite && (dx == "1" && dy == "-1" || dx == "-1" && dy == "1")
	}
	switch {
	case !same && !opposite:
		return ""
	case len(x.Keys) == len(y.Keys):
		return "the same keys"
	}
	return "its keys are the first of " + x.Name
}

func sameD(a, b bson.D) bool {
	return slices.EqualFunc(a, b, func(x, y bson.E) bool { return x.Key == y.Key && sameValue(x.Value, y.Value) })
}

// ttl is the ExpireAfter that an expireAfterSeconds stands for.
func ttl(seconds int64) time.Duration {
	if seconds <= 0 {
		return -1
	}
	return time.Duration(seconds) * time.Second
}
