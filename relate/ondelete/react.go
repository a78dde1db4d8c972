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

// Reactions returns what the deletion of a document in a store asks for, for each
// collection that a rule deletes from. forbid makes the error of references that forbid
// the deletion.
func (o *untypedOnDelete) makeReactions(forbid func(found []model.Finding, more bool) error) (out []model.Reaction) {
	for _, name := range o.listCollections() {
		var rules []rule
		for _, r := range o.rules {
			if r.nameCollection() == name {
				rules = append(rules, r)
			}
		}
		d := deletion{rules, forbid}
		out = append(
			out, model.Reaction{Collection: name, On: model.OnDelete, Fetch: d.fetchReferring, React: d.applyRules},
		)
	}
	return out
}

// listCollections returns the collections whose deletions have rules.
func (o *untypedOnDelete) listCollections() (out []string) {
	for _, r := range o.rules {
		if name := r.nameCollection(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// nameCollection returns the collection whose deletions the rule follows.
func (r rule) nameCollection() string {
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

// fetchReferring asks the store for the documents that the rules are about, rule after
// rule. applyRules reads the answers in the same order.
func (d deletion) fetchReferring(w model.StoreWrite) (out []model.Fetch, _ error) {
	if w.After != nil {
		return nil, nil
	}
	id := bsonval.Clone(w.Before.Lookup("_id"))
	for _, r := range d.rules {
		switch r.action {
		case owns:
			for _, id := range readOwnedIDs(r, w.Before) {
				out = append(out, model.Fetch{Collection: r.ref.To, ID: id, Paths: []string{model.Whole}})
			}
		case restrict:
			out = append(
				out,
				model.Fetch{
					Collection: r.ref.From, By: r.ref.Path, ID: id, Paths: []string{"_id", r.ref.Path},
					Limit: mostRestricting,
				},
			)
		default:
			out = append(out, model.Fetch{
				Collection: r.ref.From, By: r.ref.Path, ID: id, Paths: []string{model.Whole}, Job: instead,
				Deletes: r.action == cascade,
			})
		}
	}
	return out, nil
}

// readOwnedIDs returns the ids at the path of an Owns rule.
func readOwnedIDs(r rule, doc bson.Raw) (out []bson.RawValue) {
	for _, id := range idref.ReadValuesAt(doc, r.ref.Path) {
		if idref.CanBeID(id) {
			out = append(out, bsonval.Clone(id))
		}
	}
	return out
}

// applyRules adds the writes that follow from a deletion. at counts the fetches.
func (d deletion) applyRules(w model.StoreWrite) (a model.Answer, err error) {
	if w.After != nil {
		return a, nil
	}
	id, at := bsonval.Clone(w.Before.Lookup("_id")), 0
	restricting := make([][]bson.Raw, len(d.rules))
	for i, r := range d.rules {
		n := 1
		if r.action == owns {
			n = len(readOwnedIDs(r, w.Before))
		}
		for ; n > 0; n, at = n-1, at+1 {
			for _, doc := range w.FoundAll(at) {
				switch r.action {
				case restrict:
					restricting[i] = append(restricting[i], doc)
				case nullify:
					a.Writes = append(a.Writes, model.StoreWrite{
						Collection: r.ref.From, Before: doc,
						Change: func(doc bson.Raw) (bson.D, error) { return detachID(r.ref, doc, id), nil },
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
		return d.checkRestricting(id, restricting, deleted)
	}
	return a, nil
}

// detachID returns the fields of a document that loses an id.
func detachID(ref idref.Ref, doc bson.Raw, id bson.RawValue) bson.D {
	at, _ := core.ValueAt(doc, ref.Path)
	switch {
	case ref.List != "":
		list, _ := core.ValueAt(doc, ref.List)
		return bson.D{{Key: ref.List, Value: idref.RemoveID(list, ref.Key, id)}}
	case !bsonval.EqualRaw(at, id):
		return nil
	}
	return bson.D{{Key: ref.Path, Value: bson.RawValue{}}}
}

// checkRestricting returns an error if a document that forbids the deletion remains.
func (d deletion) checkRestricting(
	id bson.RawValue, restricting [][]bson.Raw, deleted func(collection string, id bson.RawValue) bool,
) error {
	var found []model.Finding
	for i, r := range d.rules {
		for _, doc := range restricting[i] {
			if deleted(r.ref.From, doc.Lookup("_id")) {
				continue
			}
			if len(found) == maxBlocked {
				return d.forbid(found, true)
			}
			f, err := makeFinding(r.ref, doc.Lookup("_id"), id)
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

// makeFinding returns the finding that a document's reference forbids a deletion.
func makeFinding(ref idref.Ref, doc, target bson.RawValue) (model.Finding, error) {
	detail, err := bson.Marshal(idref.Stored{Doc: doc, Path: ref.Path, ID: target})
	return model.Finding{
		Check: "restrict " + ref.String(), Collection: ref.From, ID: doc,
		Problem: ref.Path + " → " + model.Shell(target), Detail: detail,
	}, err
}
