package engine

// This file shows plans as nested documents, as explain does
// (https://www.mongodb.com/docs/manual/reference/explain-results/). The outermost stage is the last that runs:
//
//	{stage: "LIMIT", limitAmount: 5, inputStage: {stage: "FETCH", filter: {n: 1}, inputStage: {stage: "IXSCAN", …}}}
//
// Names and order of the fields are as in MongoDB, because tests and mongosh read them.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// report returns the queryPlanner of a plan, and its executionStats after it has run and returned n documents. The
// engine measures no time. Other plans aren't shown, because package plan doesn't try them.
func (x *explained) report(run *plan.Exec, n int64) (planner, stats bson.D) {
	q := x.plan.Query()
	planner = bson.D{
		{Key: "namespace", Value: x.ns.String()},
		{Key: "indexFilterSet", Value: false},
		{Key: "parsedQuery", Value: append(bson.D{}, q.Filter...)},
	}
	if by := q.Matcher.Collation(); by != nil {
		planner = append(planner, bson.E{Key: "collation", Value: by.Document()})
	}
	planner = append(planner, bson.D{
		{Key: "winningPlan", Value: describeStages(x, nil, n)},
		{Key: "rejectedPlans", Value: bson.A{}},
	}...)
	stats = bson.D{
		{Key: "executionSuccess", Value: true},
		{Key: "nReturned", Value: bsonval.Integer(n)},
		{Key: "executionTimeMillis", Value: int32(0)},
		{Key: "totalKeysExamined", Value: int32(run.Keys())},
		{Key: "totalDocsExamined", Value: int32(run.Docs())},
		{Key: "executionStages", Value: describeStages(x, run, n)},
	}
	return planner, stats
}

// describeStages shows a plan as nested stages. With run, which may be nil, they have the numbers of examined keys and
// documents. The stages are built from the inside: the access, SORT, SKIP, LIMIT, and the stage of the command.
func describeStages(x *explained, run *plan.Exec, n int64) bson.D {
	p, q := x.plan, x.plan.Query()
	if !p.Exists() {
		return nestStage(x.stage, bson.D{{Key: "stage", Value: "EOF"}})
	}
	doc := describeAccess(p, run)
	if p.Sorts() {
		sort := bson.D{{Key: "stage", Value: "SORT"}, {Key: "sortPattern", Value: q.Sort}}
		if q.Limit > 0 {
			sort = append(sort, bson.E{Key: "limitAmount", Value: bsonval.Integer(q.Limit + q.Skip)})
		}
		doc = append(sort, bson.E{Key: "inputStage", Value: doc})
	}
	if q.Skip > 0 {
		doc = bson.D{
			{Key: "stage", Value: "SKIP"}, {Key: "skipAmount", Value: bsonval.Integer(q.Skip)},
			{Key: "inputStage", Value: doc},
		}
	}
	// A sort has its limit in itself. A write of one document has no LIMIT stage.
	if q.Limit > 0 && !p.Sorts() && (x.stage != "UPDATE" && x.stage != "DELETE") {
		doc = bson.D{
			{Key: "stage", Value: "LIMIT"}, {Key: "limitAmount", Value: bsonval.Integer(q.Limit)},
			{Key: "inputStage", Value: doc},
		}
	}
	doc = nestStage(x.stage, doc)
	if run != nil { // behind the stage's name
		doc = append(doc[:1:1], append(bson.D{{Key: "nReturned", Value: bsonval.Integer(n)}}, doc[1:]...)...)
	}
	return doc
}

// nestStage returns a stage with another stage as its input. Without a name it returns the input.
func nestStage(stage string, doc bson.D) bson.D {
	if stage == "" {
		return doc
	}
	return bson.D{{Key: "stage", Value: stage}, {Key: "inputStage", Value: doc}}
}

