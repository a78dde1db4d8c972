package paths

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// inserted is the document of a collection's insert.
func inserted(w model.Write) bson.Raw { return w.Model.(*mongo.InsertOneModel).Document.(bson.Raw) }

// unsound is the error of a stored node without what the representation keeps.
func (t *tree) unsound(n node, field string) error {
	return t.refused(field, nil, text(n.id)+" lacks what the tree keeps there: Repair or Convert writes it")
}

// orderOf gives a spot its order key.
func (t *tree) orderOf(s *spot) error {
	prev, next := "", ""
	if s.prev != nil {
		prev = s.prev.order
	}
	if s.next != nil {
		next = s.next.order
	}
	var err error
	if s.order, err = Between(prev, next); err != nil {
		return fmt.Errorf("docmodel: %s: the siblings' order is damaged, which Repair mends: %w", t.docs, err)
	}
	return nil
}

// newer refuses the number of a change that isn't above those of the documents that it was decided from: its writes would pass them
// over, as done. That can be when the lock document was lost, or the tree goes under another name.
func (t *tree) newer(change int64, s spot, nodes ...node) error {
	for _, n := range []*node{s.parent, s.prev, s.next} {
		if n != nil {
			nodes = append(nodes, *n)
		}
	}
	for _, n := range slices.Concat(nodes, s.near, s.below) {
		if n.change >= change {
			return t.refused(t.links.Change, n.change, fmt.Sprintf("%s was written by this change or a later one, not before change %d: has the lock document been lost? "+
				"Its fence must be above the numbers of all documents, which Repair sees to", text(n.id), change))
		}
	}
	return nil
}

// insert is the plan that stores a document at a spot.
func (t *tree) insert(doc bson.Raw, s spot, change int64) (model.Plan, error) {
	n, err := t.read(doc)
	if err != nil {
		return model.Plan{}, err
	}
	if err := t.newer(change, s); err != nil {
		return model.Plan{}, err
	}
	var room []model.Step
	fields, err := t.rep.derive(n, s)
	if r, ok := t.rep.(roomer); ok {
		fields, room, err = r.insertion(n, s, change)
	}
	if err != nil {
		return model.Plan{}, err
	}
	stored, err := model.SetFields(doc, append(t.linked(s, change), fields...))
	if err != nil {
		return model.Plan{}, err
	}
	insert := model.Write{
		Collection: t.docs, Model: &mongo.InsertOneModel{Document: stored}, Expect: model.One,
		Done: bson.D{{Key: "_id", Value: model.Eq(n.id)}, {Key: t.links.Change, Value: change}},
	}
	p := model.NewPlan(slices.Concat([]model.Step{insert}, room, t.uncrowd(s, change))...)
	if l, ok := t.rep.(lister); ok {
		p.Steps = append(p.Steps, l.listed(n, s, change)...)
	}
	return p, nil
}

// moveTo is the plan that takes a node to a spot.
func (t *tree) moveTo(n node, s spot, change int64) (model.Plan, error) {
	if s.parent != nil {
		if in, _ := t.rep.within(*s.parent, n); in {
			return model.Plan{}, fmt.Errorf("%w: %s under %s", ErrCycle, text(n.id), text(s.parent.id))
		}
	}
	if n.stays(s) {
		return model.Plan{}, nil
	}
	if err := t.newer(change, s, n); err != nil {
		return model.Plan{}, err
	}
	p := model.NewPlan(append(t.rep.move(n, s, change), t.uncrowd(s, change)...)...)
	if l, ok := t.rep.(lister); ok {
		p.IfStale = l.unlisted(n, s, change)
	}
	return p, nil
}

// text is an _id in an error.
func text(id bson.RawValue) string { return model.Shell(id) }
