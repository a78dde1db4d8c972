package relate

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Dangling finds references that lead nowhere, and mends them: the database keeps no foreign keys, so that every reference
// is a weak link, checked by nobody until something checks it. The path may hold one id, a list of ids, or a list of
// documents that each hold one. Make it with [NewDangling].
//
// # What is guarded
//
// Every write asks again, in the document that it changes, for the id that leads nowhere: a reference that was taken away
// or led elsewhere in the meantime is not touched. That the target is still missing can't be asked in that write, for it
// is another document. [Dangling.Mend] checks twice, an age apart, and what it found once more before it writes;
// what stays open is the time of one round trip in which a target is stored under an id that had been missing for the
// whole age. No transaction closes it, for the two write different documents. An application that stores the target
// before the reference, as the plans of this package do, and gives no id a second time, never meets it.
//
// Source: foreign keys as weak links, "Hoe zit het met refererende sleutels", seed 003; seed 000.
type Dangling[D, DK, T, TK any] struct {
	docs *model.Collection[D, DK]
	in   *dangling
}

// DanglingSpec says how a [Dangling] reads and mends. The zero value reports, and mends nothing.
type DanglingSpec struct {
	Repair RepairPolicy // what a repair does; the zero value is ReportOnly

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
	// ReportOnly mends nothing: a repair is a plan without steps.
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

// A DanglingRef is a reference that leads nowhere.
type DanglingRef[DK any] struct {
	Doc  DK            `bson:"doc"`  // the _id of the document that holds it
	Path string        `bson:"path"` // where
	ID   bson.RawValue `bson:"id"`   // the missing id as it is stored, of whatever type
}

// String is the reference for a reader: "'b7' pub-id → 'mspress'".
func (r DanglingRef[DK]) String() string {
	return model.Shell(r.Doc) + " " + r.Path + " → " + model.Shell(r.ID)
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
	return &Dangling[D, DK, T, TK]{docs, in}
}

// References returns the one reference.
func (d *Dangling[D, DK, T, TK]) References() []Reference { return []Reference{d.in.ref} }

func (d *Dangling[D, DK, T, TK]) referrer() {}

// Check returns the references that lead nowhere of the documents that match a filter, nil for all, in the order of the
// documents' _id; an id that a document lists several times comes once. What stands for no reference, nothing, null and
// the empty id, is passed over.
//
// Cost: one command; it reads every document of the filter, and the server looks each one's ids up by _id. Needs MongoDB
// 5.0, for a $lookup with both a field and a pipeline.
func (d *Dangling[D, DK, T, TK]) Check(filter bson.D) model.Aggregate[DanglingRef[DK]] {
	a := model.AggregateAs[DanglingRef[DK]](d.docs, d.in.find(filter))
	if len(filter) == 0 {
		a.Index = model.IDIndex
	}
	return a
}

// Missing returns the ids that lead nowhere, each once, with how many documents hold it, of the documents that match a
// filter, nil for all. Those that most hold come first.
//
// Cost: one command; it reads every document of the filter, and the server looks each id up by _id once, however many hold
// it. Many million different ids need ReadOptions.AllowDiskUse.
func (d *Dangling[D, DK, T, TK]) Missing(filter bson.D) model.Aggregate[MissingID] {
	return d.in.missing(filter)
}

// Repair returns the plan that mends the references to missing ids, as a check found them, by the declared policy. It is
// for ids known to be gone for good; [Dangling.Mend] finds out which are. ReportOnly gives a plan that does nothing.
//
// An id that no _id can be (a regular expression, an array) is refused: mend it by hand.
//
// Cost: one command for the ids that fit 16 MiB, in statements of 10,000; as many documents as hold them, found by
// [Dangling.Indexes]. A statement is not atomic over documents. Cut, it leaves references of some documents mended and of
// others not; the plan can be run again.
func (d *Dangling[D, DK, T, TK]) Repair(missing ...MissingID) model.Plan {
	return d.in.repairPlan(missing)
}

// Mend returns the change that finds the ids that have been missing for an age, and mends the references to them by the
// declared policy. The age is to be longer than any plan of the application takes: a reference is not mended for being
// stored a moment before its target. It checks twice, that long apart; an age of 0 checks once, for a database that
// nobody else writes. The state that it returns is what it mended or, under ReportOnly, would have; its numbers of
// documents are those of the last check. An id that no _id can be ends it with a [*model.ValueError], and nothing is
// written: see [Dangling.Repair].
//
// Cost: two checks ([Dangling.Missing]), one when the first finds nothing or the age is 0; one command for every 10,000
// missing ids to check once more the documents that hold them; and those of [Dangling.Repair].
func (d *Dangling[D, DK, T, TK]) Mend(age time.Duration) model.Change[[]MissingID] {
	return d.in.mend(age)
}

// RepairJob returns the job that mends the references to missing ids by the declared policy, batch by batch in the order of the
// documents' _id: for ids that very many documents hold, where one command would take too long. It has dry runs,
// progress, and goes on where it stopped. The ids are those of a check, or what [Dangling.Mend] under ReportOnly returned;
// more than 10,000, or 4 MiB of them, are refused. A cut leaves batches that are mended and others that are not; run again
// it finds those alone.
//
// Cost: two commands for each batch of 500 documents, and two to find the end; documents written: those that hold one of
// the ids. Documents are found in the order of _id, so that the job reads the whole collection once.
func (d *Dangling[D, DK, T, TK]) RepairJob(missing ...MissingID) model.Job { return d.in.job(missing) }

// Indexes returns the index on the path, by which a repair finds the documents that hold an id.
func (d *Dangling[D, DK, T, TK]) Indexes() []model.Index { return []model.Index{d.in.ref.index()} }

// Relations returns the relation, for diagrams: a reference leads to one document or to none.
func (d *Dangling[D, DK, T, TK]) Relations() []model.Relation {
	return d.in.relations()
}
