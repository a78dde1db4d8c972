package relate

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// joinCollection is what of a [JoinCollection] doesn't depend on its types: it works on encoded ids.
type joinCollection struct {
	links, lefts, rights string // collections
	left, right          string // paths
	by                   string // "" means _id
	order                bson.D // newest first, total
}

func (j *joinCollection) declare(left, right model.Field, spec []JoinCollectionSpec, field func(path string) model.Field) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewJoinCollection of " + j.links, Remedy: remedy})
	}
	for _, f := range []model.Field{left, right} {
		switch {
		case f.Arrays > 0:
			fail(fmt.Sprintf("path %q crosses an array", f.Path), "name a single id: each link ties one pair")
		case f.Path == "_id" || strings.HasPrefix(f.Path, "_id."):
			fail(fmt.Sprintf("path %q is within _id", f.Path), "hold both ids in fields of their own; _id may repeat them")
		}
	}
	if model.Overlap(j.left, j.right) {
		fail(fmt.Sprintf("paths %q and %q overlap", j.left, j.right), "hold each id in a field of its own")
	}
	switch {
	case len(spec) > 1:
		fail("more than one JoinCollectionSpec", "give one")
	case len(spec) == 1 && spec[0].By != "" && spec[0].By != "_id":
		j.by = spec[0].By
		if f := field(j.by); f.Arrays > 0 {
			fail(fmt.Sprintf("path %q crosses an array", f.Path), "order by a single value")
		}
		if model.Overlap(j.by, j.left) || model.Overlap(j.by, j.right) {
			fail(fmt.Sprintf("the order %q is one of the ids", j.by), "order by another field")
		}
		j.order = bson.D{{Key: j.by, Value: -1}}
	}
	j.order = append(j.order, bson.E{Key: "_id", Value: -1})
}

// pair is the filter of one pair.
//
//go:noinline
func (j *joinCollection) pair(left, right any) bson.D {
	return bson.D{{Key: j.left, Value: model.Eq(left)}, {Key: j.right, Value: model.Eq(right)}}
}

//go:noinline
func (j *joinCollection) holdsNone(path string) error {
	return j.refused(path, "the link holds no id")
}

func (j *joinCollection) refused(field, reason string) error {
	return &model.ValueError{Collection: j.links, Field: field, Reason: reason}
}

// linked is the reason that a pair can't be stored: another link ties it.
func (j *joinCollection) linked(pair bson.D) []model.Reason {
	e := &LinkedError{Collection: j.links, Left: bare(pair[0].Value), Right: bare(pair[1].Value)}
	return []model.Reason{{If: pair, Err: e}}
}

// bare takes the $eq off a condition that model.Eq made.
func bare(cond any) any {
	if d, ok := cond.(bson.D); ok && len(d) == 1 && d[0].Key == "$eq" {
		return d[0].Value
	}
	return cond
}

func (j *joinCollection) indexes() []model.Index {
	unique := model.NewIndex(j.links, bson.D{{Key: j.left, Value: 1}, {Key: j.right, Value: 1}})
	unique.Unique = true
	unique.Why = "one link for each pair; the link of a pair"
	return []model.Index{unique, j.index(j.left, j.lefts), j.index(j.right, j.rights)}
}

//go:noinline
func (j *joinCollection) pairIndex() string { return j.indexes()[0].Name }

//go:noinline
func (j *joinCollection) leftIndex() string { return j.index(j.left, j.lefts).Name }

//go:noinline
func (j *joinCollection) rightIndex() string { return j.index(j.right, j.rights).Name }

func (j *joinCollection) index(path, side string) model.Index {
	x := model.NewIndex(j.links, append(bson.D{{Key: path, Value: 1}}, j.order...))
	x.Why = "the " + j.links + " of a document of " + side + ", newest first"
	return x
}

func (j *joinCollection) relations() []model.Relation {
	end := func(path, to string) model.Relation {
		return model.Relation{
			From: j.links, FromPath: path, To: to, ToPath: "_id",
			FromEnd: model.Many, ToEnd: model.ExactlyOne, Label: "join document",
		}
	}
	return []model.Relation{end(j.left, j.lefts), end(j.right, j.rights)}
}

