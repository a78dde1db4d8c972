// This test holds DIFFERENCES.md, the table of the rules.

package rules

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("update", false, "write DIFFERENCES.md")

const table = "../DIFFERENCES.md"

// TestTable holds that DIFFERENCES.md has the rules as they are, each with a page of MongoDB's manual, or the word that
// no page decides.
func TestTable(t *testing.T) {
	want := makeTable(t)
	if *rewrite {
		if err := os.WriteFile(table, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s isn't what the rules say; "+
			"go test ./mongotest/internal/engine/differ/rules -run TestTable -update writes it",
			table)
	}
}

const intro = `# How the server at hand differs from MongoDB's documentation

Written by ` + "`go test ./mongotest/internal/engine/differ/rules -run TestTable -update`" +
	` from the rules of package rules. The server is FerretDB 2.7 over DocumentDB 1.0.
Where it differs, MongoDB's manual decides what the engine does. A rule explains a difference in full, ` +
	`and nothing else; the
differential test counts what each explains, and fails for a difference that none does.
`

func makeTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString(intro)
	for _, part := range []struct {
		title, operators string
		rules            []rule
	}{
		{"Updates", "update", slices.Concat(updateRules, updateOperatorRules)},
		{
			title: "Queries, projections and expressions", operators: "aggregation",
			rules: slices.Concat(findRules, valueRules, expressionRules, numberRules),
		},
		{"Pipelines", "aggregation", slices.Concat(aggregateRules, stageRules)},
		{"Places, texts and positional projections", "query", placeRules},
	} {
		section(&b, part.title)
		for _, r := range part.rules {
			pages := pagesOf(r.reason, part.operators)
			if len(pages) == 0 && !undecided.MatchString(r.reason) {
				t.Errorf("%q names no page of the manual, nor says that none decides", r.name)
			}
			row(&b, r.name, r.reason, pages)
		}
	}
	section(&b, "What random commands don't reach")
	for _, f := range further {
		row(&b, f.server, f.manual, []string{link(f.page)})
	}
	return b.String()
}

func section(b *strings.Builder, title string) {
	fmt.Fprintf(b, "\n## %s\n\n| the server | MongoDB | page |\n| --- | --- | --- |\n", title)
}

func row(b *strings.Builder, server, manual string, pages []string) {
	cell := func(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s) }
	fmt.Fprintf(b, "| %s | %s | %s |\n", cell(server), cell(manual), cmp.Or(strings.Join(pages, ", "), "none"))
}

// undecided are the reasons for which there is no page.
var undecided = regexp.MustCompile(`^MongoDB's manual (doesn't say|names neither)|^See there\.$`)

// quoted is a part of a page: "Behavior".
var quoted = regexp.MustCompile(`"[^"]*"`)

// pagesOf returns links to the pages that a reason names, in parentheses at its end.
func pagesOf(reason, operators string) (links []string) {
	from := strings.Index(reason, " (")
	if from < 0 {
		return nil
	}
	names := quoted.ReplaceAllString(reason[from+2:], "")
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return strings.ContainsRune(",;:", r) }) {
		name = strings.TrimRight(strings.TrimSpace(name), ".")
		if strings.Count(name, ")") > strings.Count(name, "(") {
			name = strings.TrimSuffix(name, ")")
		}
		page, known := manualPages[name]
		switch {
		case known:
		case strings.HasPrefix(name, "$") && !strings.Contains(name, " "):
			page = "reference/operator/" + operators + "/" + name[1:]
		default:
			continue // words of the reason
		}
		links = append(links, link(page))
	}
	return links
}

func link(page string) string {
	parts := strings.Split(strings.TrimSuffix(page, "/"), "/")
	return fmt.Sprintf("[%s](https://www.mongodb.com/docs/manual/%s/)", parts[len(parts)-1],
		strings.TrimSuffix(page, "/"))
}

