package schema

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	earlierField = "archivedEarlier" // in the cold collection: the copies that were replaced
	touchedField = "unarchived"      // in the documents: the operation that discarded the copy
)

// expiry is what of an Expiry doesn't depend on its types.
type expiry struct {
	docs, cold  string // collections; cold is "" without an Archive
	at, version string // paths; version is "" without
	spec        ExpirySpec
	encode      func(any) (any, error)
}

func declareExpiry(docs, at string, spec ExpirySpec, must func(string) model.Field, field func(string) (model.Field, error)) *expiry {
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewExpiry of " + docs, Remedy: remedy})
	}
	f := must(at)
	if !f.Open && f.Type != reflect.TypeFor[time.Time]() && f.Type != reflect.TypeFor[bson.DateTime]() {
		bad(fmt.Sprintf("path %q is a %s", at, f.Type), "name a time.Time or bson.DateTime, or a pointer to one")
	}
	if f.Arrays > 0 {
		bad(fmt.Sprintf("path %q has several times", at), "name a field outside arrays")
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{{"After", spec.After}, {"Margin", spec.Margin}, {"ArchiveFor", spec.ArchiveFor}, {"After and Margin", spec.After + spec.Margin}} {
		if d.Duration < 0 || d.Duration%time.Second != 0 || d.Duration/time.Second > math.MaxInt32 {
			bad(fmt.Sprintf("%s is %v", d.name, d.Duration), "give whole seconds, from 0 to 2147483647: MongoDB stores no others")
		}
	}
	switch {
	case spec.Archive == "" && (spec.Margin != 0 || spec.ArchiveFor != 0 || spec.Version != ""):
		bad("Margin, ArchiveFor or Version without Archive", "name the cold collection too")
	case spec.Archive == docs:
		bad("documents and Archive share a collection", "give the cold collection a name of its own")
	case spec.ArchiveFor != 0 && spec.ArchiveFor <= spec.After+spec.Margin:
		bad(fmt.Sprintf("ArchiveFor is %v, and documents come there after %v or later", spec.ArchiveFor, spec.After+spec.Margin),
			"give a longer one, or 0 for ever: both are counted from the same moment")
	}
	if spec.Version != "" {
		v := must(spec.Version)
		if v.Arrays > 0 || !v.Open && !reflect.Zero(v.Type).CanInt() {
			bad(fmt.Sprintf("Version %q is no whole number", spec.Version), "name an int64 outside arrays")
		}
		if model.Overlap(at, spec.Version) {
			bad(fmt.Sprintf("Version %q is the time", spec.Version), "name another field")
		}
	}
	if spec.Archive != "" {
		for _, name := range []string{earlierField, touchedField} {
			if f, err := field(name); err == nil && !f.Open {
				bad(fmt.Sprintf("the documents have a field %q", name), "give that field another name: it is Expiry's own")
			}
		}
	}
	return &expiry{docs: docs, cold: spec.Archive, at: at, version: spec.Version, spec: spec}
}

// mustOmitZero panics when a document that was given no time is stored with one.
func (x *expiry) mustOmitZero(zero any) {
	v, err := x.encode(zero)
	if doc, ok := v.(bson.RawValue); ok && err == nil && doc.Type == bson.TypeEmbeddedDocument && x.spec.After == 0 {
		if at, _ := model.ValueAt(doc.Document(), x.at); at.Type == bson.TypeDateTime {
			panic(&model.DeclarationError{
				Problem: fmt.Sprintf("path %q is stored as the year 1 where no time was given: such a document has expired, and is deleted", x.at),
				Place:   "NewExpiry of " + x.docs, Remedy: "tag the field omitempty, and best make it a *time.Time; or give After",
			})
		}
	}
}

func (x *expiry) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: x.docs, Field: field, Value: v, Reason: reason}
}

func (x *expiry) noArchive() error {
	return x.refused("Archive", nil, "documents are deleted, not archived: give the spec an Archive")
}

// ttl is a TTL index's time: a negative one is at once.
func ttl(after time.Duration) time.Duration {
	if after == 0 {
		return -1
	}
	return after
}

func (x *expiry) index() model.Index {
	i := model.NewIndex(x.docs, bson.D{{Key: x.at, Value: 1}})
	i.Why = "what has expired"
	if x.cold == "" || x.spec.Margin > 0 {
		i.ExpireAfter = ttl(x.spec.After + x.spec.Margin)
	}
	return i
}

func (x *expiry) indexes() []model.Index {
	out := []model.Index{x.index()}
	if x.spec.ArchiveFor > 0 {
		i := model.NewIndex(x.cold, bson.D{{Key: x.at, Value: 1}})
		i.ExpireAfter, i.Why = x.spec.ArchiveFor, "what was archived long enough"
		out = append(out, i)
	}
	return out
}

// cutoff is the latest time of an expired document.
func (x *expiry) cutoff(now time.Time) bson.DateTime {
	return bson.NewDateTimeFromTime(now.Add(-x.spec.After))
}

func (x *expiry) expired(now time.Time) bson.D {
	return bson.D{{Key: x.at, Value: bson.D{{Key: "$lte", Value: x.cutoff(now)}}}}
}

func (x *expiry) live(now time.Time) bson.D {
	return bson.D{{Key: x.at, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lte", Value: x.cutoff(now)}}}}}}
}

// touch completes a write that sets a document's own time, or takes it off. Where there is a version, that is counted up with what
// changes the time, and a write that is run again finds nothing to change: other is the condition that it isn't done yet.
func (x *expiry) touch(w model.Write, other, done bson.E) model.Write {
	if x.spec.After > 0 {
		return model.Refused(x.docs, x.refused(x.at, nil, "is no moment of expiry: documents expire a time after it"))
	}
	if m, ok := w.Model.(*mongo.UpdateOneModel); ok && x.version != "" {
		id := m.Filter.(bson.D)
		m.Update = append(m.Update.(bson.D), bson.E{Key: "$inc", Value: bson.D{{Key: x.version, Value: int64(1)}}})
		m.Filter, w.Done, w.Once = model.And(id, bson.D{other}), model.And(id, bson.D{done}), true
	}
	return w
}

// unchanged is the condition that a document is what was archived.
func (x *expiry) unchanged(doc bson.Raw) bson.D {
	if x.version == "" {
		return model.AsRead(doc)
	}
	v, _ := model.ValueAt(doc, x.version)
	var read any = v
	if v.Type == 0 {
		read = nil
	}
	return bson.D{{Key: "_id", Value: model.Eq(doc.Lookup("_id"))}, {Key: x.version, Value: model.Eq(read)}}
}
