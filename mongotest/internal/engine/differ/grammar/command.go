package grammar

// This file has the commands of cases: which parts they have, and how many documents make their answer interesting.

import (
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// verbs are the commands, each as often as it stands here.
var verbs = []func(g *gen) cases.Case{
	find, find, find, aggregate, aggregate, aggregate, aggregateExpr, aggregateExpr, aggregateExpr,
	updateOne, updateOne, updateMany, updateMany, upsert, updateUnique, findAndModify, findAndModify,
	deleteMany, insertUnique, distinct, count, findSpecial,
}

// Generate makes the case with a number.
func Generate(seed uint64, number int) cases.Case {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, uint64(number)))}
	return g.command()
}

// command makes a case of one of the verbs.
func (g *gen) command() cases.Case { return pick(g, verbs...)(g) }

// findSpecial finds documents by an index of a kind of its own.
func findSpecial(g *gen) cases.Case {
	return pick(g, findNear, findPlace, findPlace, geoNear, insertPlaces, findText, findText)(g)
}

// read makes a case on the collection "c", with low to high documents.
func (g *gen) read(low, high int, command bson.D, ordered bool) cases.Case {
	return cases.Case{Collection: "c", Docs: g.docs(low, high), Command: command, Ordered: ordered}
}

// find finds documents. Half of the time they are sorted, and only then cut off: without an order, a limit would
// return any documents.
func find(g *gen) cases.Case {
	command := tree.D("find", "c", "filter", g.filter())
	ordered := false
	if g.chance(50) {
		ordered = true
		command = append(command, bson.E{Key: "sort", Value: g.totalSort()})
		// Only a sorted find is cut off, so that it is known which documents are left.
		if g.chance(40) {
			command = append(command, bson.E{Key: "skip", Value: pick(g, int32(0), 1)},
				bson.E{Key: "limit", Value: pick(g, int32(1), 2)})
		}
	}
	if g.chance(50) {
		command = append(command, bson.E{Key: "projection", Value: g.projection()})
	} else if g.chance(8) {
		// The positional projection, of the array element that the filter matched.
		command = append(command, bson.E{Key: "projection", Value: tree.D("c.$", 1, "a", 1)})
	}
	return g.read(1, 6, command, ordered)
}

// projectOps are the operators of find's projections alone.
var projectOps = map[string]func(g *gen) any{
	"$slice": func(g *gen) any {
		return pick[any](g, int32(1), int32(-2), bson.A{int32(1), int32(2)}, bson.A{int32(-2), int32(1)})
	},
	"$elemMatch": func(g *gen) any {
		if g.chance(50) {
			return g.operator(pick(g, "$gt", "$lte", "$in", "$eq", "$exists"), "a", 0)
		}
		return bson.D{g.clause(0)}
	},
}

// projection makes a projection for find: that of $project, now and then with one of find's operators on the array c.
func (g *gen) projection() bson.D {
	out := g.aggProjection()
	if g.chance(25) && tree.Lookup(out, "c") == nil && !conflicts(out, "c") {
		name := pickKey(g, projectOps)
		out = append(out, bson.E{Key: "c", Value: bson.D{{Key: name, Value: projectOps[name](g)}}})
	}
	return out
}

// aggregate runs a pipeline. The collection "o" has documents too, for stages that read it. A pipeline that begins
// with $documents runs on the database.
func aggregate(g *gen) cases.Case {
	pipeline, ordered := g.pipeline()
	c := g.read(0, 5, tree.D("aggregate", "c", "pipeline", pipeline, "cursor", tree.D("batchSize", 1000)), ordered)
	// Such an aggregation isn't one of a collection.
	if name := pipeline[0].(bson.D)[0].Key; name == "$documents" {
		c.Command[0].Value = int32(1)
	}
	c.Other = g.docs(0, 5)
	return c
}

// aggregateExpr computes one operator for each document.
func aggregateExpr(g *gen) cases.Case {
	stage := tree.D("$project", tree.D("r", g.operatorExpr(2)))
	return g.read(1, 3, tree.D("aggregate", "c", "pipeline", bson.A{stage}, "cursor", tree.D("batchSize", 1000)), false)
}