// manualPages are the pages whose path doesn't follow from the name in the rules.
var manualPages = map[string]string{
	"$ (projection)":               "reference/operator/projection/positional",
	"$ (update)":                   "reference/operator/update/positional",
	"$[]":                          "reference/operator/update/positional-all",
	"$[<identifier>]":              "reference/operator/update/positional-filtered",
	"2dsphere Indexes":             "core/indexes/index-types/geospatial/2dsphere",
	"$geoNear":                     "reference/operator/aggregation/geoNear",
	"$addToSet (aggregation)":      "reference/operator/aggregation/addToSet",
	"$expr":                        "reference/operator/query/expr",
	"$jsonSchema":                  "reference/operator/query/jsonSchema",
	"$regex":                       "reference/operator/query/regex",
	"$unset (aggregation)":         "reference/operator/aggregation/unset",
	"Aggregation Commands":         "reference/command/aggregate",
	"Aggregation Operators":        "reference/operator/aggregation",
	"BSON Types":                   "reference/bson-types",
	"Boolean Expression Operators": "reference/operator/aggregation/and",
	"Bulk Write Operations":        "core/bulk-write-operations",
	"Comparison/Sort Order":        "reference/bson-type-comparison-order",
	"Documents":                    "core/document",
	"Error Codes":                  "reference/error-codes",
	"Field Names with Periods and Dollar Signs": "core/dot-dollar-considerations",
	"Multikey Indexes":                          "core/indexes/index-types/index-multikey",
	"Regular Expressions":                       "reference/operator/query/regex",
	"Unique Indexes":                            "core/index-unique",
	"Updates with Aggregation Pipeline":         "tutorial/update-documents-with-aggregation-pipeline",
	"Update Operators":                          "reference/operator/update",
	"Update Operators Conflict":                 "reference/operator/update",
	"count":                                     "reference/command/count",
	"find":                                      "reference/command/find",
	"findAndModify":                             "reference/command/findAndModify",
	"update":                                    "reference/command/update",
}

// further are differences that were found by hand: the generator makes no such commands, or leaves out what the server
// lacks.
var further = []struct{ server, manual, page string }{
	{"writes in a transaction are applied at once; a commit is an unknown command, an abort does nothing",
		"A transaction's changes are saved together, or not at all.", "core/transactions"},
	{
		server: "there are no change streams",
		manual: "$changeStream is the first stage of an aggregation on a replica set.",
		page:   "changeStreams",
	},
	{"there is no bulkWrite command", "Since 8.0 a bulk goes to several collections.", "reference/command/bulkWrite"},
	{
		server: "create forgets a validator; collMod keeps and enforces it, with an error code of its own",
		manual: "An insert or update that doesn't match is refused with code 121.",
		page:   "core/schema-validation",
	},
	{
		server: "$jsonSchema lacks anyOf, allOf, not, additionalProperties, patternProperties, " +
			"dependencies, minProperties, maxProperties, title and description",
		manual: "All of them are keywords.", page: "reference/operator/query/jsonSchema",
	},
	{"collations are refused", "Strings compare by the rules of a locale.", "reference/collation"},
	{
		server: "a capped collection is made, and not kept to its size",
		manual: "The oldest documents make room for new ones.", page: "core/capped-collections",
	},
	{
		server: "a compound index may have two arrays in a document",
		manual: "At most one indexed field may be an array (code 171).",
		page:   "core/indexes/index-types/index-multikey",
	},
	{"documents may be nested 210 deep", "100 levels are the most.", "reference/limits"},
	{"w: 3 is accepted by one node", "The write isn't acknowledged.", "reference/write-concern"},
	{"an unknown hint on update is ignored", "It is an error.", "reference/command/update"},
	{
		server: "a 2dsphere index can't be compound",
		manual: "It can have other fields before or after the place.",
		page:   "core/indexes/index-types/geospatial/2dsphere",
	},
	{"$where is unknown", "It is an operator.", "reference/operator/query/where"},
	{"$merge takes no let and no pipeline, $out no source", "They do.", "reference/operator/aggregation/merge"},
	{
		server: "an error of a duplicate key lacks keyPattern and keyValue",
		manual: "They name the index and the value.", page: "reference/error-codes",
	},
	{"explain shows PostgreSQL's plan, without keys examined, and of find, aggregate and count alone",
		"winningPlan and executionStats.", "reference/explain-results"},
	{
		server: "an index doesn't serve a sort",
		manual: "Documents come in the order of an index without a sort.",
		page:   "tutorial/sort-results-with-indexes",
	},
	{
		server: "$sample as a first stage takes neighbours", manual: "It selects documents at random.",
		page: "reference/operator/aggregation/sample",
	},
	{
		server: "a findAndModify with upsert that meets a duplicate key answers code 1",
		manual: "It answers 11000.", page: "reference/command/findAndModify",
	},
}
