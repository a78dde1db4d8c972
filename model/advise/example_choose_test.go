package advise_test

import (
	"fmt"

	"github.com/docmodel/docmodel/model/advise"
)

// A person has a few addresses; a product lists parts that others are made of too; a host writes logs without end.
var (
	peopleHaveAddresses = advise.Relation{
		Parent: "people", Child: "addresses",
		Children: advise.Count{Typical: 2, Max: 12}, ChildBytes: 120,
		Standalone: advise.None, ReadsPerWrite: 40,
	}
	productsListParts = advise.Relation{
		Parent: "products", Child: "parts",
		Children: advise.Count{Typical: 200, Max: 1500}, Parents: advise.Count{Typical: 4, Max: 60},
		Standalone: 0.3, // "find the part with this number"
		IntoParent: advise.Copied{Fields: "name", Bytes: 30, ReadsPerChange: 5000},
	}
	hostsWriteLogs = advise.Relation{
		Parent: "hosts", Child: "logmsgs",
		Children: advise.Count{Typical: 2e6, Max: 3e7, Unbounded: true}, ChildBytes: 150,
		ReadsPerWrite: 0.01,
		Newest:        advise.Newest{N: 1000, ReadsPerWrite: 2}, // the page of a host shows the last thousand
	}
)

// Three relations of one application, each described by what is known of it; and a change of the figures that a unit test would
// notice.
func ExampleChoose() {
	for _, r := range []advise.Relation{peopleHaveAddresses, productsListParts, hostsWriteLogs} {
		fmt.Print(advise.Choose(r), "\n")
	}

	// In a unit test: advise.Choose(peopleHaveAddresses).Want(t, advise.Embed). Later somebody wants a list of all addresses in a
	// city, and the test fails.
	r := peopleHaveAddresses
	r.Standalone = 0.25
	fmt.Println(advise.Choose(r).Choice == advise.Embed, advise.Choose(r).Choice)
	// Output:
	// people → addresses: embed (embed.Embedded)
	//   because addresses are read with their people, and nothing compels to part them: 1 command [004 rule 1]
	//   because they are not written more often than read: read/write ratio 40 ≥ 1 [000 when to embed, 3]
	//   because a parent has few addresses, and no more than these: at most 12 ≤ 300 [004 rule 3]
	//   because the largest of the people fits a document: 12 addresses × 120 B = 1.4 kB, with the parent 2.4 kB of 16 MB [004 part 1]
	//   runner-up: child references (relate.ChildRefs), if
	//     Standalone none → 0.1
	//     Children.Max 12 → 301
	//     ReadsPerWrite 40 → 0.5
	//     Together not given → 0.05
	//     Parents.Max not given → 2
	//     ChildBytes 120 → 1,398,013
	//     Parents.Unbounded false → true
	//   assumed: Children.PerDay none, Parents.Max 1, Parents.Typical 1, ParentBytes 1,024, IDBytes 12, Together 1, ToParent none
	//
	// products → parts: child references, copies in the parent (relate.ChildRefs, denorm.Copy)
	//   because too many parts to embed: 1,500 > 300 [004 rule 3]
	//   because one of the parts can belong to several: embedded, it would be in each of them, and change in each: up to 60 products [000 when to refer, 2]
	//   because some parts are looked up on their own: 30 % of reads ≥ 10 % [004 rule 2]
	//   because a join by id and index costs little more than one on the server would: 1 command more [004 rule 4]
	//   because a list of ids in each of the products stays bounded, and shows them in order: 1,500 ≤ 3,000; 1,500 parts × 12 B = 17.6 kB, with the parent 26.3 kB of 16 MB [000 where to refer]
	//   because a copy of name in products saves their reads a command: reads/change 5,000 ≥ 10, copies of one 4 [004 rule 5]
	//   although copies of name are old for a moment after a change: 2 writes, not atomic [004 part 2]
	//   runner-up: two-way references, copies in the parent (relate.ManyToMany, denorm.Copy), if
	//     ToParent not given → 0.1
	//   assumed: Children.PerDay none, Parents.PerDay none, ParentBytes 1,024, ChildBytes 256, IDBytes 12, Together 1, ToParent none, ReadsPerWrite 10
	//
	// hosts → logmsgs: parent reference, the newest in the parent (relate.ParentRef, denorm.Subset)
	//   because nothing ends the number of logmsgs, and an array should not grow without bound: unbounded [004 rule 3]
	//   because logmsgs are written more often than they are read with their hosts: read/write ratio 0.01 < 1 [002 §3]
	//   because a join by id and index costs little more than one on the server would: 1 command more [004 rule 4]
	//   because ids of logmsgs would outgrow one of the hosts, so one of the logmsgs holds the id: unbounded [000 where to refer]
	//   because the newest 1,000 are in their parent too, and shown with it by 1 command: read/write ratio 2 ≥ 1 [004 part 2]
	//   runner-up: parent reference (relate.ParentRef), if
	//     Newest.N 1,000 → 3,001
	//     Newest.ReadsPerWrite 2 → 0.5
	//     Parents.Max not given → 2
	//   assumed: Parents.Max 1, Parents.Typical 1, ParentBytes 1,024, IDBytes 12, Together 1, Standalone none, ToParent none
	//
	// false child references
}
