// Package design finds how to store the data of an application. It takes the operations of
// the application with their rates, and returns the layout of the documents under which
// these operations take the least time.
//
//	w := design.Workload{
//		Name: "blog",
//		Entities: []design.Entity{
//			{Name: "posts", Count: 10_000, Fields: []design.Field{{Name: "body", Text: 4000}}},
//			{Name: "comments", Count: 500_000, Fields: []design.Field{{Name: "text", Text: 200}, {Name: "at"}}},
//		},
//		Relations: []design.Relation{{Child: "comments", Field: "post", Parent: "posts", List: "comments"}},
//		Operations: []design.Operation{
//			{Name: "show a post", Rate: 100, Accesses: []design.Access{
//				{Of: "posts", By: []string{"_id"}},
//				{Of: "comments", By: []string{"post"}, Order: "at", Limit: 10},
//			}},
//			{Name: "comment", Rate: 2, Accesses: []design.Access{{Do: design.Insert, Of: "comments"}}},
//		},
//	}
//	d, err := w.Design()
//	fmt.Println(d) // how to store each relation and why, and what each operation costs
//
// A [Workload] does not say how anything is stored. A [Layout] says it, with one [Storage]
// for each relation:
//
//	storage of a relation             technique          good for
//	Reference                         relate.ParentRef   documents that are used by themselves
//	Reference, Relation.Ordered       relate.ChildRefs   children in an order chosen by hand
//	Reference, Relation.Each > 1      relate.ChildRefs   many-to-many relations
//	Reference with Copy               denorm.Copy        children that are shown or found by fields of their parent
//	Reference with Newest             denorm.Subset      a parent that is shown with its newest children
//	Reference with Totals             denorm.Counter     a parent that is shown with the number of its children, or a sum
//	Embedded                          embed.Embedded     few children that are read with their parent
//	Paged                             denorm.Bucket      many children that are read a page at a time
//	Paged with Newest                 denorm.Bounded     the same, and a parent that is shown with its newest children
//
// To choose the storage of one relation by published rules instead of by price, see
// advise.Choose.
//
// # Tasks
//
//   - Find the best layout: [Workload.Design]
//   - Price a layout of your own: [Workload.Price]
//   - Read the result: [Design.String], [Design.Markdown]
//   - Get it as Go source: [Prices.Declaration]
//   - Run a layout on a database: [Prices.Runner]. Measure it in a test: package designtest
//   - Check a model that already exists: [Lint]
//
// # Prices
//
// The same code prices an operation and runs it. It makes the queries and plans of the
// techniques, and counts their commands by their own Cost methods. It computes the number
// of documents from the counts of the workload. [Costs] turn these numbers into time. Every
// query is served by an index. The price of an insertion or update includes all indexes of
// the layout.
//
// Prices assume:
//   - All parents have about the same number of children. The values of two fields or
//     relations are independent.
//   - A read returns whole documents, but without embedded arrays that the operation did not
//     ask for. Of parents it returns the fields in Access.Fields.
//   - A query for the parents of documents is a command of its own. $lookup is not used.
//   - An operation reads a document by _id only once. It sends its writes at its end, or
//     before it reads the same collection. Updates of one document are one write.
//   - An insertion that holds copies reads their source first, unless the operation has read
//     it already.
//
// # Costs
//
// Nothing is sent, except by a [Runner]. Pricing a layout takes 0.1 ms for two entities
// (BenchmarkPrice), and about 1 ms for the seven of examples/designs.
//
// # Source
//
// The search over candidate schemas by cost follows Mior, Salem, Aboulnaga and Liu, "NoSE:
// Schema Design for NoSQL Applications", ICDE 2016. MongoDB's manual, "Identify Application
// Workload", and seed 002 begin with the frequent and the urgent questions.
package design
