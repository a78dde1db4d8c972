package relate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Dangling finds references that lead nowhere, and mends them. The database keeps no foreign keys:
// every reference is a weak link, which nobody checks until a check does. The path may hold one id,
// a list of ids, or a list of documents that each hold one id. Make it with [NewDangling].
//
// # What is guarded
//
// Every write asks again, in the document that it changes, for the id that leads nowhere: a
// reference that was taken away or led elsewhere in the meantime is not touched. A write can't ask
// whether the target is still missing, because the target is another document. A job looks twice,
// an age apart, and the second time right before it writes; the gap is the time of one round trip
// in which a target is stored under an id that had been missing for the whole age. No transaction
// closes it, for the two write different documents. An application that stores the target before
// the reference, as the plans of this package do, and gives no id a second time, never meets it.
//
// Source: foreign keys as weak links, "Hoe zit het met refererende sleutels", seed 003; seed 000.
type Dangling[D, DK, T, TK any] struct{ in *dangling }

// DanglingSpec says how a [Dangling] reads and mends. The zero value reports, and mends nothing.
type DanglingSpec struct {
	Repair RepairPolicy // what mending does; the default is ReportOnly

	// ReplaceBy is the id that takes the place of a missing one, of the type of the targets' _id. ReplaceIDs needs it, and
	// it is refused otherwise. In a list that holds it already it is then held twice.
	ReplaceBy any

	// List is the path of the array, for documents whose fields are not known (bson.D and the like); "" means that the
	// path holds a single id there. It is refused where the type tells.
	List string
}

// RepairPolicy says what is done about a reference that leads nowhere.
type RepairPolicy uint8

const (
	// ReportOnly mends nothing: the check only tells.
	ReportOnly RepairPolicy = iota
	// DetachIDs takes the id away: out of a list, or, where elements hold ids, the whole element; a single one is unset.
	DetachIDs
	// DeleteReferrers deletes the document that holds the id, the others that it may hold in a list notwithstanding.
	DeleteReferrers
	// ReplaceIDs puts DanglingSpec.ReplaceBy in its place.
	ReplaceIDs
)

// String is the policy in words: "detach".
func (p RepairPolicy) String() string {
	if names := [...]string{"report only", "detach", "delete the referring document", "replace"}; int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("policy %d, which is none", int(p))
}

// A MissingID is an id that references lead to and no document has.
type MissingID struct {
	ID        bson.RawValue `bson:"id"` // as it is stored, of whatever type
	Documents int64         `bson:"n"`  // how many documents hold it
}

// String is the id for a reader: "'mspress' (12 documents)".
func (m MissingID) String() string {
	noun := "documents"
	if m.Documents == 1 {
		noun = "document"
	}
	return fmt.Sprintf("%s (%d %s)", model.Shell(m.ID), m.Documents, noun)
}

// NewDangling declares that the path of the documents holds ids of targets. It panics with a [*model.DeclarationError] when
// the path doesn't exist, crosses more than one array, or holds another type than the targets' _id, and when the spec
// contradicts itself. At most one spec may be given.
func NewDangling[D, DK, T, TK any](docs *model.Collection[D, DK], path string, targets *model.Collection[T, TK], spec ...DanglingSpec) *Dangling[D, DK, T, TK] {
	model.MustField(targets, "_id")
	in := &dangling{docs: docs.Name(), targets: targets.Name(), path: path}
	in.ref = newReference(in.docs, model.NewReader[TK](docs, path).Field(), in.targets)
	if base, isID := strings.CutSuffix(path, ".id"); isID {
		in.ref.link = isLink[TK](model.MustField(docs, base))
	}
	var zero TK
	v, err := targets.Encode(zero)
	in.declare(v, err, targets.CheckID("_id", zero), spec)
	if in.repair == ReplaceIDs {
		by, ok := spec[0].ReplaceBy.(TK)
		in.replacing(ok, spec[0].ReplaceBy, reflect.TypeFor[TK]())
		v, err := encodeID(targets, in.docs, "ReplaceBy", by)
		in.replaceBy(v, err)
	}
	in.missingIn = func(stages mongo.Pipeline) model.Aggregate[MissingID] {
		return model.AggregateAs[MissingID](docs, stages)
	}
	return &Dangling[D, DK, T, TK]{in}
}

// References returns the one reference.
func (d *Dangling[D, DK, T, TK]) References() []Reference { return []Reference{d.in.ref} }

func (d *Dangling[D, DK, T, TK]) referrer() {}

// Checks returns one check, of references that lead nowhere, in the order of the documents' _id. An
// id that a document lists several times is one finding. A reference that holds nothing, null or
// the empty id is passed over.
//
// Mending follows [DanglingSpec]; under ReportOnly the check can't mend. An id that no _id can be
// (a regular expression, an array) refuses the plan: mend it by hand. The Age is one minute. Give
// it more if a plan of the application takes longer from a reference to its target.
//
// Cost: the check reads every document, and the server looks each document's ids up by _id;
// [model.Check.In] narrows it, by [Dangling.Indexes] to the documents that hold some ids. Mending
// writes one document each, by _id, in one command for each 16 MiB. Needs MongoDB 5.0, for a
// $lookup with both a field and a pipeline.
func (d *Dangling[D, DK, T, TK]) Checks() []model.Check { return d.in.checks() }

// Missing returns the ids that lead nowhere, each once, with how many documents hold it, of the documents that match a
// filter, nil for all. The ids that most documents hold come first.
//
// Cost: one command; it reads every document of the filter, and the server looks each id up by _id once, however many hold
// it. Many million different ids need ReadOptions.AllowDiskUse.
func (d *Dangling[D, DK, T, TK]) Missing(filter bson.D) model.Aggregate[MissingID] {
	return d.in.missing(filter)
}

// Indexes returns the index on the path, by which the documents that hold an id are found.
func (d *Dangling[D, DK, T, TK]) Indexes() []model.Index { return []model.Index{d.in.ref.index()} }

// Relations returns the relation, for diagrams: a reference leads to one document or to none.
func (d *Dangling[D, DK, T, TK]) Relations() []model.Relation {
	return d.in.relations()
}
