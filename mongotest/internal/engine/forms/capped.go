package forms

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// ReadCapped reads the options of a capped collection, nil if the command asks for none.
func ReadCapped(a *args.Reader) *store.Capped {
	capped := a.Boolean("capped", false)
	switch {
	case capped && !a.HasField("size"):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "the 'size' field is required when 'capped' is true"))
	case !capped && (a.HasField("size") || a.HasField("max")):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"the 'capped' field needs to be true when either the 'size' or 'max' fields are present"))
	}
	c := &store.Capped{Size: ReadCappedSize(a, "size"), Max: ReadCappedMax(a, "max")}
	if !capped {
		return nil
	}
	return c
}

// ReadCappedSize reads the size in bytes of a capped collection. name is the field: collMod calls it cappedSize.
func ReadCappedSize(a *args.Reader, name string) int64 {
	n := a.Integer(name, 1)
	if n < 1 || n > maxCappedSize {
		a.Fail(mongoerr.New(51024, "BSON field '%s.%s' value must be >= 1 and <= %d, actual value '%d'", a.Place, name,
			int64(maxCappedSize), n))
	}
	return n
}

// ReadCappedMax reads how many documents a capped collection may have, 0 for any number. A negative number counts as 0.
func ReadCappedMax(a *args.Reader, name string) int64 {
	n := a.Integer(name, 0)
	if n >= 1<<31 {
		a.Fail(mongoerr.New(mongoerr.BadValue, "max in a capped collection has to be < 2^31 or not set"))
	}
	return max(n, 0)
}

// ShowCapped returns the options of a capped collection.
func ShowCapped(c *store.Capped) bson.D {
	d := bson.D{{Key: "capped", Value: true}, {Key: "size", Value: bsonval.Integer(c.Size)}}
	if c.Max > 0 {
		d = append(d, bson.E{Key: "max", Value: bsonval.Integer(c.Max)})
	}
	return d
}

// maxCappedSize is the largest size of a capped collection: 1 PB.
const maxCappedSize = 1 << 50
