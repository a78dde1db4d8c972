// Package expiry is the core of schema.Expiry, without type parameters.
package expiry

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	earlierField = "archivedEarlier" // in the cold collection: the copies that were replaced
	touchedField = "unarchived"      // in the documents: the operation that discarded the copy
)

// A Spec is schema.Spec.
type Spec struct {
	After      time.Duration
	Archive    string
	Margin     time.Duration
	ArchiveFor time.Duration
	Version    string
}

// An Expiry is a declaration of schema.Expiry without its types.
type Expiry struct {
	*core.Docs
	cold        string // a collection; "" without an Archive
	at, version string // paths; version is "" without
	spec        Spec
}

// Declare checks a declaration, and panics if it doesn't fit.
func Declare(docs *core.Docs, at string, spec Spec) *Expiry {
	place := core.Place("NewExpiry of " + docs.Name())
	f := docs.MustField(at)
	if !f.Untyped && f.Type != reflect.TypeFor[time.Time]() && f.Type != reflect.TypeFor[bson.DateTime]() {
		place.Fail(fmt.Sprintf("path %q is of type %s", at, f.Type),
			"name a field of type time.Time or bson.DateTime, or a pointer to it")
	}
	if f.Arrays > 0 {
		place.Fail(fmt.Sprintf("path %q has several times in a document", at), "name a field that isn't in an array")
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{
		{"After", spec.After}, {"Margin", spec.Margin}, {"ArchiveFor", spec.ArchiveFor},
		{"After and Margin", spec.After + spec.Margin},
	} {
		if d.Duration < 0 || d.Duration%time.Second != 0 || d.Duration/time.Second > math.MaxInt32 {
			place.Fail(fmt.Sprintf("%s is %v", d.name, d.Duration),
				"give whole seconds, from 0 to 2147483647: MongoDB stores only these")
		}
	}
	switch {
	case spec.Archive == "" && (spec.Margin != 0 || spec.ArchiveFor != 0 || spec.Version != ""):
		place.Fail("Margin, ArchiveFor or Version is given without Archive", "name the Archive collection too")
	case spec.Archive == docs.Name():
		place.Fail("documents and Archive share a collection", "give Archive another name")
	case spec.ArchiveFor != 0 && spec.ArchiveFor <= spec.After+spec.Margin:
		place.Fail(fmt.Sprintf("ArchiveFor is %v, but documents may stay in their collection for %v (After and Margin)",
			spec.ArchiveFor, spec.After+spec.Margin),
			"give a longer ArchiveFor, or 0 for ever: both times start at the same moment")
	}
	if spec.Version != "" {
		v := docs.MustField(spec.Version)
		if v.Arrays > 0 || !v.Untyped && !reflect.Zero(v.Type).CanInt() {
			place.Fail(fmt.Sprintf("Version %q isn't of an integer type", spec.Version), "name an int64 that isn't in an array")
		}
		if core.Overlap(at, spec.Version) {
			place.Fail(fmt.Sprintf("Version %q is the time", spec.Version), "name another field")
		}
	}
	if spec.Archive != "" {
		for _, name := range []string{earlierField, touchedField} {
			if f, err := docs.Field(name); err == nil && !f.Untyped {
				place.Fail(fmt.Sprintf("the documents have a field %q", name),
					"give that field another name: Expiry uses this name")
			}
		}
	}
	return &Expiry{Docs: docs, cold: spec.Archive, at: at, version: spec.Version, spec: spec}
}

// MustOmitZero panics when a document that was given no time is stored with one.
func (x *Expiry) MustOmitZero(zero any) {
	doc, err := x.Document(zero)
	if at, _ := core.ValueAt(doc, x.at); err == nil && at.Type == bson.TypeDateTime && x.spec.After == 0 {
		core.Fail(fmt.Sprintf("path %q is stored as the year 1 if no time is given, and such a document is deleted at once",
			x.at),
			"NewExpiry of "+x.Name(), "tag the field omitempty, or better make it a *time.Time; or give After")
	}
}

// NoArchive is the error of an Expiry without an archive.
func (x *Expiry) NoArchive() error {
	return x.Refuse("Archive", nil, "the spec has no Archive, so documents are deleted: declare an Archive")
}

// ttl is a TTL index's time: a negative one is at once.
func ttl(after time.Duration) time.Duration {
	if after == 0 {
		return -1
	}
	return after
}

// Index is the index on the time.
func (x *Expiry) Index() model.Index {
	i := model.NewIndex(x.Name(), bson.D{{Key: x.at, Value: 1}})
	i.Why = "expired documents"
	if x.cold == "" || x.spec.Margin > 0 {
		i.ExpireAfter = ttl(x.spec.After + x.spec.Margin)
	}
	return i
}

// Indexes are the indexes on the time, and on that of the archive.
func (x *Expiry) Indexes() []model.Index {
	out := []model.Index{x.Index()}
	if x.spec.ArchiveFor > 0 {
		i := model.NewIndex(x.cold, bson.D{{Key: x.at, Value: 1}})
		i.ExpireAfter, i.Why = x.spec.ArchiveFor, "archived documents whose time is over"
		out = append(out, i)
	}
	return out
}

// Footprints are the paths that are used.
func (x *Expiry) Footprints() []model.Footprint {
	out := slices.Concat(model.Writes.In(x.Name(), model.Whole), model.Reads.In(x.Name(), x.at))
	if x.spec.After == 0 {
		out = append(out, model.Writes.In(x.Name(), x.at, x.version)...)
	}
	if x.cold == "" {
		return out
	}
	return slices.Concat(out, model.Writes.In(x.cold, model.Whole), model.Reads.In(x.cold, x.at),
		model.Owns.In(x.cold, "archivedEarlier"), model.Owns.In(x.Name(), "unarchived"))
}
