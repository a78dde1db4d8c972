// Package bucket is the core of bucket.Bucket (denorm/bucket.go). It also stores the pages
// of a subsetpages.SubsetPages and the overflow of an outlier.Outlier. Elements are appended to
// documents that hold a bounded number of them. The public type passes the List methods to
// model.Parts. A store can't write buckets.
//
// # Stored form
//
// Two buckets of the key "p", with Max 2, ElementKey "id", Totals "kg" and without a
// Period:
//
//	{_id: "p#0000000000", key: "p", seq: 0, n: 2, bytes: 58, closed: true,
//	 totals: {kg: {sum: 9, min: 4, max: 5}}, items: [{id: "a", kg: 4}, {id: "b", kg: 5}]}
//	{_id: "p#0000000001", key: "p", seq: 1, n: 1, bytes: 29,
//	 totals: {kg: {sum: 7, min: 7, max: 7}}, items: [{id: "c", kg: 7}]}
//
// With a Period, period is "2014-03-28", and the _id "p#2014-03-28#0000000000". Each
// period has its own sequence. Package keytext makes the _ids. closed is only set where a
// bucket takes no more elements though n is below Max. n, bytes and totals follow from
// items.
//
// # Protocol of AppendElement
//
//  1. ReadEnd reads the newest bucket of the key and period. With ElementKey, it then reads
//     whether a bucket has the element already, in the same command.
//  2. PlanAppend. If a bucket has the element, the append is applied. If the newest bucket has
//     room, one update pushes the element and counts it. If the bucket is full, an upsert
//     opens the next one.
//  3. If the bucket has room for an element, but not for this one (MaxBytes), it is closed
//     first, so that no later and smaller element comes into it. Then the next one is opened.
//  4. The write's filter asks again for room, and that the bucket lacks the element. If it
//     matches nothing, the plan is stale and begins again at 1.
//
// AppendTo is state 4 alone, for callers that know the number of the bucket.
//
// # What a crash leaves
//
// A crash in state 3 leaves a closed bucket without a next one. The next append opens it.
// Every other append is one write. With ElementKey, a retry after a lost answer adds
// nothing.
package bucket

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Buckets is the non-generic core of bucket.Bucket. Its methods check and encode their
// arguments.
type Buckets struct {
	Docs   *core.Docs
	Spec   Spec
	totals []total
}

// Inside is what a public bucket.Bucket shows to the techniques that are made of it (packages outlier and subsetpages):
// its Buckets and its collection, a *model.Collection.
type Inside[C any] struct {
	Buckets    *Buckets
	Collection C
}

// A total is a number to add up: its path within an element, and its name in totals, with
// "/" instead of dots.
type total struct{ path, name string }

// A Spec is the public Spec.
type Spec struct {
	Max        int
	MaxBytes   int64
	ElementKey string
	Totals     []string
	Period     keytext.Period
	At         string
	Location   *time.Location
}

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(docs *core.Docs, key reflect.Type, spec Spec) *Buckets {
	b := &Buckets{Docs: docs, Spec: spec}
	b.Spec.Totals = slices.Clone(spec.Totals)
	if b.Spec.Location == nil {
		b.Spec.Location = time.UTC
	}
	items, place := docs.MustField("items"), core.Place("bucket.New of "+docs.Name())
	switch {
	case spec.Max < 1 || spec.Max > math.MaxInt32:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 or more")
	case spec.MaxBytes < 0 || spec.MaxBytes > stored.MaxBytes:
		place.Fail(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes),
			"give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case spec.Period > keytext.Monthly:
		place.Fail(fmt.Sprintf("Period is %d", spec.Period), "use denorm.NoPeriod, denorm.Daily or denorm.Monthly")
	case (spec.Period == 0) != (spec.At == ""):
		place.Fail("Period and At belong together", "give both, or leave both out")
	case spec.Period == 0 && spec.Location != nil:
		place.Fail("a Location without a Period",
			"Location says where a day begins: give a Period too, or leave Location out")
	case items.Arrays > 1 || !items.Untyped && !stored.IsDocumentType(items.Type):
		place.Fail(fmt.Sprintf("elements are of type %s, which isn't stored as a document", items.Type),
			"wrap each element in a struct")
	case !keytext.IsKeyType(key):
		place.Fail(fmt.Sprintf("keys are of type %s, which can't be part of an _id", key),
			"use a string type, an integer type or bson.ObjectID")
	}
	// single looks up a path of which each element has one.
	single := func(what, path string) core.Field {
		f := docs.MustField("items." + path)
		if f.Arrays > 1 || f.IsArray() {
			place.Fail(fmt.Sprintf("%s %q is in an array of the element, so it has several values", what, path),
				"name a field that isn't in an array")
		}
		return f
	}
	if spec.ElementKey != "" {
		single("ElementKey", spec.ElementKey)
	}
	if spec.At != "" {
		if f := single("At", spec.At); !f.Untyped && f.Type != reflect.TypeFor[time.Time]() &&
			f.Type != reflect.TypeFor[bson.DateTime]() {
			place.Fail(fmt.Sprintf("At %q is of type %s", spec.At, f.Type),
				"name a field of type time.Time or bson.DateTime")
		}
	}
	for _, path := range spec.Totals {
		if f := single("Totals", path); !f.Untyped && !stored.IsNumberType(f.Type) {
			place.Fail(fmt.Sprintf("Totals %q is of type %s", path, f.Type), "name a field of an integer or float type")
		}
		t := total{path, strings.ReplaceAll(path, ".", "/")}
		if slices.ContainsFunc(b.totals, func(x total) bool { return x.name == t.name }) {
			place.Fail(fmt.Sprintf("Totals names %q twice", t.name), "name each field once")
		}
		b.totals = append(b.totals, t)
	}
	return b
}

