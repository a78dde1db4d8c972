package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/direction"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// IDIndex is the name of every collection's index on _id.
const IDIndex = "_id_"

// An Index is an index that a technique needs.
type Index struct {
	Collection  string
	Name        string
	Keys        bson.D
	Unique      bool
	Partial     bson.D        // the partialFilterExpression
	ExpireAfter time.Duration // TTL in whole seconds; 0 means no TTL, negative means 0 s
	Why         string        // the queries that need the index

	// Equal is how many of the first keys the queries compare for equality. So an index that
	// begins with these keys in another order or direction serves the queries too. 0 means that
	// the order and the directions matter.
	Equal int
}

// NewIndex returns an index with its default name, e.g. host_1_time_-1.
func NewIndex(collection string, keys bson.D) Index {
	return Index{Collection: collection, Name: indexName(keys), Keys: slices.Clone(keys)}
}

// indexName returns the default name of the server and the driver.
func indexName(keys bson.D) string {
	parts := make([]string, 0, 2*len(keys))
	for _, k := range keys {
		parts = append(parts, k.Key, keyText(k.Value))
	}
	return strings.Join(parts, "_")
}

// keyText returns the value of an index key as text: 1, -1, hashed.
func keyText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if r := reflect.ValueOf(v); r.CanInt() || r.CanUint() || r.CanFloat() {
		return fmt.Sprint(v)
	}
	return shell(v)
}

// String returns the index as a mongosh command.
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

// Model returns the index for the driver.
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

// covers says why x makes y unnecessary, or returns "". See Index.Equal. A unique or TTL index is covered
// only by an index with the same property. A partial index covers only indexes with the
// same filter, because it omits documents.
func (x Index) covers(y Index) string {
	switch {
	case x.Collection != y.Collection, x.Partial != nil && !bsondoc.EqualDocuments(x.Partial, y.Partial),
		y.Unique && !(x.Unique && len(x.Keys) == len(y.Keys)),
		y.ExpireAfter != 0 && (x.ExpireAfter == 0 || x.seconds() != y.seconds()),
		len(y.Keys) > len(x.Keys):
		return ""
	}
	same, opposite := true, true
	for i, k := range y.Keys {
		if equal := min(y.Equal, len(y.Keys)); i < equal {
			if !x.beginsWith(k, equal) {
				return ""
			}
			continue
		}
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
	case len(x.Keys) == len(y.Keys) && y.Equal == 0:
		return "the same keys"
	case len(x.Keys) == len(y.Keys):
		return "its queries can use " + x.Name
	}
	return "its keys are the first of " + x.Name
}

// beginsWith reports whether one of the index's first n keys is k, in any direction.
func (x Index) beginsWith(k bson.E, n int) bool {
	return slices.ContainsFunc(x.Keys[:n], func(e bson.E) bool {
		plain := direction.Parse(k.Value) != 0 && direction.Parse(e.Value) != 0
		return e.Key == k.Key && (plain || keyText(e.Value) == keyText(k.Value))
	})
}

// ttl converts expireAfterSeconds to ExpireAfter.
func ttl(seconds int64) time.Duration {
	if seconds <= 0 {
		return -1
	}
	return time.Duration(seconds) * time.Second
}
