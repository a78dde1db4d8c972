package indexes

import (
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readExpiryOption reads the option of a TTL index, expireAfterSeconds. Such an index has one field, which isn't _id
// (https://www.mongodb.com/docs/manual/core/index-ttl/).
func readExpiryOption(a *args.Reader, s *store.IndexSpec) error {
	v, ok := a.Get("expireAfterSeconds")
	if !ok {
		return nil
	}
	if len(s.Fields) > 1 || s.Fields[0].Name == "_id" || s.Fields[0].Kind != store.Ordered {
		return mongoerr.New(mongoerr.CannotCreateIndex,
			"TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: %s",
			store.Show(a.Doc))
	}
	after, err := ReadExpiry(v)
	// 0 seconds are allowed: a document then expires at the time that its field has. So Expires says that there is a
	// limit.
	s.Expires, s.ExpireAfter = true, after
	return err
}

// ReadExpiry reads the number of seconds of a TTL index, from 0 to 2^31-1, for createIndexes, create and collMod. A
// fraction of a second is cut off.
func ReadExpiry(v any) (time.Duration, error) {
	if !bsonval.IsNumber(v) {
		return 0, mongoerr.New(mongoerr.TypeMismatch,
			"TTL index 'expireAfterSeconds' option must be numeric, but received a type of '%s'", bsonval.TypeName(v))
	}
	// MongoDB cuts off the fraction of a double.
	n, ok := args.ReadWhole(v)
	if f, isDouble := v.(float64); isDouble && !ok {
		n, ok = int64(f), !math.IsNaN(f)
	}
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0, mongoerr.New(mongoerr.InvalidOptions,
			"TTL index 'expireAfterSeconds' option must be within an acceptable range, "+
				"try a different number than %s", store.Show(v))
	}
	return time.Duration(n) * time.Second, nil
}
