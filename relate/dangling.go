package relate

import (
	"fmt"
	"reflect"
	"strings"

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
	docs    *model.Collection[D, DK]
	targets *model.Collection[T, TK]
	ref     Reference
	repair  RepairPolicy
	by      any   // what replaces an id
	none    []any // values that stand for no reference
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

func (p RepairPolicy) String() string {
	return [...]string{"report only", "detach", "delete the referring document", "replace"}[p]
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
	d := &Dangling[D, DK, T, TK]{docs: docs, targets: targets}
	model.MustField(targets, "_id")
	field := model.NewReader[TK](docs, path).Field()
	d.ref = newReference(docs.Name(), field, targets.Name())
	if base, isID := strings.CutSuffix(path, ".id"); isID {
		d.ref.link = isLink[TK](model.MustField(docs, base))
	}
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewDangling of " + docs.Name() + "." + path, Remedy: remedy})
	}
	if problem, remedy := d.ref.check(); d.ref.deep {
		fail(problem, remedy)
	}
	var zero TK
	d.none = []any{nil}
	if v, err := targets.Encode(zero); err == nil && v != nil && targets.CheckID("_id", zero) != nil {
		d.none = append(d.none, v)
	}
	switch {
	case len(spec) > 1:
		fail("more than one DanglingSpec", "give one")
	case len(spec) == 1:
		d.specify(spec[0], fail)
	}
	return d
}

func (d *Dangling[D, DK, T, TK]) specify(spec DanglingSpec, fail func(problem, remedy string)) {
	if spec.Repair > ReplaceIDs {
		fail("no such RepairPolicy", "use one of the constants")
	}
	d.repair = spec.Repair
	switch {
	case spec.List == "":
	case !d.ref.open:
		fail("List is given though the type tells", "leave List empty")
	case spec.List != d.ref.path && !strings.HasPrefix(d.ref.path, spec.List+"."):
		fail(fmt.Sprintf("List %q is not on the path", spec.List), "name the path itself, or one above it")
	default:
		d.ref.list, d.ref.open = spec.List, false
		d.ref.key = strings.TrimPrefix(strings.TrimPrefix(d.ref.path, spec.List), ".")
	}
	switch {
	case spec.Repair != ReplaceIDs && spec.ReplaceBy != nil:
		fail("ReplaceBy is given, and nothing is replaced", "set Repair to ReplaceIDs, or leave ReplaceBy empty")
	case spec.Repair != ReplaceIDs:
		return
	case d.ref.link:
		fail("the id of a Link can't be replaced", "detach it, or delete the referring document: a Link belongs to the operation that made it")
	}
	by, ok := spec.ReplaceBy.(TK)
	if !ok {
		fail(fmt.Sprintf("ReplaceBy is %T, not %s", spec.ReplaceBy, reflect.TypeFor[TK]()), "give an id of "+d.targets.Name())
	}
	v, err := encodeID(d.targets, d.docs.Name(), "ReplaceBy", by)
	if err != nil {
		fail(err.Error(), "give an id that a document can have")
	}
	d.by = v
}

// References returns the one reference.
func (d *Dangling[D, DK, T, TK]) References() []Reference { return []Reference{d.ref} }

func (d *Dangling[D, DK, T, TK]) referrer() {}

// Find returns the references that lead nowhere of the documents that match a filter, nil for all, in the order of the
// documents' _id; an id that a document lists several times comes once. What stands for no reference, nothing, null and
// the empty id, is passed over.
//
// Cost: one command; it reads every document of the filter, and the server looks each one's ids up by _id. Needs MongoDB
// 5.0, for a $lookup with both a field and a pipeline.
func (d *Dangling[D, DK, T, TK]) Find(filter bson.D) model.Aggregate[DanglingRef[DK]] {
	known := bson.D{{Key: "$concatArrays", Value: bson.A{"$known._id", literal(bson.A(d.none))}}}
	a := model.AggregateAs[DanglingRef[DK]](d.docs, matching(filter,
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "ids", Value: d.ref.ids()}}}},
		d.lookup("ids"),
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "doc", Value: "$_id"}, {Key: "path", Value: literal(d.ref.path)},
			{Key: "id", Value: distinct(except("$ids", known))},
		}}},
		bson.D{{Key: "$unwind", Value: "$id"}},
	))
	a.Index = model.IDIndex
	if len(filter) > 0 {
		a.Index = ""
	}
	return a
}

// Missing returns the ids that lead nowhere, each once, with how many documents hold it, of the documents that match a
// filter, nil for all. Those that most hold come first.
//
// Cost: one command; it reads every document of the filter, and the server looks each id up by _id once, however many hold
// it. Many million different ids need ReadOptions.AllowDiskUse.
func (d *Dangling[D, DK, T, TK]) Missing(filter bson.D) model.Aggregate[MissingID] {
	return model.AggregateAs[MissingID](d.docs, matching(filter,
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "ids", Value: bson.D{{Key: "$setUnion", Value: bson.A{d.ref.ids()}}}}}}},
		bson.D{{Key: "$unwind", Value: "$ids"}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "ids", Value: bson.D{{Key: "$nin", Value: bson.A(d.none)}}}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$ids"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}}}}},
		d.lookup("_id"),
		bson.D{{Key: "$match", Value: bson.D{{Key: "known", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: "$_id"}, {Key: "n", Value: 1}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: -1}, {Key: "id", Value: 1}}}},
	))
}

// lookup adds the targets that exist, their ids only.
func (d *Dangling[D, DK, T, TK]) lookup(local string) bson.D {
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: d.targets.Name()}, {Key: "localField", Value: local}, {Key: "foreignField", Value: "_id"},
		{Key: "pipeline", Value: mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}}}, {Key: "as", Value: "known"},
	}}}
}

// ids is the list of what a document holds, as an expression, whatever is stored: a list, one id, null or nothing.
func (r Reference) ids() bson.D {
	path := "$" + r.path
	none := bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$ifNull", Value: bson.A{path, nil}}}, nil}}}
	one := bson.D{{Key: "$cond", Value: bson.A{none, bson.A{}, bson.A{path}}}}
	return bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: "$isArray", Value: path}}, path, one}}}
}

// Indexes returns the index on the path, by which a repair finds the documents that hold an id.
func (d *Dangling[D, DK, T, TK]) Indexes() []model.Index { return []model.Index{d.ref.index()} }

// Relations returns the relation, for diagrams: a reference leads to one document or to none.
func (d *Dangling[D, DK, T, TK]) Relations() []model.Relation {
	to := model.ZeroOrOne
	if d.ref.IsList() {
		to = model.Many
	}
	return []model.Relation{{
		From: d.ref.from, FromPath: d.ref.path, To: d.ref.to, ToPath: "_id",
		FromEnd: model.Many, ToEnd: to, Label: "weak link",
	}}
}
