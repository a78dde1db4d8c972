// Package sequence is the core of keys.Sequence, keys.Days and keys.Allocator (model/keys), without type parameters. It
// gives documents _ids that consist of an owner and a number. The numbers of an owner come from a counter document.
//
// # Stored form
//
// Two documents of the owner "alice" with Digits 6, her counter, and a day bucket (day.go), each in its own collection:
//
//	{_id: "alice_000001", …}
//	{_id: "alice_000002", …}
//	{_id: "alice", last: 2}
//	{_id: "alice_2026-11-21", keys: ["alice_000001", "alice_000002"]}
//
// The counter's last is the greatest number that was given out. A key has a fixed number of digits, so that keys sort
// as their numbers. The owner's text has no "_" (see encodeOwner), so the first "_" ends it. An owner can be a string,
// an integer or an ObjectID. The counter's _id is the owner in its own type.
//
// # How a document gets a number
//
//   - Take increments last by n, by findAndModify. The caller inserts documents under the n numbers. A crash between
//     them leaves a gap: a number without a document.
//   - An Allocator (allocator.go) takes blocks of numbers, and gives them out one by one.
//   - Append reads last, and in one transaction increments it and inserts the document under last+1. If somebody else
//     has incremented it, the filter {last: …} matches nothing, and the change begins again. It leaves no gap.
//
// # What a crash leaves
//
// Gaps, which FindGaps finds, and documents that no day bucket lists, which FindUnpacked finds. A counter falls
// behind the documents only if documents were restored, or were inserted under numbers that it didn't give out. The
// first check finds such a counter, and Raise repairs it.
//
// # Files
//
//	declare.go     the declaration, indexes and footprints
//	key.go         keys as text, and back
//	day.go         day buckets
//	write.go       counters, and documents under a number
//	allocator.go   blocks of numbers
//	read.go        filters of keys, gaps, the counter
//	check.go       the checks
//	keyed_docs.go  how model.MoveKeys joins an older document and the tenant's
//
// # What a change must keep
//
// The text of a key never changes, because stored _ids would no longer be found. Every command on these collections is
// Keyed: under a tenant their _ids carry the tenant.
package sequence

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Sequence is the declaration of a keys.Sequence. It never changes after Declare.
type Sequence struct {
	*core.Docs
	Max int64 // the greatest number

	counters *core.Docs
	days     string // the collection of day buckets, or ""
	kind     ownerKind
	digits   int            // of the number in a key
	location *time.Location // where a day of the buckets begins
}

// A Spec is a keys.SequenceSpec with the name of the collection of day buckets, or "".
type Spec struct {
	Digits   int
	Days     string
	Location *time.Location
}

// Declare checks a declaration, and panics if it doesn't fit. owner is the zero value of the owners' type.
// keys.NewSequence calls it.
func Declare(docs, counters *core.Docs, owner any, spec Spec) *Sequence {
	place := core.Place("NewSequence of " + docs.Name())
	s := &Sequence{
		Docs: docs, counters: counters, days: spec.Days, digits: cmp.Or(spec.Digits, maxDigits),
		location: cmp.Or(spec.Location, time.UTC),
	}
	var ok bool
	s.kind, ok = detectOwnerKind(owner)
	switch {
	case s.digits < 1 || s.digits > maxDigits:
		place.Fail(fmt.Sprintf("Digits is %d", spec.Digits), "give 1 to 18, or 0 for 18")
	case !ok:
		place.Fail(fmt.Sprintf("owners are of type %T, which can't be part of a key", owner),
			"use a string type, an integer type or bson.ObjectID")
	case docs.Name() == counters.Name() || docs.Name() == s.days || counters.Name() == s.days:
		place.Fail("documents, counters and days share a collection", "give each a collection of its own")
	case spec.Location != nil && spec.Days == "":
		place.Fail("Location is given without Days",
			"Location says where a day begins: give Days too, or leave Location out")
	}
	docs.ShareKeyed() // other techniques use the documents too, but nobody else uses the counters
	counters.MakeKeyed()
	s.Max = greatestNumber(s.digits)
	return s
}

// maxDigits is the greatest number of digits whose numbers all fit in an int64.
const maxDigits = 18 // the most of which each number is an int64

// An ownerKind says how owners are written into a key. All owners of a sequence have the same Go type.
type ownerKind uint8

const (
	textOwner   ownerKind = iota // as it is, "_" and "%" escaped
	numberOwner                  // in decimal
	objectOwner                  // an ObjectID, in hexadecimal
)

// detectOwnerKind refuses a type with its own marshaler, because the counter's _id would then differ from the owner's
// text.
func detectOwnerKind(owner any) (ownerKind, bool) {
	t := reflect.TypeOf(owner)
	switch {
	case t == nil:
		return 0, false
	case t == reflect.TypeFor[bson.ObjectID]():
		return objectOwner, true
	case t.Implements(reflect.TypeFor[bson.ValueMarshaler]()):
		return 0, false
	case t.Kind() == reflect.String:
		return textOwner, true
	}
	return numberOwner, reflect.Zero(t).CanInt()
}

// greatestNumber returns the greatest number with this number of digits.
func greatestNumber(digits int) int64 {
	n := int64(1)
	for range digits {
		n *= 10
	}
	return n - 1
}

// ListIndexes returns the index of FindUnpacked if there are day buckets. Everything else is found by _id. The shell
// passes it to model.Parts, as it does ListFootprints.
func (s *Sequence) ListIndexes() []model.Index {
	if s.days == "" {
		return nil
	}
	return []model.Index{commands.MakeIndex(s.days, "documents that no day bucket lists", mql.E("keys", 1))}
}

// ListFootprints returns counters and day buckets as owned, and the documents as written whole.
func (s *Sequence) ListFootprints() []model.Footprint {
	out := slices.Concat(model.Owns.In(s.counters.Name(), model.Whole), model.Writes.In(s.Name(), model.Whole))
	if s.days != "" {
		out = append(out, model.Owns.In(s.days, model.Whole)...)
	}
	return out
}
