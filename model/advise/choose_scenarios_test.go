// These scenarios, and random relations, are what the tests of Choose ask about.

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

type (
	rel   = advise.Relation
	end   = advise.End
	count = advise.Count
)

const none = advise.None

var never = math.Inf(1)

// products and parts, as the texts describe them.
var productParts = rel{
	Parent: end{Name: "products", Has: count{Typical: 300, Max: 2500}},
	Child:  end{Name: "parts", Has: count{Typical: 4, Max: 200}, Alone: 0.5, Shows: none},
}

func withCopy(r rel, c advise.Copied) rel {
	r.Child.Copied = c
	return r
}

// hosts and log messages.
var hostLogs = rel{
	Parent:      end{Name: "hosts", Has: count{Typical: 5e6, Max: 1e8, Unbounded: true}},
	Child:       end{Name: "logmsgs", Bytes: 120, Alone: 0.3, Shows: 0.2},
	ReadsPerAdd: 0.01,
}

func withNewest(r rel, n advise.Newest) rel {
	r.Child.Newest = n
	return r
}

func withParentCopy(r rel, c advise.Copied) rel {
	r.Parent.Copied = c
	return r
}

// posts and comments.
var postComments = rel{
	Parent: end{Name: "posts", Has: count{Typical: 40, Unbounded: true}},
	Child:  end{Name: "comments", Bytes: 200}, ReadsPerAdd: 50,
}

// people and their lists of tasks, which have an end.
var peopleTasks = rel{
	Parent: end{Name: "people", Has: count{Typical: 20, Max: 200, Fixed: true}}, Child: end{Name: "tasks", Alone: 0.4},
}

// products and parts that belong to no other.
var productOwnParts = rel{
	Parent: end{Name: "products", Has: count{Typical: 300, Max: 2500, Fixed: true}}, Child: end{Name: "parts", Alone: 0.5},
}

// authors and books.
var authorsBooks = rel{
	Parent: end{Name: "authors", Has: count{Typical: 3, Max: 200}, Shows: 0.5},
	Child:  end{Name: "books", Has: count{Typical: 2, Max: 20}, Alone: 0.5, Shows: 0.5},
}

// books and authors, from the other side.
var booksAuthors = rel{
	Parent: end{Name: "books", Has: count{Typical: 2, Max: 20}},
	Child:  end{Name: "authors", Has: count{Typical: 3, Max: 200}, Alone: 0.5, Shows: 0.5},
}

// users and the items that they like.
var usersItems = rel{
	Parent: end{Name: "users", Has: count{Typical: 100, Unbounded: true}},
	Child:  end{Name: "items", Has: count{Typical: 500, Unbounded: true}, Alone: 0.5},
}

