package advise_test

import (
	"fmt"

	"github.com/docmodel/docmodel/model/advise"
)

// A person has a few addresses; a product lists parts that others are made of too; a host writes logs without end.
var (
	peopleHaveAddresses = advise.Relation{
		Parent:      advise.End{Name: "people", Has: advise.Count{Typical: 2, Max: 12}},
		Child:       advise.End{Name: "addresses", Bytes: 120, Alone: advise.None},
		ReadsPerAdd: 40,
	}
	productsListParts = advise.Relation{
		Parent: advise.End{Name: "products", Has: advise.Count{Typical: 200, Max: 1500}},
		Child: advise.End{
			Name: "parts", Has: advise.Count{Typical: 4, Max: 60}, // a part belongs to several products
			Alone:  0.3,         // "find the part with this number"
			Shows:  advise.None, // nobody asks for the products of a part
			Copied: advise.Copied{Fields: "name", Bytes: 30, ReadsPerChange: 5000},
		},
	}
	hostsWriteLogs = advise.Relation{
		Parent: advise.End{Name: "hosts", Has: advise.Count{Typical: 2e6, Max: 3e7, Unbounded: true}},
		// a host's page shows the last thousand
		Child:       advise.End{Name: "logmsgs", Bytes: 150, Newest: advise.Newest{N: 1000, ReadsPerWrite: 2}},
		ReadsPerAdd: 0.01,
		Now:         advise.Embed, // as it is stored today
	}
)

