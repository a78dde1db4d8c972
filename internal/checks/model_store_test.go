package checks

import (
	"errors"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	shelved = model.New("shelved",
		counter.New(anything, "publisher_id", anything.Named("publishers"),
			counter.Spec{Count: "countOfBooks"}),
		copies.New(anything.Named("publishers"), anything, copies.Spec{
			KeyPath: "publisher_id",
			Fields:  []copies.Field{{From: "name", To: "publisher"}},
		}))
	bookStore      = model.NewStore(shelved, anything)
	publisherStore = model.NewStore(shelved, anything.Named("publishers"))
	plainStore     = model.NewStore(model.New("plain", model.Entity(anything)), anything)
)

func init() {
	register(storeCases()...)
}

func storeCases() []Case {
	stored := func(s string) testkit.Docs {
		publisher := func(id string) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: "name", Value: s}} }
		return testkit.Docs{
			anything.Name(): {
				bson.D{
					{Key: "_id", Value: s}, {Key: "publisher_id", Value: s + "1"}, {Key: "publisher", Value: s},
					{Key: "pages", Value: 300},
				},
			},
			"publishers": {publisher(s + "1"), publisher(s + "2")},
		}
	}
	of :=
		func(method, reason string, stored func(s string) testkit.Docs, input func(s string) bson.D, call func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]]) Case {
			return Case{
				Method: "model.Store." + method, Reason: reason,
				From: func(s string) ([]any, func() any) {
					in := input(s)
					return []any{in}, func() any { return call(in, s) }
				},
				State: asRead(func(s string) model.Change { return call(input(s), s).Change() }, stored),
			}
		}
	book := func(s string) bson.D {
		return roomy(bson.D{
			{Key: "_id", Value: s + "0"}, {Key: "publisher_id", Value: s + "2"}, {Key: "title", Value: s},
		})
	}
	field := func(path string) func(s string) bson.D {
		return func(s string) bson.D { return roomy(bson.D{{Key: path, Value: s + "2"}}) }
	}
	return []Case{
		of("Insert", "a copy is filled, and counted", stored, book,
			func(in bson.D, _ string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Insert(in) }),
		of("Insert", "a path that a technique owns is refused", stored,
			func(s string) bson.D { return append(book(s), bson.E{Key: "publisher", Value: s + "!"}) },
			func(in bson.D, _ string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Insert(in) }),
		of("Insert", "Referring: a filter finds the document to which the new one refers", stored,
			func(s string) bson.D { return append(book(s)[:1:1], book(s)[2:]...) },
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
				return bookStore.Referring("publisher_id", bson.D{{Key: "_id", Value: s + "2"}}).Insert(in)
			}),
		of("InsertMany", "two documents, one name", stored, book,
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
				return bookStore.InsertMany(in, append(bson.D{{Key: "_id", Value: s + "3"}}, in[1:]...))
			}),
		of("Ensure", "a new document", stored, book, func(in bson.D, _ string) model.ChangeOf[model.Stored[bson.D]] {
			return bookStore.Ensure(in)
		}),
		of("Ensure", "a stored document", stored,
			func(s string) bson.D { return append(bson.D{{Key: "_id", Value: s}}, book(s)[1:]...) },
			func(in bson.D, _ string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Ensure(in) }),
		of("EnsureOne", "a new document", stored, book, func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
			return bookStore.EnsureOne(bson.D{{Key: "title", Value: s}}, in)
		}),
		of("EnsureOne", "a stored document under another _id", stored,
			func(s string) bson.D { return append(book(s), bson.E{Key: "pages", Value: 300}) },
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
				return bookStore.EnsureOne(bson.D{{Key: "pages", Value: 300}}, in)
			}),
		of("Set", "another publisher", stored, field("publisher_id"),
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Set(s, in) }),
		of("Set", "a name that is copied", stored, field("name"),
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] { return publisherStore.Set(s+"1", in) }),
		of("Set", "Where: a condition that the stored document must meet", stored, field("title"),
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
				return bookStore.Where(bson.D{{Key: "publisher", Value: s}}, errors.New("another's")).Set(s, in)
			}),
		of("Edit", "a field", stored, field("title"), func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
			return bookStore.Edit(s, func(d *bson.D) error { *d = append(*d, in...); return nil })
		}),
		of("Delete", "no technique needs another document", stored, book,
			func(_ bson.D, s string) model.ChangeOf[model.Stored[bson.D]] { return plainStore.Delete(s) }),
		of("Set", "no technique needs the field", stored, field("title"),
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Set(s, in) }),
		of("Restore", "without a scope that marks deletions", stored, book,
			func(_ bson.D, s string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Restore(s) }),
		of("Replace", "what a technique owns stays", stored,
			func(s string) bson.D { return append(bson.D{{Key: "_id", Value: s}}, book(s)[1:]...) },
			func(in bson.D, _ string) model.ChangeOf[model.Stored[bson.D]] { return bookStore.Replace(in) }),
		of("SetOne", "of a publisher", stored, field("publisher_id"),
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
				return bookStore.SetOne(bson.D{{Key: "publisher", Value: s}}, in)
			}),
		of("EditOne", "of a publisher", stored, field("title"),
			func(in bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
				return bookStore.EditOne(bson.D{{Key: "publisher", Value: s}}, func(d *bson.D) error {
					*d = append(*d, in...)
					return nil
				})
			}),
		of("DeleteOne", "of a publisher", stored, book, func(_ bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
			return bookStore.DeleteOne(bson.D{{Key: "publisher", Value: s}, {Key: "pages", Value: 300}})
		}),
		of("Delete", "counted down", stored, book, func(_ bson.D, s string) model.ChangeOf[model.Stored[bson.D]] {
			return bookStore.Delete(s)
		}),
	}
}
