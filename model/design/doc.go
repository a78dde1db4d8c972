// Package design finds the fastest layout of documents for an application's operations.
//
//	w := design.Workload{
//		Name: "blog",
//		Entities: []design.Entity{
//			{Name: "posts", Count: 10_000},
//			{Name: "comments", Count: 500_000, Fields: []design.Field{{Name: "at"}}},
//		},
//		Relations: []design.Relation{
//			{Child: "comments", Field: "post", Parent: "posts", List: "comments"},
//		},
//		Operations: []design.Operation{
//			{Name: "show a post", Rate: 100, Accesses: []design.Access{
//				{Of: "posts", By: []string{"_id"}},
//				{Of: "comments", By: []string{"post"}, Order: "at", Limit: 10},
//			}},
//			{Name: "comment", Rate: 2, Accesses: []design.Access{
//				{Do: design.Insert, Of: "comments"},
//			}},
//		},
//	}
//	d, err := w.Design()
//	fmt.Println(d) // the storage of each relation, and costs
//
// A [Layout] has a [Storage] for each relation:
//
//	Reference                     parentref.ParentRef  documents used on their own
//	Reference, Relation.Ordered   childrefs.ChildRefs  children ordered by hand
//	Reference, Relation.Each > 1  childrefs.ChildRefs  many-to-many relations
//	Reference with Copy           copies.Copy       children shown with parent's fields
//	Reference with Newest         subset.Subset     a parent with its newest children
//	Reference with Totals         counter.Counter    a parent with a count or sum
//	Embedded                      embed.Embedded    few children, read with their parent
//	Paged                         bucket.Bucket     many children, read in pages
//	Paged with Newest             bounded.Bounded    pages, and the newest in the parent
//
// To choose by published rules, see advise.Choose.
//
// # Tasks
//
//   - Find the best layout: [Workload.Design]
//   - Price your own layout: [Workload.Price]
//   - Show the result: [Design.String], [Design.Markdown]
//   - Write Go source: [Prices.Declaration]
//   - Run operations on a database: [Prices.Runner]
//   - Run operations in a test: package designtest
//   - Check an existing model: [Lint]
//
// # Prices
//
// A price is the time of an operation, computed from [Costs]. Assumptions:
//
//   - Each query has an index.
//   - Each parent has about the same number of children.
//   - Fields and relations don't correlate.
//   - A read omits embedded arrays that the operation doesn't need.
//   - Parents are read by another command, not by $lookup.
//
// # Source
//
// Mior, Salem, Aboulnaga and Liu, "NoSE: Schema Design for NoSQL Applications", ICDE
// 2016; MongoDB's manual, "Identify Application Workload"; "NoSQL Data Modeling
// Techniques".
package design