// Three relations of one application, each described by what is known of it, and a change of the figures that a unit
// test would notice.
func ExampleChoose() {
	for _, r := range []advise.Relation{peopleHaveAddresses, productsListParts, hostsWriteLogs} {
		fmt.Print(advise.Choose(r), "\n")
	}

	// In a unit test: advise.Choose(peopleHaveAddresses).Want(t, advise.Embed). Later somebody wants a list of all
	// addresses in a city, and the test fails.
	r := peopleHaveAddresses
	r.Child.Alone = 0.25
	fmt.Println(advise.Choose(r).Choice == advise.Embed, advise.Choose(r).Choice)
	// Output:
	// people → addresses: embed
	//   embed.Embedded: embed.NewEmbedded[Address](people, "addresses", embed.EmbeddedSpec{Key: "_id", Max: 12})
	//     field people.addresses: an array of addresses, omitempty
	//     index people {addresses._id: 1}
	//     commands: parent with its children 1, add a child 1, change a child 1, remove a child 1
	//   because addresses are read with their people, and nothing compels to part them: 1 command [004 rule 1]
	//   because addresses are not written more often than read: read/write ratio 40 ≥ 1 [000 when to embed, 3]
	//   because a parent has few addresses, and no more than these: at most 12 ≤ 300 [004 rule 3]
	//   because the largest of the people stays small: 12 addresses × 120 B = 1.4 kB, with the parent 1.9 kB (assumed) of 16 MB [004 part 1]
	//   runner-up: parent reference (parentref.ParentRef), if
	//     Child.Alone none → 0.1
	//     Parent.Has.Unbounded false → true
	//     Parent.Has.Max 12 → 301
	//     ReadsPerAdd 40 → below 1
	//     Parent.Shows not given → below 0.1
	//     Child.Bytes 120 → 87,378
	//     Child.ReadsPerChange not given → below 1
	//     Parent.Bytes not given → 16,775,734
	//     Parent.Has.PerDay not given → 0.0789
	//     Parent.Has.PerSecond not given → above 100
	//   runner-up: child references (childrefs.ChildRefs), if
	//     Child.Has.Unbounded false → true
	//   runner-up: two-way references with addresses as the parents (twosided.ManyToMany), if
	//     Child.Has.Max not given → 2
	//   assumed: Parent.Has.PerDay none, Child.Has.Max 1, Child.Has.Typical 1, Parent.Bytes 512, Parent.IDBytes 12, Child.IDBytes 12, Parent.Alone 1, Parent.Shows 1, Parent.ReadsPerChange 100, Child.Shows none, Child.ReadsPerChange 100
	//
	// products → parts: child references, copies in the parent
	//   childrefs.ChildRefs: childrefs.New(products, "parts._id", parts)
	//     field products.parts: an array of documents with the _id of one of the parts, omitempty
	//     index products {parts._id: 1}
	//     commands: parent with its children 2, child with its parent 2, insert and list a child 2, list a child 1, reorder 1
	//   copies.Copy: copies.New(parts, products, copies.Spec{KeyPath: "parts._id", Fields: []copies.Field{{From: "name"}}})
	//     field products.parts: name beside the _id in each element
	//     index products {parts._id: 1}
	//     commands: parent with its children 1, change a copied field 3
	//   because too many parts to embed: 1,500 > 300 [004 rule 3]
	//   because one of the parts can belong to several: embedded, it would be in each of them, and change in each: up to 60 products [000 when to refer, 2]
	//   because some parts are looked up on their own: 30 % of reads ≥ 10 % [004 rule 2]
	//   because a join by id and index costs little more than one on the server would: 1 command more [004 rule 4]
	//   because a list of ids in each of the products stays bounded, and shows them in order: 1,500 × 12 B = 25.3 kB; 1,500 ≤ 3,000 [000 where to refer]
	//   because a copy of name in products saves their reads a command: reads/change 5,000 ≥ 10, copies of one 4 [004 rule 5]
	//   although copies of name are old for a moment after a change: 2 writes, not atomic [004 part 2]
	//   runner-up: two-way references, copies in the children with parts as the parents (twosided.ManyToMany, copies.Copy), if
	//     Child.Shows none → 0.1
	//   runner-up: child references with parts as the parents (childrefs.ChildRefs), if
	//     Parent.Has.Max 1,500 → 3,001
	//     Parent.Has.Unbounded false → true
	//     Parent.Ordered false → true
	//     Parent.Shows not given → below 0.1
	//     Parent.Has.PerDay not given → 0.411
	//     Parent.Has.PerSecond not given → above 100
	//   runner-up: child references (childrefs.ChildRefs), if
	//     Child.Copied.Strong false → true
	//     Child.Copied.Bytes 30 → 673
	//     Child.IDBytes not given → 655
	//     Child.Copied.ReadsPerChange 5,000 → below 10
	//     Parent.Bytes not given → 16,692,822
	//   assumed: Parent.Has.PerDay none, Child.Has.PerDay none, Parent.Bytes 512, Parent.IDBytes 12, Child.Bytes 512, Child.IDBytes 12, ReadsPerAdd 10, Parent.Alone 1, Parent.Shows 1, Parent.ReadsPerChange 100, Child.ReadsPerChange 100
	//
	// hosts → logmsgs: parent reference, the newest in the parent
	//   parentref.ParentRef: parentref.New(logmsgs, "host", hosts, parentref.Spec{})
	//     field logmsgs.host: the _id of one of the hosts
	//     index logmsgs {host: 1, _id: -1}
	//     commands: parent with its children 2, child with its parent 2, add a child 1, change a child 1, remove a child 1
	//   subset.Subset: subset.New(logmsgs, "host", hosts, "newest", subset.Spec{Max: 1000, By: bson.D{{"_id", -1}}})
	//     field hosts.newest: an array of logmsgs, omitempty
	//     index logmsgs {host: 1, _id: -1}
	//     commands: parent with the newest 1, add a child 2
	//   from today's embed: migrate.NewExtract(hosts, "logmsgs", logmsgs, migrate.ExtractSpec{…})
	//   because nothing ends the number of logmsgs, and an array should not grow without bound: unbounded [004 rule 3]
	//   because logmsgs are added more often than they are read with their hosts: read/write ratio 0.01 < 1 [002 §3]
	//   because a join by id and index costs little more than one on the server would: 1 command more [004 rule 4]
	//   because each of the logmsgs belongs to one of the hosts, and holds its id: 1 write to add, 1 index [manual one-to-many with references]
	//   because the newest 1,000 are in their parent too, and shown with it by 1 command: read/write ratio 2 ≥ 1 [004 part 2]
	//   runner-up: parent reference (parentref.ParentRef), if
	//     Child.Newest.ReadsPerWrite 2 → below 1
	//     Child.Newest.N 1,000 → 3,001
	//     Child.Bytes 150 → 1,044
	//     Parent.Bytes not given → 16,622,322
	//     Parent.Has.PerSecond not given → above 100
	//   runner-up: a document for each link (joincollection.JoinCollection), if
	//     Child.Has.Unbounded false → true
	//   runner-up: child references with logmsgs as the parents (childrefs.ChildRefs), if
	//     Child.Has.Max not given → 2
	//   assumed: Child.Has.Max 1, Child.Has.Typical 1, Parent.Bytes 512, Parent.IDBytes 12, Child.IDBytes 12, Child.Newest.Bytes 150, Parent.Alone 1, Parent.Shows 1, Parent.ReadsPerChange 100, Child.Alone none, Child.Shows none, Child.ReadsPerChange 100
	//
	// false parent reference
}
