package relate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// OnDelete says what happens to the documents that refer to one that is deleted: they forbid it, go with it, or let go of
// it. A rule holds for one declared reference, and rules reach as many levels as there are. Make it with [NewOnDelete].
//
// What goes is read first, level by level from the documents to be deleted; a document that is reached a second time is
// not read again, which ends cycles. Then the deepest level is deleted first and the documents themselves last.
//
// # Consistency
//
// A cut leaves the shallower levels, each document of them still reachable from the first ones: running the same deletion
// again finds and deletes the rest, as long as it is given the same ids. Parents first would leave documents whose parent
// is gone, which no second run finds. A reference that stays is let go of before its target is deleted. Only where
// documents refer to each other in a circle, or skip levels, can one that is about to be deleted refer to one that is
// deleted already.
//
// Each document is deleted if it still holds the reference by which it was reached: one that was moved to another parent
// in the meantime stays. What was below it when it was read may be gone by then. A document that is stored under a parent
// which is being deleted, or comes to refer to it after rules that forbid were asked, keeps a reference that leads
// nowhere: [OnDelete.Sweep] looks for those once more, and [Dangling] finds them at any time. Run the change with Tx set
// to rule out the former; only an application that stops storing references first rules out the latter.
//
// Source: references that the database doesn't check, seeds 000 and 003; the actions are SQL's.
type OnDelete[D, K any] struct {
	root *model.Collection[D, K]
	in   *onDelete
}

// onDelete is what of an [OnDelete] doesn't depend on its types.
type onDelete struct {
	root  string
	rules []deleteRule
	chunk int
}

type deleteAction uint8

const (
	restrict deleteAction = iota
	cascade
	nullify
	owns
)

func (a deleteAction) String() string {
	return [...]string{"restrict", "cascade", "nullify", "owns"}[a]
}

type deleteRule struct {
	ref    Reference
	action deleteAction
}

// A DeleteRule is what happens along references when a document is deleted: [Restrict], [Cascade], [Nullify] or [Owns].
type DeleteRule struct {
	refs   []Reference
	action deleteAction
}

// Restrict forbids to delete a document that others refer to, unless those are deleted with it.
func Restrict(r Referrer) DeleteRule { return ruleOf("Restrict", r, restrict) }

// Cascade deletes the documents that refer to a deleted one.
func Cascade(r Referrer) DeleteRule { return ruleOf("Cascade", r, cascade) }

// Nullify takes the id of a deleted document away from those that refer to it: out of a list, or, where elements hold ids,
// the whole element; a single one is unset.
func Nullify(r Referrer) DeleteRule { return ruleOf("Nullify", r, nullify) }

// Owns deletes the documents that a deleted one refers to: a product's own parts. Together with Restrict or Nullify of the
// same reference, parts that other products list too forbid it or are let go of. Whether the owner still lists a part when
// that is deleted can't be asked in one document, and is not.
func Owns(r Referrer) DeleteRule { return ruleOf("Owns", r, owns) }

// ruleOf is a rule along the references of a technique.
func ruleOf(name string, r Referrer, action deleteAction) DeleteRule {
	if r == nil {
		panic(&model.DeclarationError{Problem: "the references are nil", Place: name, Remedy: "give a technique that holds references"})
	}
	return DeleteRule{r.References(), action}
}

// NewOnDelete declares what happens when documents of a collection are deleted. Rules about other collections hold for the
// documents there that a deletion reaches; those that it can't reach are never asked, so that one list of rules serves
// several roots. It panics with a [*model.DeclarationError] for a reference of which it can't be told what it holds, when
// one reference is given two of Restrict, Cascade and Nullify, and when Nullify would take array elements by which
// another rule follows.
func NewOnDelete[D, K any](root *model.Collection[D, K], rules ...DeleteRule) *OnDelete[D, K] {
	model.MustField(root, "_id")
	return &OnDelete[D, K]{root, declareOnDelete(root.Name(), rules)}
}

func declareOnDelete(root string, rules []DeleteRule) *onDelete {
	o := &onDelete{root: root, chunk: maxIDs}
	for _, rule := range rules {
		for _, ref := range rule.refs {
			r := deleteRule{ref, rule.action}
			if problem, remedy := o.check(r); problem != "" {
				panic(&model.DeclarationError{Problem: problem, Place: "NewOnDelete of " + root, Remedy: remedy})
			}
			o.rules = append(o.rules, r)
		}
	}
	return o
}

func (o *onDelete) check(r deleteRule) (problem, remedy string) {
	if problem, remedy = r.ref.check(); problem != "" {
		return problem, remedy
	}
	for _, other := range o.rules {
		same := other.ref.from == r.ref.from && other.ref.path == r.ref.path && other.ref.to == r.ref.to
		if same && (other.action == r.action || other.action != owns && r.action != owns) {
			return fmt.Sprintf("%s has two rules: %s and %s", r.ref, other.action, r.action), "give one; only Owns goes with another"
		}
		for _, pair := range [][2]deleteRule{{other, r}, {r, other}} {
			if taken, followed := pair[0], pair[1]; taken.takes(followed) {
				return fmt.Sprintf("%s: to nullify %s takes whole elements, and with them %s", r.ref.from, taken.ref.path, followed.ref.path),
					"use Restrict for one of them, or keep the ids in two arrays"
			}
		}
	}
	return "", ""
}

