package modeltest

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// examined is the number of keys and documents that a plan reads.
type examined struct{ keys, docs int64 }

// compare runs the server's plan and the plan with the index, and returns "" if the first
// examines no more. If they can't be compared, it returns the given problem: the index
// doesn't serve the command, or the server doesn't count.
func compare(ctx context.Context, db *mongo.Database, command bson.D, fields []string, index, problem string) string {
	chosen, err := execute(ctx, db, command)
	if err != nil {
		return problem
	}
	hinted, err := execute(ctx, db, hint(command, index))
	if err != nil {
		return problem
	}
	got, counted := examinedBy(chosen)
	want, both := examinedBy(hinted)
	was, promised := readPlan(chosen, fields), readPlan(hinted, fields)
	switch {
	case !counted || !both || promised.problem(index) != "":
		return problem
	case was.sorts && !promised.sorts:
		return problem + ", which needs no sort"
	case got.keys > want.keys || got.docs > want.docs:
		return fmt.Sprintf("served by %s, which examines %d keys and %d documents, want %s, which examines %d and %d",
			was.names(), got.keys, got.docs, index, want.keys, want.docs)
	}
	return ""
}

func execute(ctx context.Context, db *mongo.Database, command bson.D) (bson.Raw, error) {
	return db.RunCommand(ctx, bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "executionStats"}}).Raw()
}

func hint(command bson.D, index string) bson.D {
	use := bson.E{Key: "hint", Value: index}
	out := slices.DeleteFunc(slices.Clone(command), func(e bson.E) bool { return e.Key == "hint" })
	for i, e := range out {
		if e.Key != "updates" && e.Key != "deletes" {
			continue
		}
		list, _ := e.Value.(bson.A)
		statements := slices.Clone(list)
		for j, s := range statements {
			if d, ok := s.(bson.D); ok {
				statements[j] = append(slices.DeleteFunc(slices.Clone(d), func(e bson.E) bool { return e.Key == "hint" }), use)
			}
		}
		out[i].Value = statements
		return out
	}
	return append(out, use)
}

// examinedBy sums the numbers of a plan's parts: a pipeline's cursor, lookups, shards. It
// returns false if an explain has no numbers.
func examinedBy(v bson.Raw) (sum examined, found bool) {
	elements, _ := v.Elements()
	for _, e := range elements {
		n, isNumber := e.Value().AsInt64OK()
		switch key := e.Key(); {
		case key == "executionStages", key == "allPlansExecution", key == "command", key == "queryPlanner":
		case key == "totalKeysExamined" && isNumber:
			sum.keys, found = sum.keys+n, true
		case key == "totalDocsExamined" && isNumber:
			sum.docs, found = sum.docs+n, true
		default:
			each(e.Value(), func(d bson.Raw) {
				more, ok := examinedBy(d)
				sum.keys, sum.docs, found = sum.keys+more.keys, sum.docs+more.docs, found || ok
			})
		}
	}
	return sum, found
}
