package rollup

// This file reads events, and computes with their numbers in the number type of the bins.

import (
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An event is the part of a document that is counted.
type event struct {
	id bson.RawValue
	at time.Time
	// The group as the beginning of a bin's _id; "" without By.
	key string
	// In the order of Rollup.by.
	group []bson.RawValue
	// In the order of Rollup.sources, as the bins store them; nil for a missing value.
	values []any
	// Zero while the event waits.
	batch  bson.ObjectID
	marked bool
}

// projectEvent projects events to the fields that readEvent needs.
func (r *untypedRollup) projectEvent() bson.D {
	paths := r.listCountedPaths()
	return commands.ProjectFields(slices.Insert(paths, 1, r.batchPath())...)
}

// readEvent reads and checks an event.
func (r *untypedRollup) readEvent(doc bson.Raw) (e event, err error) {
	e.id = bsonval.Clone(doc.Lookup("_id"))
	e.batch, e.marked = doc.Lookup(r.mark, "batch").ObjectIDOK()
	at, err := stored.ValueAt(r.docs, doc, r.time)
	if err != nil {
		return e, err
	}
	ms, ok := at.DateTimeOK()
	if !ok {
		return e, r.docs.Refuse(r.time, nil, "is missing: an event needs a time")
	}
	e.at = time.UnixMilli(ms).UTC()
	if err := r.checkTime(r.docs.Refuse, r.time, e.at); err != nil {
		return e, err
	}
	var texts []string
	for _, path := range r.by {
		v, err := stored.ValueAt(r.docs, doc, path)
		if err != nil {
			return e, err
		}
		text, ok := encodeText(v)
		if !ok {
			return e,
				r.docs.Refuse(path, nil,
					"must be a string that isn't empty, an integer or an ObjectID: it is part of the group")
		}
		texts, e.group = append(texts, text), append(e.group, bsonval.Clone(v))
	}
	e.key = strings.Join(texts, "#")
	for _, s := range r.sources {
		v, err := stored.ValueAt(r.docs, doc, s.path)
		if err != nil {
			return e, err
		}
		n, err := r.kind.convertNumber(v)
		if err != nil {
			return e, r.docs.Refuse(s.path, v, err.Error())
		}
		e.values = append(e.values, n)
	}
	return e, nil
}

// A refusal makes the error of a field.
type refusal func(field string, v any, reason string) error

// checkTime refuses times for which a bin could begin outside the years 0 to 9999. Two
// months are a safe margin for each unit and zone.
func (r *untypedRollup) checkTime(refuse refusal, field string, t time.Time) error {
	first, last := t.UTC().AddDate(0, -2, 0).Year(), t.UTC().AddDate(0, 2, 0).Year()
	if t.IsZero() || first < 0 || last > 9999 {
		return refuse(field, t, "must be a non-zero time in the years 0 to 9999")
	}
	return nil
}

// encodeText returns a group's value as a part of an _id.
func encodeText(v bson.RawValue) (string, bool) {
	switch v.Type {
	case bson.TypeString:
		return keytext.EncodeKey(v.StringValue())
	case bson.TypeInt32:
		return keytext.EncodeKey(v.Int32())
	case bson.TypeInt64:
		return keytext.EncodeKey(v.Int64())
	case bson.TypeObjectID:
		return keytext.EncodeKey(v.ObjectID())
	}
	return "", false
}

var (
	// NaN in a sum would stay for ever.
	errFinite = errors.New("isn't a finite number, so it can't be added up")
	errExact  = errors.New("can't be stored exactly in the number type of the bins")
	errSum    = errors.New("the sum is too large for the number type of the bins")
)

// convertNumber returns a number as the bins store it. Values of other types count as
// missing. A number that can't be stored exactly is refused.
func (k kind) convertNumber(v bson.RawValue) (any, error) {
	switch v.Type {
	case bson.TypeInt32:
		return k.convertInt(int64(v.Int32())), nil
	case bson.TypeInt64:
		return k.convertInt(v.Int64()), nil
	case bson.TypeDouble:
		f := v.Double()
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			return nil, errFinite
		case k != floats:
			return nil, errExact
		}
		return f, nil
	case bson.TypeDecimal128:
		d := v.Decimal128()
		switch {
		case d.IsNaN() || d.IsInf() != 0:
			return nil, errFinite
		case k != decimals:
			return nil, errExact
		}
		return d, nil
	case bson.TypeArray:
		return nil, errors.New("is an array, which can't be added up")
	}
	return nil, nil
}

// convertInt returns an integer as the bins store it.
func (k kind) convertInt(n int64) any {
	switch k {
	case floats:
		return float64(n)
	case decimals:
		d, _ := bsonval.Decimal(n)
		return d
	}
	return n
}

// addNumbers adds numbers of the bins. Nil is a missing number. An overflow is an error,
// because $inc would fail on the server.
func (k kind) addNumbers(a, b any) (any, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil:
		return a, nil
	}
	sum, ok := bsonval.Add(a, b)
	switch s := sum.(type) {
	case float64:
		ok = ok && k == floats && !math.IsInf(s, 0)
	case bson.Decimal128:
		ok = ok && s.IsInf() == 0
	}
	if !ok {
		return nil, errSum
	}
	return sum, nil
}

// chooseExtreme returns the smaller of two numbers, or the greater.
func chooseExtreme(a, b any, greater bool) any {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case (bsonval.Compare(b, a) > 0) == greater && bsonval.Compare(b, a) != 0:
		return b
	}
	return a
}

// makeToken makes the token of the batch that an event leads. An event leads at most one
// batch, because its mark goes from waiting to a batch, and is then removed: so its own
// _id distinguishes this batch from all others. The token also depends on the contents of
// the events, in case an event is deleted and another one is stored under its _id.
func makeToken(docs []bson.Raw) (op bson.ObjectID) {
	h := sha256.New()
	for _, d := range docs {
		h.Write(d)
	}
	copy(op[:], h.Sum(nil))
	// The zero token stands for events that wait.
	op[0] |= 1 // never zero
	return op
}
