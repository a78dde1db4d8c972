package denorm

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxBucketBytes leaves of MongoDB's 16 MiB room for the array and the bucket's own fields.
const maxBucketBytes = 15 << 20

// bucketing is what of a Bucket doesn't depend on its types.
type bucketing struct {
	name   string // of the collection
	spec   BucketSpec
	totals []bucketTotal
	encode func(any) (any, error)
}

// bucketTotal is a number that is added up: its path within an element, and the name it is kept under.
type bucketTotal struct{ path, name string }

func declareBuckets(name string, key any, spec BucketSpec, field func(string) model.Field) *bucketing {
	b := &bucketing{name: name, spec: spec}
	b.spec.Totals = slices.Clone(spec.Totals)
	if b.spec.Location == nil {
		b.spec.Location = time.UTC
	}
	items := field("items")
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewBucket of " + name, Remedy: remedy})
	}
	switch {
	case spec.Max < 1 || spec.Max > math.MaxInt32:
		bad(fmt.Sprintf("Max is %d", spec.Max), "keep at least one element in a bucket")
	case spec.MaxBytes < 0 || spec.MaxBytes > maxBucketBytes:
		bad(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes), "give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case spec.Period > Monthly:
		bad(fmt.Sprintf("Period is %d", spec.Period), "use denorm.NoPeriod, denorm.Daily or denorm.Monthly")
	case (spec.Period == NoPeriod) != (spec.At == ""):
		bad("Period and At come together", "give the path of the elements' time with a Period, and only then")
	case spec.Period == NoPeriod && spec.Location != nil:
		bad("a Location without a Period", "a Location says where a day begins: give a Period too")
	case items.Arrays > 1 || !items.Open && !isDocumentType(items.Type):
		bad(fmt.Sprintf("elements are a %s, which is not stored as a document", items.Type), "wrap each element in a struct")
	case !isKeyType(reflect.TypeOf(key)):
		bad(fmt.Sprintf("keys are a %T, which can't be written into an _id", key), "use a kind of string or integer, or bson.ObjectID")
	}
	// single looks up a path of which each element has one.
	single := func(what, path string) model.Field {
		f := field("items." + path)
		if f.Arrays > 1 || f.IsArray() {
			bad(fmt.Sprintf("%s %q has several values in an element", what, path), "name a field outside arrays")
		}
		return f
	}
	if spec.Key != "" {
		single("Key", spec.Key)
	}
	if spec.At != "" {
		if f := single("At", spec.At); !f.Open && f.Type != reflect.TypeFor[time.Time]() && f.Type != reflect.TypeFor[bson.DateTime]() {
			bad(fmt.Sprintf("At %q is a %s", spec.At, f.Type), "name a time.Time or bson.DateTime")
		}
	}
	for _, path := range spec.Totals {
		if f := single("Totals", path); !f.Open && !isNumberType(f.Type) {
			bad(fmt.Sprintf("Totals %q is a %s", path, f.Type), "name an integer or a float")
		}
		t := bucketTotal{path, strings.ReplaceAll(path, ".", "/")}
		if slices.ContainsFunc(b.totals, func(x bucketTotal) bool { return x.name == t.name }) {
			bad(fmt.Sprintf("Totals keeps %q twice", t.name), "name each path once")
		}
		b.totals = append(b.totals, t)
	}
	return b
}

func isNumberType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

// isDocumentType reports whether a type's zero value is stored as a document. What can't be encoded is told when it is.
func isDocumentType(t reflect.Type) bool {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: reflect.Zero(t).Interface()}})
	return err != nil || bson.Raw(raw).Lookup("v").Type == bson.TypeEmbeddedDocument
}

func (b *bucketing) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: b.name, Field: field, Value: v, Reason: reason}
}

// maxSeq is the greatest number that the _id of a bucket has room for.
const maxSeq = 9_999_999_999

// keyText is a key as the beginning of an _id.
func (b *bucketing) keyText(key any) (string, error) {
	text, ok := keyText(key)
	if !ok {
		return "", b.refused("key", nil, "the key is empty")
	}
	return text, nil
}

// bucketID is the _id of a bucket.
func (b *bucketing) bucketID(key any, period string, seq int64) (string, error) {
	text, err := b.keyText(key)
	switch {
	case err != nil:
		return "", err
	case seq < 0 || seq > maxSeq:
		return "", b.refused("seq", seq, "a bucket's number is from 0 to 9999999999")
	case period != "":
		text += "#" + period
	}
	return fmt.Sprintf("%s#%010d", text, seq), nil
}

func (b *bucketing) pageID(key any, seq int64) (string, error) {
	if b.spec.Period != NoPeriod {
		return "", b.refused("seq", seq, "numbers count within a period: use Between")
	}
	return b.bucketID(key, "", seq)
}

// period is the day or month that a time falls into.
func (b *bucketing) period(field string, t time.Time) (string, error) {
	text, ok := b.spec.Period.text(t, b.spec.Location)
	if !ok {
		return "", b.refused(field, t, "the year is not within 0 and 9999")
	}
	return text, nil
}

// ofKey matches the buckets of a key.
func (b *bucketing) ofKey(key any) (bson.D, error) {
	text, err := b.keyText(key)
	if err != nil {
		return nil, err
	}
	return idRange(text+"#", text+"$"), nil
}

// ofPeriods matches the buckets of a key from one period to another, both included.
func (b *bucketing) ofPeriods(key any, first, last string) (bson.D, error) {
	text, err := b.keyText(key)
	return periodRange(text, first, last), err
}