// deleteMany is a write that deletes the links of a document at one end, which an index serves.
//
//go:noinline
func (j *joinCollection) deleteMany(path string, id any, index string, err error) model.Write {
	if err != nil {
		return model.Refused(j.links, err)
	}
	filter := bson.D{{Key: path, Value: model.Eq(id)}}
	return model.Write{Collection: j.links, Index: index, Model: &mongo.DeleteManyModel{Filter: filter}}
}

// link completes the write that stores a link.
func (j *joinCollection) link(w *model.Write, pair bson.D, err error) {
	if err != nil {
		*w = model.Refused(j.links, err)
		return
	}
	w.Index, w.Reasons = j.pairIndex(), j.linked(pair)
}

// ensure is the write that links a pair unless it is linked.
func (j *joinCollection) ensure(insert model.Write, pair bson.D, err error) model.Write {
	if err != nil {
		return model.Refused(j.links, err)
	}
	elems, err := insert.Model.(*mongo.InsertOneModel).Document.(bson.Raw).Elements()
	if err != nil {
		return model.Refused(j.links, j.refused("document", err.Error()))
	}
	fields := make(bson.D, len(elems))
	for i, e := range elems {
		fields[i] = bson.E{Key: e.Key(), Value: e.Value()}
	}
	upsert := true
	return model.Write{
		Collection: j.links, Index: j.pairIndex(), Once: true, Done: pair,
		Model: &mongo.UpdateOneModel{Filter: pair, Update: bson.D{{Key: "$setOnInsert", Value: fields}}, Upsert: &upsert},
	}
}

// linkPlan is a plan of one write for each link, and by which the pairs are told apart.
type linkPlan struct {
	model.Plan
	seen map[string]int
}

// add adds the write of the i-th link. A bad one refuses the plan.
func (j *joinCollection) add(p *linkPlan, i int, w model.Write, pair bson.D) error {
	err := w.Err
	if err == nil {
		key := model.Shell(pair)
		if first, twice := p.seen[key]; twice {
			err = &model.ValueError{Collection: j.links, Field: "links", Value: pair, Reason: fmt.Sprintf("%d ties the same pair as %d", i, first)}
		}
		if p.seen == nil {
			p.seen = map[string]int{}
		}
		p.seen[key] = i
	}
	if err != nil {
		p.Plan = model.RefusedPlan(j.links, fmt.Errorf("docmodel: link %d: %w", i, err))
		return err
	}
	p.Steps = append(p.Steps, w)
	return nil
}

//go:noinline
func (j *joinCollection) unlink(pair bson.D, err error) model.Write {
	if err != nil {
		return model.Refused(j.links, err)
	}
	return model.Write{
		Collection: j.links, Index: j.pairIndex(), Once: true,
		Model: &mongo.DeleteOneModel{Filter: pair},
	}
}

// update is the write that applies copied operators to the link of a pair.
func (j *joinCollection) update(pair bson.D, update any, err error) model.Write {
	if err != nil {
		return model.Refused(j.links, j.refused("update", err.Error()))
	}
	ops, _ := update.(bson.D)
	once, err := j.checkUpdate(ops)
	if err != nil {
		return model.Refused(j.links, err)
	}
	return model.Write{
		Collection: j.links, Expect: model.One, Index: j.pairIndex(), Once: once,
		Model: &mongo.UpdateOneModel{Filter: pair, Update: ops},
	}
}

// move is the write that gives a link other ends.
func (j *joinCollection) move(key any, was, next bson.D, err error) model.Write {
	if err != nil {
		return model.Refused(j.links, err)
	}
	this := bson.D{{Key: "_id", Value: model.Eq(key)}}
	w := updateOne(j.links, model.And(this, was), bson.D{{Key: "$set", Value: bson.D{
		{Key: j.left, Value: bare(next[0].Value)}, {Key: j.right, Value: bare(next[1].Value)},
	}}})
	w.Done, w.Once = model.And(this, next), true
	w.Reasons = j.linked(next)
	return w
}