var scenarios = []scenario{
	{"person and addresses", "004 part 1: one-to-few, put them in an array inside of the person",
		rel{Parent: end{Name: "people", Has: count{Typical: 2, Max: 12}}, Child: end{Name: "addresses", Bytes: 120}},
		advise.Embed, "embed.Embedded"},
	{
		name:      "person and contact details",
		published: "000, 003: the person's contact details and addresses are embedded in a single document",

		relation: rel{Parent: end{Name: "people", Has: count{Typical: 2}}, Child: end{Name: "contactDetails", Alone: none}},

		want: advise.Embed, types: "embed.Embedded",
	},
	{"product and its attributes", "002 §2: an aggregate holds all kinds of products with their different attributes",
		rel{Parent: end{Name: "products", Has: count{Typical: 8, Max: 60}}, Child: end{Name: "attributes", Bytes: 50}},
		advise.Embed, "embed.Embedded"},
	{"record and tracks", "002 §2: nested entities minimize one-to-many relations, like the tracks of a record",
		rel{Parent: end{Name: "records", Has: count{Typical: 12, Max: 99}}, Child: end{Name: "tracks"}, ReadsPerAdd: 1000},
		advise.Embed, "embed.Embedded"},
	{"entity in one update", "002 §4: one aggregate as one document is updated atomically",
		rel{
			Parent: end{Name: "carts", Has: count{Typical: 4, Max: 50}},
			Child:  end{Name: "lines"}, Atomic: true, ReadsPerAdd: 0.5,
		},
		advise.Embed, "embed.Embedded"},
	{"order and items", "003: the container CustomersOrdersAndItems holds items in their order, for transactions",
		rel{
			Parent: end{Name: "orders", Has: count{Typical: 3, Max: 100}},
			Child:  end{Name: "items", Alone: 0.05}, Atomic: true,
		},
		advise.Embed, "embed.Embedded"},
	{"customer and orders", "003: Customers, Orders and Items are containers of their own, for readers of each",
		rel{
			Parent: end{Name: "customers", Has: count{Typical: 20, Max: 900, PerDay: 1.5}},
			Child:  end{Name: "orders", Alone: 0.6, Shows: 0.5},
		},
		advise.ParentRef, "parentref.ParentRef"},
	{
		name:      "tasks due tomorrow",
		published: "004 part 1: embedded, the query for all tasks due tomorrow is hard; stand-alone objects are referred to by an array",

		relation: peopleTasks, want: advise.ChildRefs, types: "childrefs.ChildRefs",
	},
	{"people and tasks, both ways", "004 part 2: tasks refer back, to find fast who is responsible",
		asked(peopleTasks, 0.4), advise.TwoWay, "twosided.TwoWay"},
	{
		name:      "people and tasks, in one update",
		published: "004 part 2: with two-way references a task can't be reassigned by an atomic update",

		relation: func() rel { r := asked(peopleTasks, 0.4); r.Atomic = true; r.Child.Has.Max = 2; return r }(),

		want: advise.ChildRefs, types: "childrefs.ChildRefs",
	},
	{"product and parts", "004 part 1: several hundred parts, never more than a few thousand: an array of ObjectIDs",
		productParts, advise.ChildRefs, "childrefs.ChildRefs"},
	{"part names in products", "004 part 2: the name changes seldom: denormalize it into parts[]",
		withCopy(productParts, advise.Copied{Fields: "name", ReadsPerChange: 5000}),
		advise.ChildRefs | advise.CopyIntoParent, "childrefs.ChildRefs copies.Copy"},
	{"part quantities in products", "004 part 2: the quantity on hand changes often: it makes no sense to denormalize it",
		withCopy(productParts, advise.Copied{Fields: "qty", ReadsPerChange: 2}), advise.ChildRefs, "childrefs.ChildRefs"},
	{"part names that must be right", "004 part 3: only fields that don't need strong consistency",
		withCopy(productParts, advise.Copied{Fields: "name", ReadsPerChange: 5000, Strong: true}),
		advise.ChildRefs, "childrefs.ChildRefs"},
	{"product name in parts", "004 part 2: denormalize from one to many: product_name in each part",
		withParentCopy(productOwnParts, advise.Copied{
			Fields: "product_name, product_catalog_number", ReadsPerChange: 100000,
		}),
		advise.TwoWay | advise.CopyIntoChild, "twosided.TwoWay copies.Copy"},
	{
		name:      "product name in parts, renamed often",
		published: "004 part 2: the update is of many parts; the read-to-write ratio matters more",

		relation: withParentCopy(productOwnParts, advise.Copied{Fields: "product_name", ReadsPerChange: 100}),

		want: advise.TwoWay, types: "twosided.TwoWay",
	},
	{"hosts and log messages", "004 part 1: 16 MB would overflow even with ObjectIDs: the host's id in the message",
		hostLogs, advise.ParentRef, "parentref.ParentRef"},
	{"host's address in messages", "004 part 2: the ip address in each message saves the query for the host",
		withParentCopy(hostLogs, advise.Copied{Fields: "ipaddr", ReadsPerChange: never}),
		advise.ParentRef | advise.CopyIntoChild, "parentref.ParentRef copies.Copy"},
	{"no hosts at all", "004 part 2: with little information about the one side, get rid of its collection",
		withParentCopy(hostLogs, advise.Copied{Fields: "ipaddr, hostname", ReadsPerChange: never, Whole: true}),
		advise.ParentRef | advise.CopyIntoChild | advise.Fold, "parentref.ParentRef copies.Copy copies.Copy.Fold"},
	{"last 1000 messages", "004 part 2: the last 1000 messages in the host by $push with $slice, and all in logmsg",
		withNewest(hostLogs, advise.Newest{N: 1000, ReadsPerWrite: 3}), advise.ParentRef | advise.Subset,
		"parentref.ParentRef subset.Subset"},
	{
		name:      "last 1000 messages, seldom looked at",
		published: "004 part 2: if you look at them less often than they are updated, it is a bad idea",

		relation: withNewest(hostLogs, advise.Newest{N: 1000, ReadsPerWrite: 0.1}),
		want:     advise.ParentRef, types: "parentref.ParentRef",
	},
	{"post and few comments", "000, 003: embed what can't grow without bound and is queried together",
		rel{Parent: end{Name: "posts", Has: count{Typical: 5, Max: 100}}, Child: end{Name: "comments", Bytes: 200}},
		advise.Embed, "embed.Embedded"},
	{"post and viral comments", "003: no limit to comments: a document for each, with the post's id",
		postComments, advise.ParentRef, "parentref.ParentRef"},
	{"recent comments", "003: the three newest in recentComments, the others in a container of their own",
		withNewest(postComments, advise.Newest{N: 3}), advise.ParentRef | advise.Subset, "parentref.ParentRef subset.Subset"},
	{"comments by the hundred", "000: the newest three in the post, the others in documents of 100, as they are loaded",
		func() rel { r := withNewest(postComments, advise.Newest{N: 3}); r.Child.Page = 100; return r }(),
		advise.Bucket | advise.Subset, "bucket.Bucket subsetpages.SubsetPages"},
	{"portfolio and stocks", "000, 003: a stock is traded hundreds of times a day and held by thousands: refer to it",
		rel{Parent: end{Name: "portfolios", Has: count{Typical: 10, Max: 200}},
			Child: end{
				Name: "stocks", Has: count{Typical: 5000, Max: 100000}, Shows: none,
				Copied: advise.Copied{Fields: "open, high, low", ReadsPerChange: 0.2},
			}},
		advise.ChildRefs, "childrefs.ChildRefs"},
	{"publisher and few books", "000, 003: few books per publisher with limited growth: the references in the publisher",
		rel{
			Parent: end{Name: "publishers", Has: count{Typical: 30, Max: 150, Fixed: true}},
			Child:  end{Name: "books", Alone: 0.5},
		},
		advise.ChildRefs, "childrefs.ChildRefs"},
	{"publisher and unbounded books", "000, 003: mutable, growing arrays: pub-id in each book instead",
		rel{
			Parent: end{Name: "publishers", Has: count{Typical: 1000, Unbounded: true}},
			Child:  end{Name: "books", Alone: 0.5},
		},
		advise.ParentRef, "parentref.ParentRef"},
	{"authors and books", "000, 003: ids on both sides instead of joining documents",
		authorsBooks, advise.TwoWay, "twosided.ManyToMany"},
	{
		name:      "author thumbnails in books",
		published: "000, 003: name and thumbnailUrl in the book's authors, for authors seldom change their names",

		relation: withCopy(booksAuthors, advise.Copied{Fields: "name, thumbnailUrl", Bytes: 120, ReadsPerChange: 100000}),

		want: advise.TwoWay | advise.CopyIntoChild, types: "twosided.ManyToMany copies.Copy",
	},
	{"author mood in books", "000: data that changes often and is used by many isn't embedded in them",
		func() rel {
			r := withCopy(booksAuthors, advise.Copied{Fields: "mood", ReadsPerChange: 15})
			r.Child.Has.Typical = 30
			return r
		}(),
		advise.TwoWay, "twosided.ManyToMany"},
	{"countOfBooks", "000, 003: countOfBooks is set when a book is published; for systems that read much",
		func() rel { r := authorsBooks; r.Child.Total.ReadsPerChange = 1000; return r }(),
		advise.TwoWay | advise.Counter, "twosided.ManyToMany counter.Counter"},
	{"book and reviews", "000: a review is a document with its book's bookId",
		rel{Parent: end{Name: "books", Has: count{Unbounded: true}}, Child: end{Name: "reviews", Shows: 0.2}},
		advise.ParentRef, "parentref.ParentRef"},
	{"users like items", "001: Item_By_User and User_By_Item, with copied names, in the order of time",
		func() rel {
			r := usersItems
			r.Child.Copied, r.Parent.Copied = advise.Copied{Fields: "title", ReadsPerChange: 1e6},
				advise.Copied{Fields: "name", ReadsPerChange: 1e6}
			return r
		}(), advise.Links | advise.CopyIntoParent | advise.CopyIntoChild, "widerow.WideRow"},
	{
		name:      "users like items, by a relation table",
		published: "001: a table of pairs answers neither who likes an item nor what a user likes without more queries",

		relation: usersItems, want: advise.Links, types: "joincollection.JoinCollection",
	},
	{"user and messages", "002 §3: if a user is appended messages all the time, they are an entity of their own",
		rel{
			Parent: end{Name: "users", Has: count{Typical: 10000, Unbounded: true}},
			Child:  end{Name: "messages"}, ReadsPerAdd: 0.5,
		},
		advise.ParentRef, "parentref.ParentRef"},
	{"mail by the day", "002 §5: messages are packed, a day's in one value",
		rel{
			Parent: end{Name: "users", Has: count{Typical: 10000, Unbounded: true}},
			Child:  end{Name: "messages", Bytes: 2000, Page: 50},
		},
		advise.Bucket, "bucket.Bucket"},
}

