package advise_test

import (
	"math"
	"math/rand/v2"

	"github.com/docmodel/docmodel/model/advise"
)

// scenario is one of the seeds' own, with the answer that they publish.
type scenario struct {
	name      string
	published string // seed and place, and what it says there
	relation  advise.Relation
	want      advise.Choice
	types     string
}

var never = math.Inf(1)

// products and parts, as the texts describe them.
var productParts = advise.Relation{
	Parent: "products", Child: "parts", Children: advise.Count{Typical: 300, Max: 2500}, Parents: advise.Count{Typical: 4, Max: 200},
	Standalone: 0.5,
}

func withCopy(r advise.Relation, c advise.Copied) advise.Relation {
	r.IntoParent = c
	return r
}

// hosts and log messages.
var hostLogs = advise.Relation{
	Parent: "hosts", Child: "logmsgs", Children: advise.Count{Typical: 5e6, Max: 1e8, Unbounded: true}, ChildBytes: 120, Standalone: 0.3,
	ToParent: 0.2, ReadsPerWrite: 0.01,
}

func withNewest(r advise.Relation, n advise.Newest) advise.Relation {
	r.Newest = n
	return r
}

// posts and comments.
var postComments = advise.Relation{
	Parent: "posts", Child: "comments", Children: advise.Count{Typical: 40, Unbounded: true}, ChildBytes: 200, ReadsPerWrite: 50,
}

