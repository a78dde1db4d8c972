package checks

import (
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type storedChange = model.ChangeOf[model.Stored[bson.D]]

func init() {
	register(storeIndexTableCases()...)
	register(storeOnDeleteCases()...)
	register(storeRelationCases()...)
	register(storeVersionCases()...)
}

// storeCase is a case of one method of a store, in a transaction. docs is stored when the
// change reads.
func storeInputCase(
	method, reason string, docs func(s string) testkit.Docs, input func(s string) bson.D, call func(in bson.D, s string) storedChange,
) Case {
	return Case{
		Method: "model.Store." + method, Reason: reason,
		From: func(s string) ([]any, func() any) {
			in := input(s)
			return []any{in}, func() any { return call(in, s) }
		},
		State: asReadTx(func(s string) model.Change { return call(input(s), s).Change() }, docs),
	}
}

// fieldOf returns the input that sets a field.
func fieldOf(path, more string) func(s string) bson.D {
	return func(s string) bson.D { return roomy(bson.D{{Key: path, Value: s + more}}) }
}

// noInput is the input of a deletion.
func noInput(string) bson.D { return roomy(bson.D{}) }

// inserting returns the call of a store's Insert, setting of Set, deleting of Delete.
func inserting(store *model.Store[bson.D, any]) func(in bson.D, s string) storedChange {
	return func(in bson.D, _ string) storedChange { return store.Insert(in) }
}

func setting(store *model.Store[bson.D, any]) func(in bson.D, s string) storedChange {
	return func(in bson.D, s string) storedChange { return store.Set(s, in) }
}

func deleting(store *model.Store[bson.D, any]) func(in bson.D, s string) storedChange {
	return func(_ bson.D, s string) storedChange { return store.Delete(s) }
}

func storeIndexTableCases() []Case {
	store := model.NewStore(model.New("indexed", dwellers, mailers), anything)
	inverted := model.NewStore(model.New("inverted", thingsBy), anything)
	surfer := func(s string) testkit.Docs { return testkit.Docs{anything.Name(): {surferOf(s)}} }
	stored := func(s string) testkit.Docs { return testkit.Docs{anything.Name(): {dweller(s)}} }
	fresh := func(s string) bson.D { return append(bson.D{{Key: "_id", Value: s + "0"}}, dweller(s)[1:]...) }
	set := func(path, more, reason string) Case {
		return storeInputCase("Set", reason, stored, fieldOf(path, more), setting(store))
	}
	return []Case{
		storeInputCase("Insert", "values of index tables are reserved", stored, fresh, inserting(store)),
		set("mail", "2", "a unique value of an index table"),
		set("home.city", "2", "a value of an index table with copies"),
		set("name", "2", "a copied field of an index table"),
		set("note", "", "a field that no index table holds"),
		set("home", "2", "above a value of an index table"),
		storeInputCase("Delete", "values of index tables are freed", stored, noInput, deleting(store)),
		storeInputCase("Insert", "entries of each path of an inverted index", surfer, func(s string) bson.D {
			return append(bson.D{{Key: "_id", Value: s + "0"}}, surferOf(s)[1:]...)
		}, inserting(inverted)),
		storeInputCase("Set", "values of each path of an inverted index", surfer, func(s string) bson.D {
			return roomy(bson.D{
				{Key: "home", Value: roomy(bson.D{{Key: "city", Value: s + "3"}})},
				{Key: "sites", Value: bson.A{s + "2", s + "3"}},
			})
		}, setting(inverted)),
		storeInputCase("Delete", "the entries of each path of an inverted index", surfer, noInput, deleting(inverted)),
	}
}

func storeOnDeleteCases() []Case {
	c := anything.Named
	ref := func(from, path, to string) relate.Referrer {
		return parentref.New(c(from), path, c(to), parentref.Spec{})
	}
	m := model.New("deleting",
		ondelete.New(c("publishers"), ondelete.Spec{
			Cascade: []relate.Referrer{ref("books", "publisher", "publishers"), ref("reviews", "book", "books")},
			Nullify: []relate.Referrer{
				childrefs.New(c("shelves"), "books", c("books")),
				ref("authors", "publisher", "publishers"),
			},
			Owns: []relate.Referrer{ref("publishers", "address", "addresses")},
		}),
		ondelete.New(c("publishers"), ondelete.Spec{
			Restrict: []relate.Referrer{ref("countries", "largest", "publishers")},
		}),
		counter.New(c("reviews"), "reader", c("readers"), counter.Spec{Count: "reviews"}))
	doc := func(id string, pairs ...string) bson.D {
		d := bson.D{{Key: "_id", Value: id}}
		for i := 0; i < len(pairs); i += 2 {
			d = append(d, bson.E{Key: pairs[i], Value: pairs[i+1]})
		}
		return d
	}
	stored := func(s string) testkit.Docs {
		return testkit.Docs{
			"publishers": {doc(s, "address", s+"a")},
			"addresses":  {doc(s + "a")},
			"books":      {doc(s+"1", "publisher", s), doc(s+"2", "publisher", s)},
			"reviews":    {doc(s+"3", "book", s+"1", "reader", s), doc(s+"4", "book", s+"2", "reader", s)},
			"shelves":    {bson.D{{Key: "_id", Value: s}, {Key: "books", Value: bson.A{s + "1", s + "2", s + "9"}}}},
			"authors":    {doc(s, "publisher", s)},
			"readers":    {doc(s)},
		}
	}
	return []Case{
		storeInputCase("Delete", "by the rules of OnDelete: reviews of books are counted", stored, noInput,
			deleting(model.NewStore(m, c("publishers")))),
	}
}

func storeRelationCases() []Case {
	c := anything.Named
	m := model.New("relating",
		joincollection.New(c("roles"), "author", c("authors"), "book", c("books"), joincollection.Spec{}),
		twosided.NewManyToMany(c("books"), "genres", c("genres"), "books", twosided.ManyToManySpec{MaxRight: 5}),
		twosided.NewTwoWay(c("publishers"), "books", c("books"), "publisher", twosided.TwoWaySpec{Max: 5}))
	doc := func(id string, more ...bson.E) bson.D { return append(bson.D{{Key: "_id", Value: id}}, more...) }
	list := func(key string, ids ...any) bson.E { return bson.E{Key: key, Value: bson.A(ids)} }
	one := func(key, id string) bson.E { return bson.E{Key: key, Value: id} }
	stored := func(s string) testkit.Docs {
		return testkit.Docs{
			"authors":    {doc(s)},
			"books":      {doc(s, list("genres", s), one("publisher", s)), doc(s + "2")},
			"genres":     {doc(s, list("books", s)), doc(s + "2")},
			"publishers": {doc(s, list("books", s)), doc(s+"2", list("books", s+"9"))},
			"roles":      {doc(s, one("author", s), one("book", s))},
		}
	}
	books, publishers, roles := model.NewStore(m, c("books")), model.NewStore(m, c("publishers")),
		model.NewStore(m, c("roles"))
	lists := func(key, more string) func(s string) bson.D {
		return func(s string) bson.D { return roomy(bson.D{list(key, s+more)}) }
	}
	return []Case{
		storeInputCase("Insert", "a link of a join collection", stored, func(s string) bson.D {
			return roomy(doc(s+"0", one("author", s), one("book", s+"2")))
		}, inserting(roles)),
		storeInputCase("EnsureOne", "a link of a join collection, found by its pair", stored, func(s string) bson.D {
			return roomy(doc(s+"0", one("author", s), one("book", s)))
		}, func(in bson.D, s string) storedChange {
			return roles.EnsureOne(bson.D{one("author", s), one("book", s)}, in)
		}),
		storeInputCase("SetOne", "the other document of a link, found by its pair", stored, fieldOf("book", "2"),
			func(in bson.D, s string) storedChange {
				return roles.SetOne(bson.D{one("author", s), one("book", s)}, in)
			}),
		storeInputCase("DeleteOne", "a link, found by its pair", stored, noInput, func(_ bson.D, s string) storedChange {
			return roles.DeleteOne(bson.D{one("author", s), one("book", s)})
		}),
		storeInputCase("Delete", "the links of a book, and the other sides", stored, noInput, deleting(books)),
		storeInputCase("Set", "a list of a many-to-many relation", stored, lists("genres", "2"), setting(books)),
		storeInputCase("Set", "the owner of a two-way relation", stored, fieldOf("publisher", "2"), setting(books)),
		storeInputCase("Set", "the list of a two-way relation", stored, lists("books", "2"), setting(publishers)),
	}
}

func storeVersionCases() []Case {
	m := model.New("versions", copies.New(anything.Named("owners"), anything, copies.Spec{
		KeyPath: "owner.id", Fields: []copies.Field{{From: "name", To: "owner.name"}}, Version: "v", VersionTo: "owner.v",
	}))
	stored := func(s string) testkit.Docs {
		return testkit.Docs{"owners": {bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "v", Value: int64(3)}}}}
	}
	fresh := func(s string) bson.D {
		return roomy(bson.D{{Key: "_id", Value: s}, {Key: "owner", Value: roomy(bson.D{{Key: "id", Value: s}})}})
	}
	many := model.New("copies in arrays", copyItems)
	inArray := func(s string) testkit.Docs {
		item := func(id, name string) bson.D {
			return bson.D{{Key: "id", Value: id}, {Key: "name", Value: name}, {Key: "v", Value: int64(3)}}
		}
		return testkit.Docs{
			"anything": {bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "v", Value: int64(3)}}},
			"copies":   {bson.D{{Key: "_id", Value: s}, {Key: "items", Value: bson.A{item(s+"2", s)}}}},
		}
	}
	items := func(s string) bson.D {
		item := func(id string) bson.D { return roomy(bson.D{{Key: "id", Value: id}}) }
		return roomy(bson.D{{Key: "items", Value: roomy(bson.A{item(s + "2"), item(s)})}})
	}
	listing := model.New("listed copies", copyListed)
	listed := func(s string) testkit.Docs {
		return testkit.Docs{
			"anything": {
				bson.D{
					{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "v", Value: int64(3)},
					{Key: "docs", Value: bson.A{s, s + "2"}},
				},
			},
			"copies": {bson.D{{Key: "_id", Value: s}}, bson.D{{Key: "_id", Value: s + "3"}}},
		}
	}
	docs := func(s string) bson.D { return roomy(bson.D{{Key: "docs", Value: roomy(bson.A{s, s + "3"})}}) }
	return []Case{
		storeInputCase("Set", "an element with a copy", inArray, items,
			setting(model.NewStore(many, anything.Named("copies")))),
		storeInputCase("Set", "a source of copies in arrays", inArray, fieldOf("name", "2"),
			setting(model.NewStore(many, anything))),
		storeInputCase("Insert", "a document that a source lists", listed, func(s string) bson.D {
			return roomy(bson.D{{Key: "_id", Value: s + "2"}})
		}, inserting(model.NewStore(listing, anything.Named("copies")))),
		storeInputCase("Set", "the list of documents with copies", listed, docs, setting(model.NewStore(listing, anything))),
		storeInputCase("Insert", "a copy with a version", stored, fresh, inserting(model.NewStore(m, anything))),
		storeInputCase("Set", "a copied field of a source with a version", stored, fieldOf("name", "2"),
			setting(model.NewStore(m, anything.Named("owners")))),
	}
}
