package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Insert stores a new child and counts it.
func (c *Counter) Insert(w model.Write, op bson.ObjectID) model.Change[any] {
	doc, t, err := c.inserted(w, op)
	if err != nil {
		return commands.RefusedChange[any](c.docs.Name(), err)
	}
	id := doc.Lookup("_id")
	return c.change(func(ctx context.Context, db model.DB) (s state, err error) {
		if err = c.readParents(ctx, db, &s, []transition{t}); err != nil {
			return s, err
		}
		if s.Done = c.remembers(s, op); s.Done {
			return s, nil
		}
		return s, cmp.Or(c.readBegun(ctx, db, &s, id, op), c.missing(s, t))
	}, func(s state) (model.Plan, error) {
		switch {
		case s.Done:
			p := c.plan(s, c.finish(id, t)) // which takes a mark off, if it is still there
			p.Applied = s.Tx
			return p, nil
		case s.Child != nil:
			return c.plan(s, c.apply(t, s), c.finish(id, t)), nil
		}
		p := c.plan(s, c.insertion(w, doc, t, s), c.apply(t, s), c.unmark(id, t, s))
		if c.tokens != "" && len(t.parents()) > 0 && !s.Tx { // a parent was deleted since it was read
			p.IfStale = []model.Step{c.withdraw(id, op)}
		}
		return p, nil
	})
}

// readBegun reads a child that an operation without a transaction inserted and didn't count, if the operation runs again
// in a transaction that couldn't insert it.
func (c *Counter) readBegun(ctx context.Context, db model.DB, s *state, id bson.RawValue, op bson.ObjectID) error {
	if tx := runctx.TxOf(ctx); tx == nil || c.tokens == "" || len(s.Parents) == 0 {
		return nil
	}
	begun := bson.D{{Key: "_id", Value: mql.Eq(id)}, {Key: c.pending + ".op", Value: op}}
	child, err := commands.ReadOne(ctx, db, c.docs.Name(), begun, commands.Fields("_id"))
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	s.Child = child
	return err
}

// withdraw deletes a child that was inserted and can't be counted.
func (c *Counter) withdraw(id bson.RawValue, op bson.ObjectID) model.Write {
	return model.Write{Collection: c.docs.Name(), Index: model.IDIndex, Final: true, Model: &mongo.DeleteOneModel{
		Filter: bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(id))}, {Key: c.pending + ".op", Value: op}},
	}}
}

// missing returns the error for a parent that an operation newly names, if the parent was read and doesn't exist.
func (c *Counter) missing(s state, t transition) error {
	for _, p := range s.Parents {
		if p.Doc == nil && t.names(p.ID) {
			return c.noParent(p.ID)
		}
	}
	return nil
}

// names reports whether the operation lets the child name the parent, which it didn't name before.
func (t transition) names(parent bson.RawValue) bool {
	return t.comes.Type != 0 && bsonval.EqualRaw(t.comes, parent)
}

func (c *Counter) noParent(id bson.RawValue) error {
	return fmt.Errorf("%w (%s.%s names the parent %s, which isn't in %s)", model.ErrNotFound, c.docs.Name(), c.reference, model.Shell(id), c.parents.Name())
}

// inserted checks a new child, and returns it without its mark, and what it will count for.
func (c *Counter) inserted(w model.Write, op bson.ObjectID) (doc bson.Raw, t transition, err error) {
	if w.Err != nil {
		return nil, t, w.Err
	}
	if err := c.checkToken(op); err != nil {
		return nil, t, err
	}
	doc = w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	if c.pending != "" && doc.Lookup(c.pending).Type != 0 {
		return nil, t, c.docs.Refuse(c.pending, nil, "must be empty in a new child: operations write it")
	}
	t.op, t.inserted = op, true
	if t.now, err = c.ofDocument(doc); err == nil {
		err = c.name(&t, doc, nil)
	}
	return doc, t, err
}

// insertion is the insert of a child with its mark. A stored child with this mark, or an equal child, says that it was done before.
func (c *Counter) insertion(w model.Write, doc bson.Raw, t transition, s state) []model.Step {
	id := bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}}
	w.Reasons = []model.Reason{{If: id, Err: commands.Taken(c.docs.Name(), doc.Lookup("_id"), false)}}
	if c.tokens == "" || len(t.parents()) == 0 {
		return []model.Step{w}
	}
	if s.Tx {
		return []model.Step{w}
	}
	marked, err := c.docs.AppendElement(slices.Clone(doc[:len(doc)-1]), c.pending, c.entry(t))
	if err != nil {
		return []model.Step{model.Refused(c.docs.Name(), c.docs.Refuse("document", nil, err.Error()))}
	}
	w.Model = &mongo.InsertOneModel{Document: bson.Raw(core.EndDocument(marked, 0))}
	w.Done, w.Token = append(id, bson.E{Key: c.pending + ".op", Value: t.op}), t.op
	return []model.Step{w}
}