func asked(r rel, shows float64) rel {
	r.Child.Shows = shows
	return r
}

// randomRelation draws one that need not be valid.
func randomRelation(rng *rand.Rand) rel {
	r := rel{
		Parent: randomEnd(rng), Child: randomEnd(rng), ReadsPerAdd: randomRatio(rng), Atomic: rng.IntN(4) == 0,
	}
	r.Parent.Has = randomCount(rng)
	if rng.IntN(2) == 0 {
		r.Child.Has = randomCount(rng)
	}
	if rng.IntN(6) == 0 {
		r.Parent.Has, r.Child.Has = r.Child.Has, r.Parent.Has
	}
	if rng.IntN(6) == 0 {
		r.LinkBytes = rng.Int64N(100)
	}
	if rng.IntN(8) == 0 {
		r.Child.Value, r.Child.Bytes, r.Child.Copied, r.Child.Kinds = true, rng.Int64N(1024), advise.Copied{}, 0
	}
	if rng.IntN(12) == 0 {
		return randomTree(rng)
	}
	return r
}

func randomCount(rng *rand.Rand) (c count) {
	c.Max = int64(math.Exp(rng.Float64() * []float64{5, 9, 14}[rng.IntN(3)]))
	c.Typical = 1 + rng.Int64N(c.Max)
	switch rng.IntN(8) {
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
	case 5:
		c.Fixed = true
	case 6:
		c.Typical = 1 + rng.Int64N(min(c.Max, 200))
		c.P99 = c.Typical + rng.Int64N(1+min(c.Max-c.Typical, 200))
	}
	if rng.IntN(6) == 0 {
		c.PerSecond = math.Exp(rng.Float64() * 8)
	}
	return c
}