// takes reports whether the rule takes elements away that hold the reference which another follows: by then it couldn't be
// told any more that the document was to go.
func (r deleteRule) takes(other deleteRule) bool {
	return r.action == nullify && (other.action == cascade || other.action == owns) &&
		r.ref.from == other.ref.from && r.ref.list != "" && r.ref.list == other.ref.list && r.ref.key != other.ref.key
}

// Chunk returns the same deletion with at most n ids in one command. By default there are 10,000, and 4 MiB of them. An n
// below one is the default.
func (o *OnDelete[D, K]) Chunk(n int) *OnDelete[D, K] {
	if n < 1 {
		n = maxIDs
	}
	in := *o.in
	in.chunk = n
	return &OnDelete[D, K]{o.root, &in}
}

// Indexes returns an index on each path by which referring documents are found.
func (o *OnDelete[D, K]) Indexes() []model.Index { return o.in.indexes() }

func (o *onDelete) indexes() []model.Index {
	var out []model.Index
	for _, r := range o.rules {
		x := r.ref.index()
		if r.action != owns && !slices.ContainsFunc(out, func(y model.Index) bool { return y.Collection == x.Collection && y.Name == x.Name }) {
			out = append(out, x)
		}
	}
	return out
}

// Relations returns the references, for diagrams, each with its rule.
func (o *OnDelete[D, K]) Relations() []model.Relation { return o.in.relations() }

func (o *onDelete) relations() []model.Relation {
	var out []model.Relation
	for _, r := range o.rules {
		to := model.ZeroOrOne
		if r.ref.IsList() {
			to = model.Many
		}
		out = append(out, model.Relation{
			From: r.ref.from, FromPath: r.ref.path, To: r.ref.to, ToPath: "_id",
			FromEnd: model.Many, ToEnd: to, Label: "on delete: " + r.action.String(),
		})
	}
	return out
}

// String is the rules in words, one to a line.
func (o *OnDelete[D, K]) String() string { return o.in.String() }

// String is the rules in words.
func (o *onDelete) String() string {
	lines := []string{"delete " + o.root}
	for _, r := range o.rules {
		lines = append(lines, r.action.String()+" "+r.ref.String())
	}
	return strings.Join(lines, "\n")
}

// Plan returns the plan that deletes what was reached, deepest level first, each level's ids let go of before. What
// is forbidden to go gives a [*RestrictError].
//
// Cost: for each level one command for every rule that lets go of its collection and every 10,000 ids, and one for every
// way by which its documents were reached; fewer where neighbours share a command. Documents written: those that were
// reached and those that let go. It can be run again.
func (o *OnDelete[D, K]) Plan(reach Reach) (model.Plan, error) { return o.in.plan(reach) }

func (o *onDelete) plan(reach Reach) (model.Plan, error) { return o.planFrom(0, reach) }

// planFrom is the plan that deletes the levels from a depth on, and lets go of all.
func (o *onDelete) planFrom(depth int, reach Reach) (model.Plan, error) {
	if len(reach.Blocked) > 0 {
		return model.Plan{}, &RestrictError{cloneBlocked(reach.Blocked), reach.More}
	}
	var p model.Plan
	for _, level := range slices.Backward(reach.Levels) {
		for _, r := range o.rules {
			if r.action != nullify || r.ref.to != level.Collection {
				continue
			}
			keep := owners(level, r.ref)
			for _, ids := range chunked(level.IDs, o.chunk) {
				p.Steps = append(p.Steps, r.ref.updateMany(append(r.ref.refers(ids), keep...), r.ref.detach(ids)))
			}
		}
		if level.Depth >= depth {
			p.Steps = append(p.Steps, o.deletes(level)...)
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "the levels that are not deleted yet, which a second run finds from the same ids"
	}
	return p, nil
}

func cloneBlocked(refs []BlockingRef) []BlockingRef {
	out := make([]BlockingRef, len(refs))
	for i, b := range refs {
		out[i] = BlockingRef{b.Reference, clone(b.Doc), clone(b.Target)}
	}
	return out
}

// owners is the condition that leaves out the documents that own those of a level along a reference. They go too, and
// their lists are what a second run finds the level by.
func owners(level ReachLevel, ref Reference) bson.D {
	var ids []bson.RawValue
	for _, via := range level.Via {
		if via.Owned && via.Reference == ref {
			ids = append(ids, via.Targets...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$nin", Value: asArray(ids)}}}}
}

// deletes is what deletes one level: the first documents by their ids, others if they still hold what led to them.
func (o *onDelete) deletes(level ReachLevel) []model.Step {
	remove := func(filter bson.D) model.Write {
		return model.Write{Collection: level.Collection, Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: filter}}
	}
	var steps []model.Step
	if len(level.Via) == 0 {
		for _, ids := range chunked(level.IDs, o.chunk) {
			steps = append(steps, remove(idIn(ids)))
		}
	}
	for _, via := range level.Via {
		for _, ids := range chunked(via.IDs, o.chunk) {
			filter := idIn(ids)
			if !via.Owned {
				filter = append(filter, via.Reference.refers(asArray(via.Targets))...)
			}
			steps = append(steps, remove(filter))
		}
	}
	return steps
}

func idIn(ids bson.A) bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}} }
