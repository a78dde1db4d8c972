package compose

import (
	"context"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A fixture is a technique over the documents of this package, and what it writes.
type fixture struct {
	name    string // its type, and what tells it from others of the type
	declare func() (model.Technique, []operation)

	// volatile are the paths, "collection.path", of what depends on the order of operations in any case: numbers of
	// changes, tokens of the latest. "collection.*" is all of it.
	volatile []string

	unscoped bool // under a scope it is refused when it runs
}

// An operation is what a program does through a technique. It has a token of its own, if it needs one.
type operation struct {
	name string
	run  func(ctx context.Context, db model.DB) error
	like string // the operation that it is like, if something is in its way when it runs alone

	needsTx bool // its plan is refused outside a transaction

	action model.Action // what Also can join; nil for an operation that isn't one value
}

// as says which operation this one is like when nothing is in its way.
func (o operation) as(name string) operation {
	o.like = name
	return o
}

var fixtures []fixture

func register(list ...fixture) { fixtures = append(fixtures, list...) }

func e(key string, v any) bson.E { return bson.E{Key: key, Value: v} }

// token is the n-th operation's.
func token(n int) bson.ObjectID { return bson.ObjectID{0x38, 0x6d, 0x43, 0x80, 11: byte(n)} }

func set(key string, v any) bson.D { return bson.D{e("$set", bson.D{e(key, v)})} }

// planned is an operation that runs a plan, in a transaction if its steps only make sense together.
func planned(name string, p model.Plan) operation {
	return operation{
		name: name, needsTx: p.Guarantee() == model.Transactional, action: p,
		run: func(ctx context.Context, db model.DB) error { return execute(ctx, db, p) },
	}
}

func execute(ctx context.Context, db model.DB, p model.Plan) error {
	if p.Guarantee() == model.Transactional {
		_, err := p.RunTx(ctx, db)
		return err
	}
	_, err := p.Run(ctx, db)
	return err
}

// written is an operation of single writes, which pass by the techniques.
func written(name string, w ...model.Write) operation {
	steps := make([]model.Step, len(w))
	for i := range w {
		steps[i] = commands.AdoptWrite(w[i])
	}
	return planned(name, model.NewPlan(steps...))
}

func changed(name string, c model.Action) operation {
	return operation{name: name, action: c, run: func(ctx context.Context, db model.DB) error {
		_, err := c.Change().Run(ctx, db)
		return err
	}}
}

// acted is a change of a store, which runs again with the same token.
func acted[D any](name string, c model.ChangeOf[model.Stored[D]], op bson.ObjectID) operation {
	return operation{name: name, action: c, run: func(ctx context.Context, db model.DB) error {
		_, _, err := c.Run(model.WithToken(ctx, op), db)
		return err
	}}
}

// read is an operation that reads a document and then runs what is planned from it.
func read[D, K any](name string, c *model.Collection[D, K], id K, plan func(doc *D) model.Plan) operation {
	change := model.ChangeOf[D]{Read: c.ByID(id).One, Decide: func(doc D) (model.Plan, error) { return plan(&doc), nil }}
	return operation{name: name, action: change, run: func(ctx context.Context, db model.DB) error {
		doc, err := c.ByID(id).One(ctx, db)
		if err != nil {
			return err
		}
		return execute(ctx, db, plan(&doc))
	}}
}

func ptr[T any](v T) *T { return &v }
