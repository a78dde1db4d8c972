package compose

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
)

// Models of techniques whose reactions write other documents.
type (
	linkedAuthor struct {
		ID    int64   `bson:"_id"`
		Name  string  `bson:"name"`
		Favs  []int64 `bson:"favs,omitempty"`
		Books int64   `bson:"books,omitempty"`
	}
	linkedBook struct {
		ID     int64    `bson:"_id"`
		Author *int64   `bson:"author,omitempty"`
		Title  string   `bson:"title"`
		ISBN   string   `bson:"isbn,omitempty"`
		Tags   []string `bson:"tags,omitempty"`
		Fans   []int64  `bson:"fans,omitempty"`
	}
	linkedLoan struct {
		ID     int64 `bson:"_id"`
		Author int64 `bson:"a"`
		Book   int64 `bson:"b"`
	}
)

var (
	linkedAuthors = model.NewCollection[linkedAuthor, int64]("authors")
	linkedBooks   = model.NewCollectionWith[linkedBook, int64]("books", model.CollectionOptions{StoreField: "kept"})
	linkedLoans   = model.NewCollection[linkedLoan, int64]("loans")
	bookAuthor    = parentref.New(linkedBooks, "author", linkedAuthors, parentref.Spec{MustExist: true})
	bookFans      = childrefs.New(linkedBooks, "fans", linkedAuthors)
	authorFavs    = childrefs.New(linkedAuthors, "favs", linkedBooks)
)

const (
	pickISBN = iota
	pickTags
	pickBooks
	pickAuthor
	pickLoans
	pickMany
	pickTwoWay
	pickCascade
	pickNullify
	pickRestrict
)

func referrers(list ...relate.Referrer) []relate.Referrer { return list }

var linkedModels = machine[*linkedMemory]{
	name: "linked",
	base: []model.Technique{model.Entity(linkedAuthors), model.Entity(linkedBooks), model.Entity(linkedLoans)},
	picks: []pick{
		{`indextable.New(books, "isbn", {Unique: true})`,
			indextable.New(linkedBooks, "isbn", "isbns", indextable.Spec{Unique: true})},
		{`indextable.New(books, "tags", {Copies: title})`,
			indextable.New(linkedBooks, "tags", "tagged", indextable.Spec{Copies: []string{"title"}})},
		{`counter.New(books, "author", authors, {Count: "books"})`,
			counter.New(linkedBooks, "author", linkedAuthors, counter.Spec{Count: "books"})},
		{`parentref.New(books, "author", authors, {MustExist: true})`, bookAuthor},
		{`joincollection.New(loans, "a", authors, "b", books)`,
			joincollection.New(linkedLoans, "a", linkedAuthors, "b", linkedBooks, joincollection.Spec{})},
		{`twosided.NewManyToMany(authors, "favs", books, "fans")`,
			twosided.NewManyToMany(linkedAuthors, "favs", linkedBooks, "fans", twosided.ManyToManySpec{})},
		{`twosided.NewTwoWay(authors, "favs", books, "author")`,
			twosided.NewTwoWay(linkedAuthors, "favs", linkedBooks, "author", twosided.TwoWaySpec{})},
		{`ondelete.New(authors, {Cascade: books.author, Nullify: books.fans, authors.favs})`,
			ondelete.New(linkedAuthors, ondelete.Spec{
				Cascade: referrers(bookAuthor), Nullify: referrers(bookFans, authorFavs),
			})},
		{`ondelete.New(authors, {Nullify: books.author, books.fans; Owns, Nullify: authors.favs})`,
			ondelete.New(linkedAuthors, ondelete.Spec{
				Nullify: referrers(bookAuthor, bookFans, authorFavs), Owns: referrers(authorFavs),
			})},
		{`ondelete.New(authors, {Restrict: books.author, Cascade: books.fans})`,
			ondelete.New(linkedAuthors, ondelete.Spec{
				Restrict: referrers(bookAuthor), Cascade: referrers(bookFans),
			})},
	},
	isValid: func(has picked) bool {
		rules := 0
		for p := pickCascade; p <= pickRestrict; p++ {
			if has[p] {
				rules++
			}
		}
		// Without a rule, a deletion leaves books without their author.
		both := has[pickMany] && has[pickTwoWay]
		return !both && rules <= 1 && (rules == 1 || !has[pickAuthor] && !has[pickBooks])
	},
	begin: func(w *world) *linkedMemory {
		return &linkedMemory{
			world: w, authorStore: model.NewStore(w.model, linkedAuthors), bookStore: model.NewStore(w.model, linkedBooks),
			loanStore: model.NewStore(w.model, linkedLoans),
			authors:   map[int64]linkedAuthor{}, books: map[int64]linkedBook{}, loans: map[int64]linkedLoan{},
		}
	},
	draws: []func(*rand.Rand) action[*linkedMemory]{
		authorShelf.draw, authorShelf.draw, bookShelf.draw, bookShelf.draw, bookShelf.draw, loanShelf.draw,
	},
	meetsPlain: func(has picked, deletes bool) bool { return !deletes },
}