// describeAccess shows how a plan finds documents: a COLLSCAN, or a FETCH over one index scan or an OR of several.
func describeAccess(p *plan.Plan, run *plan.Exec) bson.D {
	filter := append(bson.D{}, p.Query().Filter...)
	scans := p.Scans()
	if len(scans) == 0 {
		direction := "forward"
		if p.Reverse() {
			direction = "backward"
		}
		doc := bson.D{{Key: "stage", Value: "COLLSCAN"}, {Key: "filter", Value: filter},
			{Key: "direction", Value: direction}}
		return addExamined(doc, run)
	}
	// Several scans are the branches of an $or, whose documents are united.
	inputs := make(bson.A, len(scans))
	for i, s := range scans {
		inputs[i] = describeScan(s)
		if run != nil {
			inputs[i] = append(describeScan(s), bson.E{Key: "keysExamined", Value: int32(run.KeysOf(i))})
		}
	}
	// The scan of a clustered collection has the documents, so that no FETCH is needed.
	if len(scans) == 1 && scans[0].Index.Spec.Clustered {
		doc := describeClusteredScan(scans[0])
		return addExamined(slices.Insert(doc, 1, bson.E{Key: "filter", Value: filter}), run)
	}
	input := inputs[0]
	if len(inputs) > 1 {
		input = bson.D{{Key: "stage", Value: "OR"}, {Key: "inputStages", Value: inputs}}
	}
	doc := addExamined(bson.D{{Key: "stage", Value: "FETCH"}, {Key: "filter", Value: filter}}, run)
	return nestNeededStage(p, append(doc, bson.E{Key: "inputStage", Value: input}))
}

// nestNeededStage returns the stage of a $near or a $text above doc, the stages that read its index. doc alone is
// returned for other queries.
func nestNeededStage(p *plan.Plan, doc bson.D) bson.D {
	if near, x := p.NearCondition(); near != nil {
		stage, version := "GEO_NEAR_2D", int32(1)
		if x.Spec.Field(store.Sphere) != nil {
			stage, version = "GEO_NEAR_2DSPHERE", 2
		}
		return bson.D{
			{Key: "stage", Value: stage}, {Key: "keyPattern", Value: x.Spec.Key},
			{Key: "indexName", Value: x.Spec.Name},

			{Key: "indexVersion", Value: version}, {Key: "inputStage", Value: doc},
		}
	}
	if text, x := p.Text(); text != nil {
		return bson.D{
			{Key: "stage", Value: "TEXT_MATCH"}, {Key: "indexPrefix", Value: bson.D{}},
			{Key: "indexName", Value: x.Spec.Name},

			{Key: "parsedTextQuery", Value: text.Describe()}, {Key: "textIndexVersion", Value: int32(3)},
			{Key: "inputStage", Value: doc},
		}
	}
	return doc
}

// addExamined adds the number of documents that the plan has examined.
func addExamined(doc bson.D, run *plan.Exec) bson.D {
	if run != nil {
		doc = append(doc, bson.E{Key: "docsExamined", Value: int32(run.Docs())})
	}
	return doc
}

// describeClusteredScan shows a scan of a clustered collection by ranges of _id. The collection is its own index.
func describeClusteredScan(s *plan.Scan) bson.D {
	doc := bson.D{{Key: "stage", Value: "CLUSTERED_IXSCAN"}, {Key: "direction", Value: describeDirection(s)}}
	lo, hi := s.Ends()
	if lo != nil {
		doc = append(doc, bson.E{Key: "minRecord", Value: lo})
	}
	if hi != nil {
		doc = append(doc, bson.E{Key: "maxRecord", Value: hi})
	}
	return doc
}

// describeDirection returns the direction of a scan.
func describeDirection(s *plan.Scan) string {
	if s.Reverse {
		return "backward"
	}
	return "forward"
}

// describeScan shows the scan of an index, with its bounds: {a: ["[1, 5)"]}.
func describeScan(s *plan.Scan) bson.D {
	spec := s.Index.Spec
	if spec.Clustered {
		return describeClusteredScan(s)
	}
	doc := bson.D{
		{Key: "stage", Value: "IXSCAN"},
		{Key: "keyPattern", Value: s.KeyPattern()},
		{Key: "indexName", Value: spec.Name},
	}
	if spec.Collation != nil {
		doc = append(doc, bson.E{Key: "collation", Value: spec.Collation.Document()})
	}
	return append(doc, bson.D{
		{Key: "isMultiKey", Value: s.Index.IsMultikey()},
		{Key: "isUnique", Value: spec.Unique},
		{Key: "isSparse", Value: spec.Sparse},
		{Key: "isPartial", Value: spec.Partial != nil},
		{Key: "indexVersion", Value: int32(2)},
		{Key: "direction", Value: describeDirection(s)},
		{Key: "indexBounds", Value: s.Bounds()},
	}...)
}
