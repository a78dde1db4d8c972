// Package sequence is the core of keys.Sequence: keys, their numbers, and day buckets, without type parameters.
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

// A Sequence is a declaration of keys.Sequence without its types.
type Sequence struct {
	*core.Docs
	Max int64 // the greatest number

	counters *core.Docs
	days     string // a collection, or ""
	kind     ownerKind
	digits   int
	location *time.Location
}

// A Spec is keys.SequenceSpec with the name of the collection of days.
type Spec struct {
	Digits   int
	Days     string
	Location *time.Location
}

// Declare checks a declaration, and panics if it doesn't fit. owner is of the owners' type.
func Declare(docs, counters *core.Docs, owner any, spec Spec) *Sequence {
	place := core.Place("NewSequence of " + docs.Name())
	s := &Sequence{
		Docs: docs, counters: counters, days: spec.Days, digits: cmp.Or(spec.Digits, maxDigits),
		location: cmp.Or(spec.Location, time.UTC),
	}
	var ok bool
	s.kind, ok = ownerKindOf(owner)
	switch {
	case s.digits < 1 || s.digits > maxDigits:
		place.Fail(fmt.Sprintf("Digits is %d", spec.Digits), "give 1 to 18, or 0 for 18")
	case !ok:
		place.Fail(fmt.Sprintf("owners are of type %T, which can't be part of a key", owner),
			"use a string type, an integer type or bson.ObjectID")
	case docs.Name() == counters.Name() || docs.Name() == s.days || counters.Name() == s.days:
		place.Fail("documents, counters and days share a collection", "give each a collection of its own")
	case spec.Location != nil && spec.Days == "":
		place.Fail("Location is given without Days", "Location says where a day begins: give Days too, or leave Location out")
	}
	docs.ShareKeyed()
	counters.MakeKeyed()
	s.Max = greatest(s.digits)
	return s
}

const maxDigits = 18 // the most of which each number is an int64

// ownerKind is how an owner is written into a key.
type ownerKind uint8

const (
	textOwner   ownerKind = iota // as it is, "_" and "%" escaped
	numberOwner                  // in decimal
	objectOwner                  // an ObjectID, in hexadecimal
)

func ownerKindOf(owner any) (ownerKind, bool) {
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

// greatest is the greatest number of so many digits.
func greatest(digits int) int64 {
	n := int64(1)
	for range digits {
		n *= 10
	}
	return n - 1
}

// Indexes returns the index of the day buckets, if there are any.
func (s *Sequence) Indexes() []model.Index {
	if s.days == "" {
		return nil
	}
	return []model.Index{commands.MakeIndex(s.days, "documents that no day bucket lists", mql.E("keys", 1))}
}

// Footprints are the paths that are used.
func (s *Sequence) Footprints() []model.Footprint {
	out := slices.Concat(model.Owns.In(s.counters.Name(), model.Whole), model.Writes.In(s.Name(), model.Whole))
	if s.days != "" {
		out = append(out, model.Owns.In(s.days, model.Whole)...)
	}
	return out
}
