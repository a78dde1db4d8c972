package checks

import (
	"github.com/docmodel/docmodel/denorm/columns"
	"github.com/docmodel/docmodel/denorm/normalized"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	sheetColumns = columns.New(anything, "sheets", columns.Spec{})
	sheetRows    = normalized.New(anything, "orders",
		normalized.Part{Path: "customer", Into: "customers", Key: "id"}, normalized.Part{Path: "items", Into: "items"})
	noteRows = normalized.New(busyHosts, "hostRows", normalized.Part{Path: "labels", Into: "labelRows"})
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
		{Method: "columns.Columns.Store", Reason: "a column for each value", From: func(s string) ([]any, func() any) {
			doc := sheetOf(s)
			return []any{doc}, func() any { return sheetColumns.Store(doc) }
		}},
		{Method: "columns.Columns.Store", Reason: "a refused name", Make: func(s string) any {
			return sheetColumns.Store(bson.D{{Key: "_id", Value: s}, {Key: "a,b", Value: s}})
		}},
		{Method: "columns.Columns.Delete", Reason: "by _id", Make: func(s string) any { return sheetColumns.Delete(s) }},
		{Method: "columns.Columns.Rebuild", Reason: "those that a filter finds", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "at", Value: s}})
			return []any{filter}, func() any { return sheetColumns.Rebuild(filter) }
		}, State: func(s string) any {
			raw, err := bson.Marshal(sheetOf(s))
			if err != nil {
				panic(err)
			}
			return []bson.Raw{raw}
		}},
		{Method: "columns.Columns.Survey", Reason: "names and types", Make: func(string) any { return sheetColumns.Survey() }},
		{
			Method: "columns.Columns.Checks", Reason: "whose document is gone",
			Make: func(string) any { return sheetColumns.Checks()[0] },
		},
		{Method: "columns.Columns.Checks", Reason: "two deleted", From: func(s string) ([]any, func() any) {
			check := sheetColumns.Checks()[0]
			found := findings(check, bson.M{"_id": s}, bson.M{"_id": "b"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "columns.Columns.Indexes", Reason: "all by _id", Make: func(string) any { return sheetColumns.Indexes() }},
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
		{
			Method: "normalized.Normalized.Plan", Reason: "some documents",
			From: filter(func(f bson.D) any { return sheetRows.Plan(f) }),
		},
		{
			Method: "normalized.Normalized.Plan", Reason: "all, of plain values",
			Make: func(string) any { return noteRows.Plan(nil) },
		},
		{
			Method: "normalized.Normalized.Documents", Reason: "some",
			From: filter(func(f bson.D) any { return sheetRows.Documents(f) }),
		},
		{
			Method: "normalized.Normalized.Documents", Reason: "all, of plain values",
			Make: func(string) any { return noteRows.Documents(nil) },
		},
		normalizedCheck("rows of a key", 0), normalizedCheck("rows of a key too many", 1),
		normalizedCheck("rows of a list", 2), normalizedCheck("rows of a list too many", 3), normalizedCheck("main rows", 4),
		normalizedCheck("main rows too many", 5), normalizedCheck("keys of which documents differ", 6),
		{
			Method: "normalized.Normalized.Checks",
			Reason: "a row that is missing, one that differs",
			From: func(s string) ([]any, func() any) {
				check, want := sheetRows.Checks()[2], bson.D{{Key: "_id", Value: s}, {Key: "x", Value: s}}
				found := findings(check, bson.M{"_id": s, "want": want}, bson.M{
					"_id": "b", "want": want, "found": bson.D{{Key: "_id", Value: s}},
				})
				return []any{found}, func() any { return check.Mend(found) }
			},
		},
		{Method: "normalized.Normalized.Checks", Reason: "rows deleted", From: func(s string) ([]any, func() any) {
			check := sheetRows.Checks()[3]
			found := findings(check, bson.M{"_id": s}, bson.M{"_id": "b"})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "normalized.Normalized.Checks", Reason: "of another check is refused", From: func(s string) ([]any, func() any) {
			found := findings(sheetRows.Checks()[2], bson.M{"_id": s})
			return []any{found}, func() any { return sheetRows.Checks()[3].Mend(found) }
		}},
		{
			Method: "normalized.Normalized.Indexes", Reason: "the rows of a list",
			Make: func(string) any { return sheetRows.Indexes() },
		},
	}
}

func normalizedCheck(reason string, i int) Case {
	return Case{
		Method: "normalized.Normalized.Checks", Reason: reason,
		Make: func(string) any { return sheetRows.Checks()[i] },
	}
}
