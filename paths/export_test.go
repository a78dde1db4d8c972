package paths

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Report is what the check of a tree found, before it becomes findings.
type (
	Report      = report
	ProblemKind = problemKind
)

const (
	Orphan     = orphan
	Cycle      = cycle
	BadOrder   = badOrder
	WrongField = wrongField
	BadChange  = badChange
	BadSegment = badSegment
)

// Inspect is the report of [Tree.Checks], with the plan that mends.
func (t *Tree[D, K]) Inspect(ctx context.Context, db *mongo.Database) (Report, error) {
	return t.t.checked(ctx, db, t.lease)
}

// Judge is Inspect without asking the server for suspects before.
func (t *Tree[D, K]) Judge(ctx context.Context, db *mongo.Database) (Report, error) {
	all, err := t.t.nodes(ctx, db, source{pipeline: mongo.Pipeline{t.t.onlyTreeFields()}})
	return t.t.judge(all, 0), err
}

// Repair is the change that mends what [Tree.Checks] find.
func (t *Tree[D, K]) Repair() model.Change[State] { return t.t.repair(t.lease) }

// Lists is the report of [ChildTree.CheckLists], with the plan that [ChildTree.Adopt] would run.
func (p *ChildTree[D, K]) Lists(ctx context.Context, db *mongo.Database) (Report, error) {
	report, _, err := p.t.rep.(*childTree).survey(ctx, db, 0)
	return report, err
}

// Suspects are the queries that a check begins with.
func (p planner[D, K]) Suspects() []model.Aggregate[bson.Raw] {
	var out []model.Aggregate[bson.Raw]
	for _, s := range p.t.suspects() {
		out = append(out, p.t.aggregate(s))
	}
	return out
}

// CheckKey says why a string is no order key.
var CheckKey, KeyPattern = checkKey, keyPattern
