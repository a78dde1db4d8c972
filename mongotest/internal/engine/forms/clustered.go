package forms

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// ReadClustered reads the clusteredIndex of a collection, nil if the command asks for none
// (https://www.mongodb.com/docs/manual/core/clustered-collections/). It can only be {_id: 1} and unique.
func ReadClustered(a *args.Reader) *store.Clustered {
	d := a.Document("clusteredIndex")
	if d == nil {
		return nil
	}
	part := &args.Reader{Place: a.Place + ".clusteredIndex", Doc: d}
	a.Fail(part.CheckKnown([]string{"v", "key", "name", "unique"}))
	part.Require("key")
	part.Require("unique")
	c := &store.Clustered{Name: part.Text("name")}
	if c.Name == "" {
		c.Name = store.IDIndex
	}
	switch key, unique, v := part.Document("key"), part.Boolean("unique", false), part.Integer("v", 2); {
	case part.Err != nil:
		a.Fail(part.Err)
	case !unique:
		a.Fail(mongoerr.New(5979700, "The clusteredIndex option requires unique: true to be specified"))
	case !IsClusterKey(key):
		a.Fail(mongoerr.New(mongoerr.InvalidIndexSpecificationOption,
			"The clusteredIndex option is only supported for key: {_id: 1}"))
	case v != 2:
		a.Fail(mongoerr.New(5979704,
			"Invalid clusteredIndex specification %s; cannot create a clusteredIndex with v=%d", store.Show(d), v))
	}
	return c
}

// IsClusterKey reports whether an index's key is the only one that a clustered index may have.
func IsClusterKey(key bson.D) bool {
	return len(key) == 1 && key[0].Key == "_id" && bsonval.Compare(key[0].Value, int32(1)) == 0
}

// ShowClustered returns the options of a clustered collection as they are stored, for create, and for collMod when it
// changes the expiry.
func ShowClustered(c *store.Clustered) bson.D {
	options := bson.D{{Key: "clusteredIndex", Value: bson.D{
		{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "_id", Value: int32(1)}}},
		{Key: "name", Value: c.Name}, {Key: "unique", Value: true},
	}}}
	if c.Expires {
		options = append(options, bson.E{Key: "expireAfterSeconds", Value: int64(c.ExpireAfter / time.Second)})
	}
	return options
}