func randomShare(rng *rand.Rand) float64 {
	return []float64{0, none, rng.Float64() / 5, rng.Float64(), 1}[rng.IntN(5)]
}

func randomRatio(rng *rand.Rand) float64 {
	return []float64{0, none, math.Exp(rng.Float64()*16 - 5), never, 1}[rng.IntN(5)]
}

func randomEnd(rng *rand.Rand) (e end) {
	e = end{
		Bytes: rng.Int64N(1 << rng.IntN([]int{10, 25}[rng.IntN(2)])), IDBytes: rng.Int64N(40), Alone: randomShare(rng),
		Shows: randomShare(rng), ReadsPerChange: randomRatio(rng), Ordered: rng.IntN(5) == 0, Versions: rng.IntN(5) == 0,
		Sharded: rng.IntN(5) == 0, Log: rng.IntN(5) == 0, Events: rng.IntN(5) == 0,
	}
	if rng.IntN(3) == 0 {
		e.Copied = advise.Copied{
			Fields: "name", Bytes: rng.Int64N(300), ReadsPerChange: randomRatio(rng), Strong: rng.IntN(4) == 0,
			Whole: rng.IntN(3) == 0,
		}
	}
	if rng.IntN(4) == 0 {
		e.Newest = advise.Newest{
			N: 1 + rng.Int64N(1<<rng.IntN(13)), Bytes: rng.Int64N(1 + e.Bytes), ReadsPerWrite: randomRatio(rng),
			Drop: rng.IntN(2) == 0,
		}
	}
	if rng.IntN(4) == 0 {
		e.Page = 1 + rng.Int64N(1<<rng.IntN(13))
	}
	if rng.IntN(4) == 0 {
		e.Total = advise.Total{
			ReadsPerChange: randomRatio(rng), Distinct: rng.IntN(4) == 0, ByTime: rng.IntN(4) == 0, Rough: rng.IntN(2) == 0,
		}
	}
	if rng.IntN(8) == 0 {
		e.Kinds, e.Days = rng.Int64N(4), float64(rng.IntN(100))
	}
	return e
}

func randomTree(rng *rand.Rand) rel {
	return rel{
		Parent: end{
			Name: "nodes", Bytes: rng.Int64N(1 << rng.IntN(16)), IDBytes: rng.Int64N(40),
			Has: []count{{}, randomCount(rng)}[rng.IntN(2)],
		}, Atomic: rng.IntN(4) == 0,
		Tree: advise.Tree{
			Nodes: 1 + int64(math.Exp(rng.Float64()*14)), Levels: rng.Int64N(1 << rng.IntN(13)), Whole: randomShare(rng),
			Below: randomShare(rng), Above: randomShare(rng),
			Preorder: rng.IntN(2) == 0, Ordered: rng.IntN(2) == 0,
			ReadsPerMove: randomRatio(rng),
		},
	}
}
