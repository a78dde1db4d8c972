package checks

import (
	"github.com/docmodel/docmodel/denorm"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	sheetColumns = denorm.NewColumns(anything, "sheets")
	sheetRows    = denorm.NewNormalized(anything, "orders",
		denorm.Part{Path: "customer", Into: "customers", Key: "id"}, denorm.Part{Path: "items", Into: "items"})
	noteRows = denorm.NewNormalized(busyHosts, "hostRows", denorm.Part{Path: "labels", Into: "labelRows"})
)

func init() {
	register(columnsCases()...)
	register(normalizedCases()...)
}

func sheetOf(s string) bson.D {
	return roomy(bson.D{
		{Key: "_id", Value: s}, {Key: "to", Value: roomy(bson.D{{Key: "city", Value: s}, {Key: "a/b", Value: bson.D{}}})},
		{Key: "items", Value: bson.A{s, bson.D{{Key: "sku", Value: s}}}},
	})
}

func columnsCases() []Case {
	return []Case{
		{Method: "denorm.Columns.Store", Reason: "a column for each value", From: func(s string) ([]any, func() any) {
			doc := sheetOf(s)
			return []any{doc}, func() any { return sheetColumns.Store(doc) }
		}},
		{Method: "denorm.Columns.Store", Reason: "a refused name", Make: func(s string) any {
			return sheetColumns.Store(bson.D{{Key: "_id", Value: s}, {Key: "a,b", Value: s}})
		}},
		{Method: "denorm.Columns.Delete", Reason: "by _id", Make: func(s string) any { return sheetColumns.Delete(s) }},
		{Method: "denorm.Columns.Rebuild", Reason: "those that a filter finds", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "at", Value: s}})
			return []any{filter}, func() any { return sheetColumns.Rebuild(filter) }
		}, State: func(s string) any {
			raw, err := bson.Marshal(sheetOf(s))
			if err != nil {
				panic(err)
			}
			return []bson.Raw{raw}
		}},
		{Method: "denorm.Columns.Survey", Reason: "names and types", Make: func(string) any { return sheetColumns.Survey() }},
		{Method: "denorm.Columns.Checks", Reason: "whose document is gone", Make: func(string) any { return sheetColumns.Checks()[0] }},
		{Method: "denorm.Columns.Checks", Reason: "two deleted", From: func(s string) ([]any, func() any) {
			check := sheetColumns.Checks()[0]
			found := findings(check, bson.M{"_id": s}, bson.M{"_id": "b"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "denorm.Columns.Indexes", Reason: "all by _id", Make: func(string) any { return sheetColumns.Indexes() }},
	}
}

func normalizedCases() []Case {
	filter := func(call func(bson.D) any) func(s string) ([]any, func() any) {
		return func(s string) ([]any, func() any) {
			f := roomy(bson.D{{Key: "at", Value: s}})
			return []any{f}, func() any { return call(f) }
		}
	}
	return []Case{
		{Method: "denorm.Normalized.Plan", Reason: "some documents", From: filter(func(f bson.D) any { return sheetRows.Plan(f) })},
		{Method: "denorm.Normalized.Plan", Reason: "all, of plain values", Make: func(string) any { return noteRows.Plan(nil) }},
		{Method: "denorm.Normalized.Documents", Reason: "some", From: filter(func(f bson.D) any { return sheetRows.Documents(f) })},
		{Method: "denorm.Normalized.Documents", Reason: "all, of plain values", Make: func(string) any { return noteRows.Documents(nil) }},
		{Method: "denorm.Normalized.Check", Reason: "a document with a key, and a list", Make: func(string) any { return sheetRows.Check() }},
		{Method: "denorm.Normalized.Prune", Reason: "one of each collection", From: func(s string) ([]any, func() any) {
			found := roomy([]denorm.NormalizedDrift{
				{Into: "items", Fault: denorm.Surplus, ID: rawString(s)}, {Into: "items", Fault: denorm.Missing, ID: rawString(s)}, {Into: "orders", Fault: denorm.Surplus, ID: rawString(s)},
			})
			return []any{found}, func() any { return sheetRows.Prune(found) }
		}},
		{Method: "denorm.Normalized.Prune", Reason: "of another collection is refused", From: func(s string) ([]any, func() any) {
			found := roomy([]denorm.NormalizedDrift{{Into: "anything", Fault: denorm.Surplus, ID: rawString(s)}})
			return []any{found}, func() any { return sheetRows.Prune(found) }
		}},
		{Method: "denorm.Normalized.Conflicts", Reason: "of one key", Make: func(string) any { return sheetRows.Conflicts() }},
		{Method: "denorm.Normalized.Indexes", Reason: "the rows of a list", Make: func(string) any { return sheetRows.Indexes() }},
	}
}
