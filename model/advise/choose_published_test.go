// These scenarios of publishers' guides, with the answers that the guides give, are asked of Choose.

package advise_test

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model/advise"
)

// guide is a scenario of a publisher's guide, and the answers that the guide gives or accepts. Figures that a guide
// doesn't give are left out, but for those that say in numbers what it says in words.
type guide struct {
	name     string
	source   string // the page, and what it says
	relation rel
	parent   string // the end that is the parent of the answer, if it could be either
	accepted []advise.Choice
}

func TestChoosePublished(t *testing.T) {
	all := slices.Concat(publishedByMongoDB, publishedByOthers)
	if len(all) < 40 {
		t.Errorf("only %d scenarios", len(all))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			a := advise.Choose(s.relation)
			if !slices.Contains(s.accepted, a.Choice) || s.parent != "" && a.Parent != s.parent {
				t.Errorf("%s\nwant %s of %s, got\n%s", s.source, s.accepted, s.parent, a)
			}
			checkAdvice(t, a)
			if !slices.ContainsFunc(a.Reasons, func(r advise.Reason) bool { return r.Figure != "" && r.Unused == "" }) {
				t.Errorf("no rule has a figure:\n%s", a)
			}
			if testing.Verbose() {
				t.Logf("%s\n%s", s.source, a)
			}
		})
	}
}

func one(c advise.Choice) []advise.Choice { return []advise.Choice{c} }

func tree(t advise.Tree) rel { return rel{Parent: end{Name: "categories"}, Tree: t} }

