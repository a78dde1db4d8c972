package indexes

import (
	"math"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readExpiryOption reads the option of a TTL index.
func readExpiryOption(a *args.Reader, s *store.IndexSpec) error {
	v, ok := a.Get("expireAfterSeconds")
	if !ok {
		return nil
	}
	if len(s.Fields) > 1 || s.Fields[0].Name == "_id" || s.Fields[0].Kind != store.Ordered {
		return mongoerr.New(mongoerr.CannotCreateIndex,
			"TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: %s", store.Show(a.Doc))
	}
	after, err := ReadExpiry(v)
	s.Expires, s.ExpireAfter = true, after
	return err
}

// ReadExpiry reads a number of seconds.
func ReadExpiry(v any) (time.Duration, error) {
	if !bsonval.IsNumber(v) {
		return 0, mongoerr.New(mongoerr.TypeMismatch,
			"TTL index 'expireAfterSeconds' option must be numeric, but received a type of '%s'", bsonval.TypeName(v))
	}
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