// linkedMemory knows which documents are stored.
type linkedMemory struct {
	*world
	authorStore *model.Store[linkedAuthor, int64]
	bookStore   *model.Store[linkedBook, int64]
	loanStore   *model.Store[linkedLoan, int64]
	authors     map[int64]linkedAuthor
	books       map[int64]linkedBook
	loans       map[int64]linkedLoan
}

func (m *linkedMemory) clone() *linkedMemory {
	out := *m
	out.authors, out.books, out.loans = maps.Clone(m.authors), maps.Clone(m.books), maps.Clone(m.loans)
	return &out
}

func someIDs(r *rand.Rand) (out []int64) {
	for id := int64(1); id < 4; id++ {
		if r.IntN(3) == 0 {
			out = append(out, id)
		}
	}
	return out
}

var authorShelf = shelf[*linkedMemory, linkedAuthor, int64]{
	name:  "authors",
	store: func(m *linkedMemory) *model.Store[linkedAuthor, int64] { return m.authorStore },
	docs:  func(m *linkedMemory) map[int64]linkedAuthor { return m.authors },
	id:    func(a linkedAuthor) int64 { return a.ID },
	put:   (*linkedMemory).putAuthor,
	drop:  (*linkedMemory).deleteAuthor,
	clash: func(m *linkedMemory, a, b linkedAuthor) error {
		isShared := func(id int64) bool { return slices.Contains(b.Favs, id) }
		if m.has[pickTwoWay] && slices.ContainsFunc(a.Favs, isShared) {
			return errRefused // a book has one author
		}
		return nil
	},
	random: func(r *rand.Rand) linkedAuthor {
		return linkedAuthor{ID: int64(1 + r.IntN(3)), Name: drawLetter(r, 'a', 3), Favs: someIDs(r)}
	},
	changes: [][]string{{"name"}, {"favs"}},
}

var bookShelf = shelf[*linkedMemory, linkedBook, int64]{
	name:  "books",
	store: func(m *linkedMemory) *model.Store[linkedBook, int64] { return m.bookStore },
	docs:  func(m *linkedMemory) map[int64]linkedBook { return m.books },
	id:    func(b linkedBook) int64 { return b.ID },
	put:   (*linkedMemory).putBook,
	clash: func(m *linkedMemory, a, b linkedBook) error {
		if m.has[pickISBN] && a.ISBN != "" && a.ISBN == b.ISBN {
			return model.ErrTaken
		}
		return nil
	},
	drop: func(m *linkedMemory, id int64) error {
		m.dropBook(id)
		return nil
	},
	random: func(r *rand.Rand) linkedBook {
		b := linkedBook{ID: int64(1 + r.IntN(3)), Author: ref(r), Title: drawLetter(r, 'a', 3), Fans: someIDs(r)}
		if b.Author != nil && *b.Author > 3 {
			b.Author = nil
		}
		if r.IntN(3) > 0 {
			b.ISBN = drawLetter(r, 'x', 3)
		}
		for range r.IntN(3) {
			b.Tags = append(b.Tags, drawLetter(r, 's', 3))
		}
		return b
	},
	changes: [][]string{{"author"}, {"title", "isbn"}, {"tags"}, {"fans"}, {"author", "title", "isbn", "tags", "fans"}},
}

var loanShelf = shelf[*linkedMemory, linkedLoan, int64]{
	name:  "loans",
	store: func(m *linkedMemory) *model.Store[linkedLoan, int64] { return m.loanStore },
	docs:  func(m *linkedMemory) map[int64]linkedLoan { return m.loans },
	id:    func(l linkedLoan) int64 { return l.ID },
	put:   (*linkedMemory).putLoan, unique: []string{"a", "b"},
	clash: func(_ *linkedMemory, a, b linkedLoan) error {
		if a.Author == b.Author && a.Book == b.Book {
			return model.ErrTaken
		}
		return nil
	},
	drop: func(m *linkedMemory, id int64) error {
		delete(m.loans, id)
		return nil
	},
	random: func(r *rand.Rand) linkedLoan {
		return linkedLoan{ID: int64(1 + r.IntN(3)), Author: int64(1 + r.IntN(3)), Book: int64(1 + r.IntN(3))}
	},
	changes: [][]string{{"a"}, {"a", "b"}},
}