// From MongoDB's manual, by the pages' names, and its blog.
var publishedByMongoDB = []guide{
	{"patron and address", "one-to-one with embedded documents: the address is fetched with the name, so it is nested",
		rel{Parent: end{Name: "patrons", Has: count{Max: 1}}, Child: end{Name: "addresses"}}, "patrons", one(advise.Embed)},
	{
		name:   "movie and details",
		source: "one-to-one, subset pattern: the default screen shows an overview, and the details are rarely needed",

		relation: rel{Parent: end{Name: "movies", Has: count{Max: 1}, Shows: 0.05}, Child: end{Name: "details", Bytes: 8000}},
		parent:   "movies", accepted: one(advise.ParentRef),
	},
	{"patron and addresses", "one-to-many with embedded documents: a page shows both addresses",
		rel{Parent: end{Name: "patrons", Has: count{Typical: 2}}, Child: end{Name: "addresses"}}, "", one(advise.Embed)},
	{"publisher and books", "one-to-many with references: books grow without bound, so the book holds the publisher's id",
		rel{Parent: end{Name: "publishers", Has: count{Unbounded: true}}, Child: end{Name: "books", Alone: 0.5}},
		"", one(advise.ParentRef)},
	{
		name:   "publisher and a limited number of books",
		source: "one-to-many with references: few books with limited growth, so the publisher may list them",

		relation: rel{
			Parent: end{Name: "publishers", Has: count{Max: 50, Fixed: true}},
			Child:  end{Name: "books", Alone: 0.5},
		},
		parent: "", accepted: one(advise.ChildRefs),
	},
	{"product and reviews", "subset pattern: the ten newest reviews in the product, all reviews in their own collection",
		rel{
			Parent: end{Name: "products", Has: count{Unbounded: true}},
			Child:  end{Name: "reviews", Newest: advise.Newest{N: 10}},
		}, "", one(advise.ParentRef | advise.Subset)},
	{"customer and trades", "bucket pattern: one customer's trades are shown ten to a page, in the order of time",
		rel{Parent: end{Name: "customers", Has: count{Unbounded: true}}, Child: end{Name: "trades", Page: 10}},
		"", one(advise.Bucket)},
	{
		name:   "book and purchasers",
		source: "outlier pattern: few books have more than 50 purchasers, some 1,000; the rest of those overflows",

		relation: rel{
			Parent: end{Name: "books", Has: count{Typical: 20, P99: 50, Max: 1000}},
			Child:  end{Name: "purchases", Bytes: 40},
		},
		parent: "", accepted: one(advise.Outlier),
	},
	{
		name:   "city and population",
		source: "approximation pattern: a number that changes often and may be rough is written once in 100 changes",

		relation: rel{
			Parent: end{Name: "cities", Has: count{Typical: 40000, Unbounded: true}},
			Child:  end{Name: "changes", Total: advise.Total{ReadsPerChange: 1, Rough: true}},
		},

		parent: "", accepted: one(advise.ParentRef | advise.Approximate),
	},
	{"shelf and media", "inheritance pattern: ebooks, audiobooks and printed books in one collection",
		rel{Parent: end{Name: "shelves", Has: count{Unbounded: true}}, Child: end{Name: "books", Kinds: 3, Alone: 0.5}}, "",
		one(advise.ParentRef | advise.Kinds)},
	{"article and tags", "map relationships: tags are embedded in the article",
		rel{
			Parent: end{Name: "articles", Has: count{Typical: 5}},
			Child:  end{Name: "tags", Has: count{Unbounded: true}, Value: true, Bytes: 12},
		}, "articles", one(advise.Values)},
	{"article and author, read together", "map relationships: if articles are queried, embed the author",
		rel{
			Parent: end{
				Name: "authors", Has: count{Typical: 10}, Alone: none,
				Copied: advise.Copied{Fields: "name, email", ReadsPerChange: 10000, Whole: true},
			},
			Child: end{Name: "articles", Alone: 1},
		},
		"", one(advise.ParentRef | advise.CopyIntoChild | advise.Fold)},
	{
		name:   "article and author, read apart",
		source: "map relationships: if authors are returned separately, the article holds the author's id",

		relation: rel{Parent: end{Name: "authors", Has: count{Typical: 10}}, Child: end{Name: "articles", Alone: 0.5}},
		parent:   "", accepted: one(advise.ParentRef),
	},
	{"order and products", "handle duplicate data: each line holds the product's id and the fields that an order shows",
		rel{Parent: end{Name: "orders", Has: count{Typical: 3}}, LinkBytes: 16,
			Child: end{
				Name: "products", Has: count{Unbounded: true, Typical: 200}, Shows: none,
				Copied: advise.Copied{Fields: "name, price, size"},
			}},
		"orders", one(advise.ChildRefs | advise.CopyIntoParent)},
	{"order and customer", "extended reference pattern: the order holds the customer's id, name and address",
		rel{
			Parent: end{
				Name: "customers", Has: count{Typical: 20, Unbounded: true}, Copied: advise.Copied{Fields: "name, address"},
			},
			Child: end{Name: "orders", Alone: 0.8},
		},
		"", one(advise.ParentRef | advise.CopyIntoChild)},
	{"tree by parents", "tree structures with parent references: the parent and the children of a node",
		tree(advise.Tree{Nodes: 5000}), "", one(advise.ParentTree)},
	{"tree by children", "tree structures with child references: the children of a node, where nothing asks for subtrees",
		tree(advise.Tree{Nodes: 5000, Ordered: true}), "", one(advise.ChildTree)},
	{"tree by ancestors", "tree structures with an array of ancestors: ancestors and descendants by an index",
		tree(advise.Tree{Nodes: 5000, Above: 0.5, Below: 0.3}), "", one(advise.AncestorArray)},
	{"tree by paths", "tree structures with materialized paths: subtrees by an index on the path",
		tree(advise.Tree{Nodes: 5000, Below: 0.5}), "", one(advise.MaterializedPath)},
	{"tree by numbers", "tree structures with nested sets: fast subtrees of a tree that doesn't change",
		tree(advise.Tree{Nodes: 5000, Below: 0.5, ReadsPerMove: never}), "", one(advise.NestedSet)},
	{"movie and screenings", "computed data: viewers and revenue of a movie are summed up when a screening is written",
		rel{
			Parent: end{Name: "movies", Has: count{Unbounded: true}},
			Child:  end{Name: "screenings", Total: advise.Total{ReadsPerChange: 1000}},
		}, "", one(advise.ParentRef | advise.Counter)},
	{"book and checkouts", "data for atomic operations: copies and checkouts in the book, changed in one step",
		rel{
			Parent: end{Name: "books", Has: count{Max: 3, Fixed: true}},
			Child:  end{Name: "checkouts", Alone: 0.2}, Atomic: true,
		}, "", one(advise.Embed)},
	{
		name:   "policy and revisions",
		source: "document versioning pattern: revisions in a collection of their own, seldom read with the policy",

		relation: rel{Parent: end{Name: "policies", Has: count{Typical: 5}, Shows: 0.05}, Child: end{Name: "revisions"}},
		parent:   "", accepted: one(advise.ParentRef),
	},
	{"movie and release dates", "attribute pattern: an array of places and dates",
		rel{
			Parent: end{Name: "movies", Has: count{Typical: 4}},
			Child:  end{Name: "releases", Bytes: 50},
		}, "", one(advise.Embed)},
	{"topic and comments, each by its link", "storing comments: a document for each, any number, direct links",
		rel{Parent: end{Name: "topics", Has: count{Unbounded: true}}, Child: end{Name: "comments", Alone: 0.2, Page: 100}},
		"", one(advise.ParentRef)},
	{"topic and few comments", "storing comments: all embedded, for the fastest display",
		rel{
			Parent: end{Name: "topics", Has: count{Typical: 10, Max: 100}},
			Child:  end{Name: "comments"},
		}, "", one(advise.Embed)},
	{"topic and comments by the page", "storing comments: about a hundred comments to a document",
		rel{Parent: end{Name: "topics", Has: count{Unbounded: true}}, Child: end{Name: "comments", Page: 100}},
		"", one(advise.Bucket)},
}

