package relate

import (
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/dangling"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Dangling finds references that lead nowhere, and mends them. The database keeps no foreign keys, so nothing
// prevents such references. The path may hold one id, a list of ids, or a list of documents that each hold one id. Make
// it with [NewDangling].
//
// # What is guarded
//
// Every write asks again, in the document that it changes, for the id that leads nowhere. A
// reference that was removed or changed in the meantime is not touched. A write can't ask
// whether the target is still missing, because the target is another document. A job looks twice,
// an age apart, and the second time right before it writes. The remaining gap is one round trip, in which a target is
// stored under an id that was missing for the whole age. No transaction
// closes the gap, because the two write different documents. An application that stores the target before
// the reference, as the plans of this package do, and never reuses an id, never meets it.
//
// Source: foreign keys as weak links, "Hoe zit het met refererende sleutels", seed 003; seed 000.
//
// Indexes returns the index on the path, by which the documents that hold an id are found.
//
// Checks returns one check, of references that lead nowhere, in the order of the documents' _id. An
// id that a document lists several times is one finding. Null, the empty id and a missing field are passed over.
//
// Mending follows [DanglingSpec]; under ReportOnly the check can't mend. An id that can't be an _id
// (a regular expression, an array) refuses the plan, and a job leaves it: mend it by hand. The Age
// is one minute. Give it more if a plan of the application takes longer from a reference to its
// target.
//
// Cost: the check reads every document, and the server looks each document's ids up by _id;
// [model.Check.In] narrows it, by [Dangling.Indexes] to the documents that hold some ids. Mending
// writes one document each, by _id, in one command for each 16 MiB. Needs MongoDB 5.0, for a
// $lookup with both a field and a pipeline.
type Dangling[D, DK, T, TK any] struct {
	model.Parts

	docs *model.Collection[D, DK]
	in   *dangling.Dangling
}

// DanglingSpec says how a [Dangling] reads and mends. The zero value reports, and mends nothing.
type DanglingSpec struct {
	Repair RepairPolicy // what mending does; the default is ReportOnly

	// ReplaceBy is the id that mending puts in the place of a missing one, of the type of the targets' _id; Repair is empty
	// then. A list that holds it already then holds it twice.
	ReplaceBy any

	// List is the path of the array, for documents whose fields are not known (bson.D for example). "" means that the
	// path holds a single id there. It is refused where the type tells.
	List string
}

// RepairPolicy says what is done about a reference that leads nowhere.
type RepairPolicy uint8

const (
	// ReportOnly mends nothing: the check only tells.
	ReportOnly RepairPolicy = iota
	// DetachIDs removes the id from a list, or the whole element where elements hold ids; a single id is unset.
	DetachIDs
	// DeleteReferrers deletes the document that holds the id, even if its list holds other ids.
	DeleteReferrers
)

// NewDangling declares that the path of the documents holds ids of targets. It panics with a [*model.DeclarationError] when
// the path doesn't exist, crosses more than one array, or holds another type than the targets' _id, and when the spec
// contradicts itself.
func NewDangling[D, DK, T, TK any](docs *model.Collection[D, DK], path string, targets *model.Collection[T, TK], spec DanglingSpec) *Dangling[D, DK, T, TK] {
	targets.Docs().MustField("_id")
	in := &dangling.Dangling{
		Docs: docs.Docs(), None: idref.NoReference(targets.Docs(), *new(TK)),
		Mends: spec.Repair != ReportOnly, Deletes: spec.Repair == DeleteReferrers,
	}
	if spec.Repair > DeleteReferrers {
		core.Place("NewDangling of "+docs.Name()+"."+path).Fail("the RepairPolicy isn't one of the package's constants", "use a constant of type RepairPolicy")
	}
	in.Ref = idref.NewRef(docs.Name(), core.NewReader[TK](docs.Docs(), path).Field(), targets.Name())
	if base, isID := strings.CutSuffix(path, ".id"); isID {
		in.Ref.Link = isLink[TK](docs.Docs().MustField(base))
	}
	in.Declare(targets.Docs(), spec.List, spec.ReplaceBy, reflect.TypeFor[TK]())
	out := &Dangling[D, DK, T, TK]{model.Parts{}, docs, in}
	out.Parts = model.NewParts(out.indexes, out.in.Relations, out.in.Checks, out.in.Footprints)
	return out
}

func (d *Dangling[D, DK, T, TK]) reference() idref.Ref { return d.in.Ref }

// Missing returns the ids that lead nowhere, each once, with how many documents hold it, of the documents that match a
// filter, nil for all. The ids that most documents hold come first.
//
// Cost: one command; it reads every document of the filter, and the server looks each id up by _id once. Many
// million different ids need ReadOptions.AllowDiskUse.
func (d *Dangling[D, DK, T, TK]) Missing(filter bson.D) *model.Aggregate[Count[bson.RawValue]] {
	return model.AggregateAs[Count[bson.RawValue]](d.docs, d.in.Missing(filter))
}

func (d *Dangling[D, DK, T, TK]) indexes() []model.Index { return []model.Index{d.in.Ref.Index()} }