// change is an update in one of its forms, as a statement without its filter.
func (g *gen) change() bson.D {
	switch {
	// A pipeline, a replacement, or operators.
	case g.chance(12):
		return tree.D("u", g.updatePipeline())
	case g.chance(8):
		return tree.D("u", append(bson.D{}, g.fields(3, 1)...))
	}
	u, filters := g.update()
	out := tree.D("u", u)
	if filters != nil {
		out = append(out, bson.E{Key: "arrayFilters", Value: filters})
	}
	return out
}

// statement makes a statement of an update from its filter and its change.
func statement(filter bson.D, change bson.D, more ...bson.E) bson.D {
	return append(append(bson.D{{Key: "q", Value: filter}}, change...), more...)
}

// updateCommand makes an update of one statement.
func updateCommand(collection string, statement bson.D) bson.D {
	return tree.D("update", collection, "updates", bson.A{statement})
}

// updateOne has one document to choose from, for any of those that match may be updated.
func updateOne(g *gen) cases.Case {
	filter := g.filter()
	if g.chance(40) {
		filter = bson.D{} // a better chance that there is something to update
	}
	return g.read(1, 1, updateCommand("c", statement(filter, g.change())), false)
}

// updateMany updates all that match, a third of the time all there are.
func updateMany(g *gen) cases.Case {
	change := g.change()
	filter := g.filter()
	if g.chance(30) {
		filter = bson.D{}
	}
	return g.read(1, 4, updateCommand("c", statement(filter, change, bson.E{Key: "multi", Value: true})), false)
}

// upsert has one document at most. Its filter mostly names an _id, since the _id of a new document would be random
// otherwise.
func upsert(g *gen) cases.Case {
	filter := g.filter()
	// Mostly an _id that no document has, so that the upsert inserts.
	if g.chance(70) {
		filter = append(tree.D("_id", pick(g, 1, 77, 77, 77)), filter...)
	}
	return g.read(0, 1, updateCommand("c", statement(filter, g.change(), bson.E{Key: "upsert", Value: true})), false)
}

// uniqueCollection picks a collection with a unique index.
func (g *gen) uniqueCollection() string { return pick(g, "u_a", "u_ab", "u_deep", "u_spars", "u_part") }

// updateUnique updates one document by its _id, so that the unique index may refuse the change.
func updateUnique(g *gen) cases.Case {
	name := g.uniqueCollection()
	stmt := statement(tree.D("_id", pick(g, 1, 2, 3)), g.change(), bson.E{Key: "upsert", Value: g.chance(30)})
	c := g.read(2, 3, updateCommand(name, stmt), false)
	c.Collection = name
	return c
}

// insertUnique inserts documents that may be equal in what the index holds.
func insertUnique(g *gen) cases.Case {
	name := g.uniqueCollection()
	// The _ids differ, so only the index can refuse a document.
	docs := g.docs(2, 4)
	return cases.Case{Collection: name, Command: tree.D("insert", name, "documents", docs, "ordered", g.chance(60))}
}

// findAndModify sorts by _id at last, which decides the one document that it takes.
func findAndModify(g *gen) cases.Case {
	command := tree.D("findAndModify", "c", "query", g.filter(), "sort", g.totalSort())
	// A findAndModify either removes the document or changes it.
	if g.chance(20) {
		command = append(command, bson.E{Key: "remove", Value: true})
	} else {
		change := g.change()
		// findAndModify calls the change of a statement by another name.
		change[0].Key = "update"
		command = append(command, change...)
		command = append(command, bson.E{Key: "new", Value: g.chance(50)})
		if g.chance(30) {
			command = append(command, bson.E{Key: "upsert", Value: true})
		}
	}
	if g.chance(30) {
		command = append(command, bson.E{Key: "fields", Value: g.aggProjection()})
	}
	return g.read(0, 4, command, false)
}

// deleteMany deletes all that match.
func deleteMany(g *gen) cases.Case {
	return g.read(1, 5, tree.D("delete", "c", "deletes", bson.A{tree.D("q", g.filter(), "limit", 0)}), false)
}

// distinct asks for the values at a path.
func distinct(g *gen) cases.Case {
	return g.read(1, 5, tree.D("distinct", "c", "key", g.path(), "query", g.filter()), false)
}

// count counts what matches.
func count(g *gen) cases.Case {
	return g.read(1, 6, tree.D("count", "c", "query", g.filter()), false)
}