// From the guides of Azure Cosmos DB, Amazon DynamoDB, Firestore, RavenDB, CouchDB, Elasticsearch, Couchbase and
// ArangoDB.
var publishedByOthers = []guide{
	{"post and likes", "Azure, how to model and partition an example: likes have no limit; the post keeps their number",
		rel{
			Parent: end{Name: "posts", Has: count{Typical: 20, Unbounded: true}},
			Child:  end{Name: "likes", Bytes: 60, Total: advise.Total{ReadsPerChange: 500}},
		}, "", one(advise.ParentRef | advise.Counter)},
	{"user name in posts", "Azure, the same: the username is copied into each post; most users never change it",
		rel{
			Parent: end{
				Name: "users", Has: count{Typical: 50, Unbounded: true},
				Copied: advise.Copied{Fields: "username", ReadsPerChange: 1e5},
			},
			Child: end{Name: "posts", Alone: 0.6},
		}, "", one(advise.ParentRef | advise.CopyIntoChild)},
	{"feed and posts", "Azure, the same: the newest 100 posts are kept for the front page",
		rel{
			Parent: end{Name: "feeds", Has: count{Unbounded: true}},
			Child:  end{Name: "posts", Alone: 0.5, Newest: advise.Newest{N: 100}},
		}, "", one(advise.ParentRef | advise.Subset)},
	{"sensor and readings", "Azure design patterns, data binning: a document for each minute's readings",
		rel{
			Parent: end{Name: "sensors", Has: count{Unbounded: true, PerSecond: 0.2}},
			Child:  end{Name: "readings", Bytes: 40, Page: 12},
		}, "", one(advise.Bucket)},
	{"order and its versions", "Azure design patterns, document versioning: old versions in a container of their own",
		rel{Parent: end{Name: "orders", Has: count{Typical: 3}, Shows: 0.02}, Child: end{Name: "versions"}},
		"", one(advise.ParentRef)},
	{"room and days", "Azure design patterns, preallocation: every day of a year is in the room, with a flag",
		rel{
			Parent: end{Name: "rooms", Has: count{Max: 366, Fixed: true}},
			Child:  end{Name: "days", Bytes: 30},
		}, "", one(advise.Embed)},
	{
		name:   "invoices and bills",
		source: "Amazon, adjacency lists: an item for each pair, with the pair's own attributes, read from both ends",

		relation: rel{
			Parent:    end{Name: "invoices", Has: count{Typical: 10}},
			Child:     end{Name: "bills", Has: count{Typical: 5}},
			LinkBytes: 60,
		},
		parent: "", accepted: one(advise.Links),
	},
	{"equipment and audits", "Amazon, sort keys for version control: all revisions, and a copy of the newest",
		rel{
			Parent: end{Name: "machines", Has: count{Unbounded: true}},
			Child:  end{Name: "audits", Newest: advise.Newest{N: 1}},
		}, "", one(advise.ParentRef | advise.Subset)},
	{"product and image", "Amazon, large attribute values: the image is stored apart",
		rel{Parent: end{Name: "products", Has: count{Max: 1}, Shows: 0.3}, Child: end{Name: "images", Bytes: 3 << 20}},
		"products", one(advise.ParentRef)},
	{"followers", "Amazon, social network schema: an item for each follower, in both directions, and counts",
		rel{
			Parent: end{Name: "followers", Has: count{Typical: 200, Unbounded: true}, Total: advise.Total{ReadsPerChange: 100}},

			Child: end{Name: "users", Has: count{Typical: 200, Unbounded: true}, Total: advise.Total{ReadsPerChange: 100}},
		}, "", one(advise.Links | advise.Counter | advise.CountInChild)},
	{"user and timeline", "Amazon, the same: entries of a timeline expire",
		rel{Parent: end{Name: "users", Has: count{Unbounded: true}}, Child: end{Name: "entries", Days: 7}}, "",
		one(advise.ParentRef | advise.Expiry)},
	{"user and recent rooms", "Firestore, choose a data structure: the three rooms visited last are in the profile",
		rel{
			Parent: end{Name: "users", Has: count{Unbounded: true}},
			Child:  end{Name: "visits", Bytes: 40, Newest: advise.Newest{N: 3, Drop: true}},
		}, "", one(advise.Embed | advise.Bounded)},
	{"room and messages", "Firestore, the same: messages grow over time, and have documents of their own",
		rel{Parent: end{Name: "rooms", Has: count{Unbounded: true}}, Child: end{Name: "messages", Alone: 0.2}},
		"", one(advise.ParentRef)},
	{"restaurant and ratings", "Firestore, write-time aggregations: average and count in the restaurant",
		rel{
			Parent: end{Name: "restaurants", Has: count{Typical: 5000, Unbounded: true}},
			Child:  end{Name: "ratings", Total: advise.Total{ReadsPerChange: 200}},
		}, "", one(advise.ParentRef | advise.Counter)},
	{"chats and members", "Realtime Database, data that scales: membership is stored on both sides",
		rel{
			Parent: end{Name: "chats", Has: count{Typical: 8, Max: 500}},
			Child:  end{Name: "members", Has: count{Typical: 10, Max: 500}},
		}, "", one(advise.TwoWay)},
	{"chat and last message", "Realtime Database, flatten data: messages apart, the last one with the chat's title",
		rel{
			Parent: end{Name: "chats", Has: count{Unbounded: true}},
			Child:  end{Name: "messages", Newest: advise.Newest{N: 1, ReadsPerWrite: 5}},
		}, "", one(advise.ParentRef | advise.Subset)},
	{
		name:   "kids and parents",
		source: "Inside RavenDB, many-to-one: the child holds its mother's and father's id; a query finds a parent's children",

		relation: rel{
			Parent: end{Name: "mothersAndFathers", Has: count{Typical: 3, Max: 15}, Shows: 0.05},
			Child:  end{Name: "kids", Has: count{Max: 2, Fixed: true}, Shows: 0.9, Alone: 0.9},
		},
		parent: "kids", accepted: one(advise.ChildRefs),
	},
	{
		name:   "groups and users",
		source: "Inside RavenDB, many-to-many: ids on the smaller side; a user has few groups, a group a lot of users",

		relation: rel{
			Parent: end{Name: "groups", Has: count{Typical: 2000, Unbounded: true}},
			Child:  end{Name: "users", Has: count{Typical: 4, Max: 50}},
		},
		parent: "users", accepted: one(advise.ChildRefs),
	},
	{"configuration and states", "Inside RavenDB, reference data: the whole list in one document",
		rel{
			Parent: end{Name: "configurations", Has: count{Max: 50, Fixed: true}},
			Child:  end{Name: "states", Bytes: 40}, ReadsPerAdd: never,
		}, "", one(advise.Embed)},
	{"account and transactions", "Inside RavenDB, unbounded growth: a document for each hundred transactions",
		rel{Parent: end{Name: "accounts", Has: count{Unbounded: true}}, Child: end{Name: "transactions", Page: 100}},
		"", one(advise.Bucket)},
	{
		name:   "customer and number of orders",
		source: "Inside RavenDB, cached properties: a stored number is a bad idea where orders are made all the time",

		relation: rel{
			Parent: end{Name: "customers", Has: count{Typical: 20, Unbounded: true}},
			Child:  end{Name: "orders", Alone: 0.5, Total: advise.Total{ReadsPerChange: 2}},
		},
		parent: "", accepted: one(advise.ParentRef),
	},
	{
		name:   "backlog item and comments",
		source: "RavenDB, entity relationships: three comments on average, less than a hundred: embedded",

		relation: rel{Parent: end{Name: "items", Has: count{Typical: 3, Max: 100}}, Child: end{Name: "comments", Bytes: 150}},
		parent:   "", accepted: one(advise.Embed),
	},
	{"backlog item and user", "RavenDB, entity relationships: id and name of the assigned user in the item",
		rel{
			Parent: end{Name: "users", Has: count{Typical: 40}, Copied: advise.Copied{Fields: "name"}},
			Child:  end{Name: "items", Alone: 0.8},
		}, "", one(advise.ParentRef | advise.CopyIntoChild)},
	{"post and comments by many writers", "CouchDB, joins: a document for each comment, for writers at the same time",
		rel{Parent: end{Name: "posts", Has: count{Unbounded: true}}, Child: end{Name: "comments"}},
		"", one(advise.ParentRef)},
	{
		name:   "contacts and groups",
		source: "CouchDB, entity relationships: keys on the side with fewer values; a group might contain hundreds",

		relation: rel{
			Parent: end{Name: "groups", Has: count{Typical: 300, Unbounded: true}},
			Child:  end{Name: "contacts", Has: count{Typical: 3, Max: 30}},
		},
		parent: "contacts", accepted: one(advise.ChildRefs),
	},
	{
		name:   "user and blog posts",
		source: "Elasticsearch, denormalizing your data: the user's name in each post, for users seldom change it",

		relation: rel{
			Parent: end{Name: "users", Has: count{Typical: 100, Max: 3000}, Copied: advise.Copied{Fields: "name"}},
			Child:  end{Name: "posts", Alone: 0.9},
		},
		parent: "", accepted: one(advise.ParentRef | advise.CopyIntoChild),
	},
	{
		name:   "files and directories",
		source: "Elasticsearch, solving concurrency issues: each file holds its full path, for searches below a directory",

		relation: rel{Parent: end{Name: "files"}, Tree: advise.Tree{Nodes: 1e6, Levels: 12, Below: 0.5, ReadsPerMove: 20}},
		parent:   "", accepted: one(advise.MaterializedPath),
	},
	{"branch and employees", "Elasticsearch, parent-child: employees are searched and changed on their own",
		rel{Parent: end{Name: "branches", Has: count{Typical: 50}}, Child: end{Name: "employees", Alone: 0.5}},
		"", one(advise.ParentRef)},
	{"route and schedules", "Couchbase, document design: all flights between two airports in one document",
		rel{
			Parent: end{Name: "routes", Has: count{Typical: 10, Max: 100}},
			Child:  end{Name: "schedules", Bytes: 60},
		}, "", one(advise.Embed)},
	{"users and city", "ArangoDB, joins: the city's key in the user, for the city's facts change",
		rel{
			Parent: end{Name: "users", Has: count{Max: 1}},
			Child:  end{Name: "cities", Has: count{Typical: 100000, Unbounded: true}, ReadsPerChange: 1000},
		}, "cities", one(advise.ParentRef)},
	{"books and authors, one way", "ArangoDB, many-to-many: a list of authors in the book if only that is asked",
		rel{
			Parent: end{Name: "books", Has: count{Typical: 2, Max: 10}},
			Child:  end{Name: "authors", Has: count{Typical: 5, Max: 100}, Shows: none},
		}, "books", one(advise.ChildRefs)},
	{
		name:   "books and authors, with pages",
		source: "ArangoDB, the same: edges if both ways are asked, or facts of the link such as pages",

		relation: rel{
			Parent:    end{Name: "books", Has: count{Typical: 2, Max: 10}},
			Child:     end{Name: "authors", Has: count{Typical: 5, Max: 100}},
			LinkBytes: 16,
		},
		parent: "", accepted: one(advise.Links),
	},
}