var scenarios = []scenario{
	{"person and addresses", "004 part 1: one-to-few, put them in an array inside of the person",
		advise.Relation{Parent: "people", Child: "addresses", Children: advise.Count{Typical: 2, Max: 12}, ChildBytes: 120},
		advise.Embed, "embed.Embedded"},
	{"person and contact details", "000, 003: the person's contact details and addresses are embedded in a single document",
		advise.Relation{Parent: "people", Child: "contactDetails", Children: advise.Count{Typical: 2}, Standalone: advise.None},
		advise.Embed, "embed.Embedded"},
	{"product and its attributes", "002 §2: an aggregate holds all kinds of products with their different attributes",
		advise.Relation{Parent: "products", Child: "attributes", Children: advise.Count{Typical: 8, Max: 60}, ChildBytes: 50},
		advise.Embed, "embed.Embedded"},
	{"record and tracks", "002 §2: nested entities minimize one-to-many relations, like the tracks of a record",
		advise.Relation{Parent: "records", Child: "tracks", Children: advise.Count{Typical: 12, Max: 99}, ReadsPerWrite: 1000},
		advise.Embed, "embed.Embedded"},
	{"entity in one update", "002 §4: one aggregate as one document is updated atomically",
		advise.Relation{Parent: "carts", Child: "lines", Children: advise.Count{Typical: 4, Max: 50}, Atomic: true, ReadsPerWrite: 0.5},
		advise.Embed, "embed.Embedded"},
	{"order and items", "003: the container CustomersOrdersAndItems holds items in their order, for transactions",
		advise.Relation{Parent: "orders", Child: "items", Children: advise.Count{Typical: 3, Max: 100}, Atomic: true, Standalone: 0.05},
		advise.Embed, "embed.Embedded"},
	{"customer and orders", "003: Customers, Orders and Items are containers of their own, for readers of each",
		advise.Relation{Parent: "customers", Child: "orders", Children: advise.Count{Typical: 20, Max: 900, PerDay: 1.5}, Standalone: 0.6, ToParent: 0.5},
		advise.ParentRef, "relate.ParentRef"},
	{"tasks due tomorrow", "004 part 1: embedded, the query for all tasks due tomorrow is hard; stand-alone objects are referred to by an array",
		advise.Relation{Parent: "people", Child: "tasks", Children: advise.Count{Typical: 20, Max: 200}, Standalone: 0.4},
		advise.ChildRefs, "relate.ChildRefs"},
	{"people and tasks, both ways", "004 part 2: tasks refer back, to find fast who is responsible",
		advise.Relation{Parent: "people", Child: "tasks", Children: advise.Count{Typical: 20, Max: 200}, Standalone: 0.4, ToParent: 0.4},
		advise.TwoWay, "relate.TwoWay"},
	{"people and tasks, in one update", "004 part 2: with two-way references a task can't be reassigned by an atomic update",
		advise.Relation{Parent: "people", Child: "tasks", Children: advise.Count{Typical: 20, Max: 200}, Standalone: 0.4, ToParent: 0.4,
			Atomic: true, Parents: advise.Count{Max: 2}},
		advise.ParentRef, "relate.ChildRefs"},
	{"product and parts", "004 part 1: several hundred parts, never more than a few thousand: an array of ObjectIDs",
		productParts, advise.ChildRefs, "relate.ChildRefs"},
	{"part names in products", "004 part 2: the name changes seldom: denormalize it into parts[]",
		withCopy(productParts, advise.Copied{Fields: "name", ReadsPerChange: 5000}),
		advise.ChildRefs | advise.CopyIntoParent, "relate.ChildRefs denorm.Copy"},
	{"part quantities in products", "004 part 2: the quantity on hand changes often: it makes no sense to denormalize it",
		withCopy(productParts, advise.Copied{Fields: "qty", ReadsPerChange: 2}), advise.ChildRefs, "relate.ChildRefs"},
	{"part names that must be right", "004 part 3: only fields that don't need strong consistency",
		withCopy(productParts, advise.Copied{Fields: "name", ReadsPerChange: 5000, Strong: true}), advise.ChildRefs, "relate.ChildRefs"},
	{"product name in parts", "004 part 2: denormalize from one to many: product_name in each part",
		advise.Relation{Parent: "products", Child: "parts", Children: advise.Count{Typical: 300, Max: 2500}, Standalone: 0.5,
			IntoChild: advise.Copied{Fields: "product_name, product_catalog_number", ReadsPerChange: 100000}},
		advise.TwoWay | advise.CopyIntoChild, "relate.TwoWay denorm.Copy"},
	{"product name in parts, renamed often", "004 part 2: the update is of many parts; the read-to-write ratio matters more",
		advise.Relation{Parent: "products", Child: "parts", Children: advise.Count{Typical: 300, Max: 2500}, Standalone: 0.5,
			IntoChild: advise.Copied{Fields: "product_name", ReadsPerChange: 100}},
		advise.TwoWay, "relate.TwoWay"},
	{"hosts and log messages", "004 part 1: 16 MB would overflow even with ObjectIDs: the host's id in the message",
		hostLogs, advise.ParentRef, "relate.ParentRef"},
	{"host's address in messages", "004 part 2: the ip address in each message saves the query for the host",
		func() advise.Relation {
			r := hostLogs
			r.IntoChild = advise.Copied{Fields: "ipaddr", ReadsPerChange: never}
			return r
		}(), advise.ParentRef | advise.CopyIntoChild, "relate.ParentRef denorm.Copy"},
	{"no hosts at all", "004 part 2: with little information about the one side, get rid of its collection",
		func() advise.Relation {
			r := hostLogs
			r.IntoChild = advise.Copied{Fields: "ipaddr, hostname", ReadsPerChange: never, Whole: true}
			return r
		}(), advise.ParentRef | advise.CopyIntoChild | advise.Fold, "relate.ParentRef denorm.Copy denorm.Copy.Fold"},
	{"last 1000 messages", "004 part 2: the last 1000 messages in the host by $push with $slice, and all in logmsg",
		withNewest(hostLogs, advise.Newest{N: 1000, ReadsPerWrite: 3}), advise.ParentRef | advise.Subset, "relate.ParentRef denorm.Subset"},
	{"last 1000 messages, seldom looked at", "004 part 2: if you look at them less often than they are updated, it is a bad idea",
		withNewest(hostLogs, advise.Newest{N: 1000, ReadsPerWrite: 0.1}), advise.ParentRef, "relate.ParentRef"},
	{"post and few comments", "000, 003: embed what can't grow without bound and is queried together",
		advise.Relation{Parent: "posts", Child: "comments", Children: advise.Count{Typical: 5, Max: 100}, ChildBytes: 200},
		advise.Embed, "embed.Embedded"},
	{"post and viral comments", "003: no limit to comments: a document for each, with the post's id",
		postComments, advise.ParentRef, "relate.ParentRef"},
	{"recent comments", "003: the three newest in recentComments, the others in a container of their own",
		withNewest(postComments, advise.Newest{N: 3}), advise.ParentRef | advise.Subset, "relate.ParentRef denorm.Subset"},
	{"comments by the hundred", "000: the newest three in the post, the others in documents of 100, as they are loaded",
		func() advise.Relation {
			r := withNewest(postComments, advise.Newest{N: 3})
			r.Page = 100
			return r
		}(), advise.Bucket | advise.Subset, "denorm.Bucket denorm.Subset"},
	{"portfolio and stocks", "000, 003: a stock is traded hundreds of times a day and held by thousands: refer to it",
		advise.Relation{Parent: "portfolios", Child: "stocks", Children: advise.Count{Typical: 10, Max: 200}, Parents: advise.Count{Typical: 5000, Max: 100000},
			ToParent: advise.None, IntoParent: advise.Copied{Fields: "open, high, low", ReadsPerChange: 0.2}},
		advise.ChildRefs, "relate.ChildRefs"},
	{"publisher and few books", "000, 003: few books per publisher with limited growth: the references in the publisher",
		advise.Relation{Parent: "publishers", Child: "books", Children: advise.Count{Typical: 30, Max: 100, PerDay: 5.0 / 365, Days: 3650}, Standalone: 0.5},
		advise.ChildRefs, "relate.ChildRefs"},
	{"publisher and unbounded books", "000, 003: mutable, growing arrays: pub-id in each book instead",
		advise.Relation{Parent: "publishers", Child: "books", Children: advise.Count{Typical: 1000, Unbounded: true}, Standalone: 0.5},
		advise.ParentRef, "relate.ParentRef"},
	{"authors and books", "000, 003: ids on both sides instead of joining documents",
		advise.Relation{Parent: "authors", Child: "books", Children: advise.Count{Typical: 3, Max: 200}, Parents: advise.Count{Typical: 2, Max: 20},
			Standalone: 0.5, ToParent: 0.5},
		advise.TwoWay, "relate.ManyToMany"},
	{"author thumbnails in books", "000, 003: name and thumbnailUrl in the book's authors, for authors seldom change their names",
		advise.Relation{Parent: "books", Child: "authors", Children: advise.Count{Typical: 2, Max: 20}, Parents: advise.Count{Typical: 3, Max: 200},
			Standalone: 0.5, ToParent: 0.5, IntoParent: advise.Copied{Fields: "name, thumbnailUrl", Bytes: 120, ReadsPerChange: 100000}},
		advise.TwoWay | advise.CopyIntoParent, "relate.ManyToMany denorm.Copy"},
	{"author mood in books", "000: data that changes often and is used by many isn't embedded in them",
		advise.Relation{Parent: "books", Child: "authors", Children: advise.Count{Typical: 2, Max: 20}, Parents: advise.Count{Typical: 30, Max: 200},
			Standalone: 0.5, ToParent: 0.5, IntoParent: advise.Copied{Fields: "mood", ReadsPerChange: 15}},
		advise.TwoWay, "relate.ManyToMany"},
	{"countOfBooks", "000, 003: countOfBooks is set when a book is published; for systems that read much",
		advise.Relation{Parent: "authors", Child: "books", Children: advise.Count{Typical: 3, Max: 200}, Parents: advise.Count{Typical: 2, Max: 20},
			Standalone: 0.5, ToParent: 0.5, TotalReadsPerChange: 1000},
		advise.TwoWay | advise.Counter, "relate.ManyToMany denorm.Counter"},
	{"book and reviews", "000: a review is a document with its book's bookId",
		advise.Relation{Parent: "books", Child: "reviews", Children: advise.Count{Unbounded: true}, ToParent: 0.2},
		advise.ParentRef, "relate.ParentRef"},
	{"users like items", "001: Item_By_User and User_By_Item, with copied names, in the order of time",
		advise.Relation{Parent: "users", Child: "items", Children: advise.Count{Typical: 100, Unbounded: true}, Parents: advise.Count{Typical: 500, Unbounded: true},
			Standalone: 0.5, IntoParent: advise.Copied{Fields: "title", ReadsPerChange: 1e6}, IntoChild: advise.Copied{Fields: "name", ReadsPerChange: 1e6}},
		advise.Links | advise.CopyIntoParent | advise.CopyIntoChild, "denorm.WideRow"},
	{"users like items, by a relation table", "001: a table of pairs answers neither who likes an item nor what a user likes without more queries",
		advise.Relation{Parent: "users", Child: "items", Children: advise.Count{Typical: 100, Unbounded: true}, Parents: advise.Count{Typical: 500, Unbounded: true},
			Standalone: 0.5}, advise.Links, "relate.JoinCollection"},
	{"user and messages", "002 §3: if a user is appended messages all the time, they are an entity of their own",
		advise.Relation{Parent: "users", Child: "messages", Children: advise.Count{Typical: 10000, Unbounded: true}, ReadsPerWrite: 0.5},
		advise.ParentRef, "relate.ParentRef"},
	{"mail by the day", "002 §5: messages are packed, a day's in one value",
		advise.Relation{Parent: "users", Child: "messages", Children: advise.Count{Typical: 10000, Unbounded: true}, ChildBytes: 2000, Page: 50},
		advise.Bucket, "denorm.Bucket"},
}

