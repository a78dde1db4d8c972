package ondelete

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	instead = "Store.DeleteJob"

	// maxBlocked is how many references a refused deletion names.
	maxBlocked = 10

	// mostRestricting is more than a store's action can delete, so that one of so many
	// documents remains.
	mostRestricting = 1001
)

// Reactions returns what the deletion of a document in a store asks for, for each collection
// that a rule deletes from. forbid makes the error of references that forbid the deletion.
func (o *Deletion) Reactions(forbid func(found []model.Finding, more bool) error) (out []model.Reaction) {
	for _, name := range o.deletedFrom() {
		var rules []rule
		for _, r := range o.rules {
			if r.target() == name {
				rules = append(rules, r)
			}
		}
		d := deletion{rules, forbid}
		out = append(out, model.Reaction{Collection: name, On: model.OnDelete, Fetch: d.fetch, React: d.react})
	}
	return out
}

// deletedFrom returns the collections whose documents a rule is about.
func (o *Deletion) deletedFrom() (out []string) {
	for _, r := range o.rules {
		if name := r.target(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// target returns the collection whose deletions the rule follows.
func (r rule) target() string {
	if r.action == owns {
		return r.ref.From
	}
	return r.ref.To
}

// A deletion applies the rules of one collection to a deleted document.
type deletion struct {
	rules  []rule
	forbid func(found []model.Finding, more bool) error
}

func (d deletion) fetch(w model.StoreWrite) (out []model.Fetch, _ error) {
	if w.After != nil {
		return nil, nil
	}
	id := bsonval.Clone(w.Before.Lookup("_id"))
	for _, r := range d.rules {
		switch r.action {
		case owns:
			for _, id := range ownedIDs(r, w.Before) {
				out = append(out, model.Fetch{Collection: r.ref.To, ID: id, Paths: []string{model.Whole}})
			}
		case restrict:
			out = append(out, model.Fetch{Collection: r.ref.From, By: r.ref.Path, ID: id, Paths: []string{"_id", r.ref.Path}, Limit: mostRestricting})
		default:
			out = append(out, model.Fetch{
				Collection: r.ref.From, By: r.ref.Path, ID: id, Paths: []string{model.Whole}, Job: instead, Deletes: r.action == cascade,
			})
		}
	}
	return out, nil
}

// ownedIDs returns the ids that a document holds at an Owns rule's path.
func ownedIDs(r rule, doc bson.Raw) (out []bson.RawValue) {
	for _, id := range idref.ValuesAt(doc, r.ref.Path) {
		if idref.CanBeID(id) {
			out = append(out, bsonval.Clone(id))
		}
	}
	return out
}

func (d deletion) react(w model.StoreWrite) (a model.Answer, err error) {
	if w.After != nil {
		return a, nil
	}
	id, at := bsonval.Clone(w.Before.Lookup("_id")), 0
	restricting := make([][]bson.Raw, len(d.rules))
	for i, r := range d.rules {
		n := 1
		if r.action == owns {
			n = len(ownedIDs(r, w.Before))
		}
		for ; n > 0; n, at = n-1, at+1 {
			for _, doc := range w.FoundAll(at) {
				switch r.action {
				case restrict:
					restricting[i] = append(restricting[i], doc)
				case nullify:
					a.Writes = append(a.Writes, model.StoreWrite{
						Collection: r.ref.From, Before: doc, Change: func(doc bson.Raw) (bson.D, error) { return detached(r.ref, doc, id), nil },
					})
				default:
					collection := r.ref.From
					if r.action == owns {
						collection = r.ref.To
					}
					a.Writes = append(a.Writes, model.StoreWrite{Collection: collection, Before: doc})
				}
			}
		}
	}
	a.Check = func(deleted func(collection string, id bson.RawValue) bool) error {
		return d.check(id, restricting, deleted)
	}
	return a, nil
}

// detached returns the fields of a document that loses an id.
func detached(ref idref.Ref, doc bson.Raw, id bson.RawValue) bson.D {
	at, _ := core.ValueAt(doc, ref.Path)
	switch {
	case ref.List != "":
		list, _ := core.ValueAt(doc, ref.List)
		return bson.D{{Key: ref.List, Value: idref.Without(list, ref.Key, id)}}
	case !bsonval.EqualRaw(at, id):
		return nil
	}
	return bson.D{{Key: ref.Path, Value: bson.RawValue{}}}
}

// check returns an error if a document that refers to the deleted one remains.
func (d deletion) check(id bson.RawValue, restricting [][]bson.Raw, deleted func(collection string, id bson.RawValue) bool) error {
	var found []model.Finding
	for i, r := range d.rules {
		for _, doc := range restricting[i] {
			if deleted(r.ref.From, doc.Lookup("_id")) {
				continue
			}
			if len(found) == maxBlocked {
				return d.forbid(found, true)
			}
			f, err := blockedBy(r.ref, doc.Lookup("_id"), id)
			if err != nil {
				return err
			}
			found = append(found, f)
		}
	}
	if len(found) > 0 {
		return d.forbid(found, false)
	}
	return nil
}

// blockedBy returns the finding that a document's reference forbids a deletion.
func blockedBy(ref idref.Ref, doc, target bson.RawValue) (model.Finding, error) {
	detail, err := bson.Marshal(idref.Stored{Doc: doc, Path: ref.Path, ID: target})
	return model.Finding{
		Check: "restrict " + ref.String(), Collection: ref.From, ID: doc, Problem: ref.Path + " → " + model.Shell(target), Detail: detail,
	}, err
}
