// Package design finds how to store the data of an application by what the application asks for. It takes a table of operations, with
// their rates, and returns the layout of the documents under which these operations take the least time.
//
// # A workload
//
//	w := design.Workload{
//		Name: "blog",
//		Entities: []design.Entity{
//			{Name: "posts", Count: 10_000, Fields: []design.Field{{Name: "title", Text: 60}, {Name: "body", Text: 4000}}},
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
//	fmt.Println(d) // the layout, each operation's price, why, and what would change it
//
// A [Workload] says nothing about documents. A [Layout] says how each [Relation] is stored:
//
//	the storage of a relation              the type                it is good for
//	Reference                              relate.ParentRef        whatever is read and written by itself
//	Reference of an Ordered relation       relate.ChildRefs        an order that is made by hand
//	Reference with Copy                    denorm.Copy             fields of a parent that are shown, or found by, with the child
//	Reference with Newest                  denorm.Subset           the first few children, shown with the parent
//	Reference with Count                   denorm.Counter          how many children there are, shown with the parent
//	Embedded                               embed.Embedded          few children that are read with their parent
//
// # Tasks
//
//   - The best layout, the next ones, why, and what would flip it: [Workload.Design]
//   - The price of a layout of your own: [Workload.Price]; of references only: the zero [Layout]
//   - Read it: [Design.String], [Design.Markdown]; paste it: [Prices.Declaration], Go with the types and techniques of this library
//   - Store made-up data under a layout and carry out the operations: [Prices.Runner]; measured, in a test: package designtest
//   - What is known to go wrong in a model that is declared: [Lint]
//   - Fewer documents for a trial: [Workload.Scaled]
//
// For one relation, by rules with their sources instead of prices, ask advise.Choose.
//
// # Prices
//
// A price comes from the commands that the techniques make: the same code that carries out an operation prices it. Commands are
// counted as the techniques price them. How many documents each finds is computed from the counts of the workload. What that
// takes in time is the server's [Costs]: set them if your server is another than [DefaultCosts] is for. Every read is served by an
// index that the layout declares, and what is paid for that index at each write is in the price.
//
// What is assumed:
//   - Children belong to parents evenly. What one field or relation says tells nothing of another.
//   - A read returns the fields of its documents, without the lists of embedded documents that nobody asked for. Of the parents of
//     what was found it returns the fields that are shown. The server reads documents whole.
//   - An operation reads a document by _id once. Its writes are sent together at its end, or before a read of their collection;
//     writes of one document are one write.
//   - Without [Server].Transactions each write is an atomic one of one document, or what the technique does to be mendable.
//   - A child has one parent in each relation. Many-to-many relations are an entity of their own: the links, with a relation to each
//     end.
//
// # Costs
//
// Nothing is sent but by a [Runner]. A layout takes about a millisecond to price; [SearchLimit] bounds how many are.
//
// # Source
//
// A search over candidate schemas by the price of a workload: Mior, Salem, Aboulnaga, Liu, "NoSE: Schema Design for NoSQL
// Applications", ICDE 2016. Begin with the operations, the frequent and the urgent ones first: MongoDB's manual, "Identify Application
// Workload"; "what questions do I have?" (seed 002).
package design