// randomRelation draws one that need not be valid.
func randomRelation(rng *rand.Rand) advise.Relation {
	count := func() (c advise.Count) {
		c.Max = int64(math.Exp(rng.Float64() * 14))
		c.Typical = 1 + rng.Int64N(c.Max)
		switch rng.IntN(6) {
		case 0:
			c.Typical = 0
		case 1:
			c.Max = 0
		case 2:
			c.Unbounded = true
		case 3:
			c.PerDay = math.Exp(rng.Float64()*10 - 5)
		case 4:
			c.PerDay, c.Days = rng.Float64(), 1+rng.Float64()*1000
		}
		return c
	}
	share := func() float64 { return []float64{0, advise.None, rng.Float64() / 5, rng.Float64(), 1}[rng.IntN(5)] }
	ratio := func() float64 {
		return []float64{0, advise.None, math.Exp(rng.Float64()*16 - 5), never, 1}[rng.IntN(5)]
	}
	copied := func() advise.Copied {
		if rng.IntN(2) == 0 {
			return advise.Copied{}
		}
		return advise.Copied{Fields: "name", Bytes: rng.Int64N(300), ReadsPerChange: ratio(), Strong: rng.IntN(4) == 0}
	}
	r := advise.Relation{
		Children: count(), ParentBytes: rng.Int64N(1 << rng.IntN(25)), ChildBytes: rng.Int64N(1 << rng.IntN(25)), IDBytes: rng.Int64N(40),
		Together: share(), Standalone: share(), ToParent: share(), ReadsPerWrite: ratio(), Atomic: rng.IntN(4) == 0,
		IntoParent: copied(), IntoChild: copied(), TotalReadsPerChange: ratio(),
	}
	if rng.IntN(2) == 0 {
		r.Parents = count()
	}
	if rng.IntN(3) == 0 {
		r.Newest = advise.Newest{N: 1 + rng.Int64N(1<<rng.IntN(13)), ReadsPerWrite: ratio(), Drop: rng.IntN(2) == 0}
	}
	if rng.IntN(3) == 0 {
		r.Page = 1 + rng.Int64N(1<<rng.IntN(13))
	}
	r.IntoChild.Whole = r.IntoChild.Fields != "" && rng.IntN(3) == 0
	return r
}