// maxSeq is the greatest number that the _id of a bucket has room for.
const maxSeq = 9_999_999_999

// encodeKey returns the text of a key that its _ids begin with.
func (b *Buckets) encodeKey(key any) (string, error) {
	text, ok := keytext.EncodeKey(key)
	if !ok {
		return "", b.Docs.Refuse("key", nil, "the key is empty: give the key of the buckets")
	}
	return text, nil
}

// MakeID returns the _id of a bucket. Ten digits let _ids sort by number.
func (b *Buckets) MakeID(key any, period string, seq int64) (string, error) {
	text, err := b.encodeKey(key)
	switch {
	case err != nil:
		return "", err
	case seq < 0 || seq > maxSeq:
		return "", b.Docs.Refuse("seq", seq, "must be from 0 to 9999999999")
	case period != "":
		text += "#" + period
	}
	return fmt.Sprintf("%s#%010d", text, seq), nil
}

// MakePageID returns the _id of the bucket with a number, for buckets without periods.
func (b *Buckets) MakePageID(key any, seq int64) (string, error) {
	if b.Spec.Period != 0 {
		return "", b.Docs.Refuse("seq", seq,
			"the spec has a Period, and buckets are numbered within each period: use Between")
	}
	return b.MakeID(key, "", seq)
}

// formatPeriod returns the day or month of a time. field names the time for an error.
func (b *Buckets) formatPeriod(field string, t time.Time) (string, error) {
	text, ok := b.Spec.Period.FormatPeriod(t, b.Spec.Location)
	if !ok {
		return "", b.Docs.Refuse(field, t, "must be in the years 0 to 9999")
	}
	return text, nil
}

// MatchKey matches the buckets of a key.
func (b *Buckets) MatchKey(key any) (bson.D, error) {
	text, err := b.encodeKey(key)
	if err != nil {
		return nil, err
	}
	return keytext.MatchRange(text+"#", text+"$"), nil
}

// MatchStoredKey is [Buckets.MatchKey] for a stored key.
func (b *Buckets) MatchStoredKey(key bson.RawValue) (bson.D, error) {
	text, ok := keytext.EncodeStoredKey(key)
	if !ok {
		return nil, b.Docs.Refuse("key", key, "can't be the key of buckets")
	}
	return keytext.MatchRange(text+"#", text+"$"), nil
}

// RefuseStores returns the reaction that refuses a store's writes of buckets. instead
// names the methods to call.
func (b *Buckets) RefuseStores(instead string) model.Reaction {
	return model.Reaction{
		Collection: b.Docs.Name(), Paths: []string{model.Whole},
		React: func(model.StoreWrite) (a model.Answer, _ error) {
			return a, b.Docs.Refuse("document", nil, "is a bucket, which a store can't write: call "+instead)
		},
	}
}

// matchPeriods matches the buckets of a key from one period to another, both included.
func (b *Buckets) matchPeriods(key any, first, last string) (bson.D, error) {
	text, err := b.encodeKey(key)
	return keytext.MatchPeriods(text, first, last), err
}

// ListFootprints returns the paths that the technique uses.
func (b *Buckets) ListFootprints() []model.Footprint {
	name := b.Docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole, "items"),
		model.Owns.In(name, "key", "n", "seq", "closed", "bytes"), b.listOptionalFootprints())
}

// listOptionalFootprints are the footprints of fields that not all buckets have.
func (b *Buckets) listOptionalFootprints() (out []model.Footprint) {
	if b.Spec.Period != keytext.None {
		out = model.Owns.In(b.Docs.Name(), "period")
	}
	if len(b.Spec.Totals) > 0 {
		out = append(out, model.Owns.In(b.Docs.Name(), "totals")...)
	}
	return out
}

// MarkKeyed marks a write to buckets whose _ids carry the tenant.
func (b *Buckets) MarkKeyed(w model.Write) model.Write {
	w.Keyed = b.Docs.IsKeyed()
	return w
}

// ListKeyed names the collection if the buckets' _ids carry the tenant.
func (b *Buckets) ListKeyed() []string {
	if b.Docs.IsKeyed() {
		return []string{b.Docs.Name()}
	}
	return nil
}
