package compose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
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
	linkedBooks   = model.NewCollection[linkedBook, int64]("books")
	linkedLoans   = model.NewCollection[linkedLoan, int64]("loans")
	bookAuthor    = relate.NewParentRef(linkedBooks, "author", linkedAuthors, relate.ParentRefSpec{MustExist: true})
	bookFans      = relate.NewChildRefs(linkedBooks, "fans", linkedAuthors)
	authorFavs    = relate.NewChildRefs(linkedAuthors, "favs", linkedBooks)
)

// A linkedPick is a technique that a linked model can have.
type linkedPick int

const (
	pickISBN linkedPick = iota
	pickTags
	pickBooks
	pickAuthor
	pickLoans
	pickMany
	pickTwoWay
	pickCascade
	pickNullify
	pickRestrict
	linkedPicks
)

var linkedNames = [linkedPicks]string{
	`NewIndexTable(books, "isbn", {Unique: true})`,
	`NewIndexTable(books, "tags", {Copies: title})`,
	`NewCounter(books, "author", authors, {Count: "books"})`,
	`NewParentRef(books, "author", authors, {MustExist: true})`,
	`NewJoinCollection(loans, "a", authors, "b", books)`,
	`NewManyToMany(authors, "favs", books, "fans")`,
	`NewTwoWay(authors, "favs", books, "author")`,
	`NewOnDelete(authors, {Cascade: books.author, Nullify: books.fans, authors.favs})`,
	`NewOnDelete(authors, {Nullify: books.author, books.fans; Owns, Nullify: authors.favs})`,
	`NewOnDelete(authors, {Restrict: books.author, Cascade: books.fans})`,
}

func (p linkedPick) declare() model.Technique {
	refs := func(list ...relate.Referrer) []relate.Referrer { return list }
	switch p {
	case pickISBN:
		return denorm.NewIndexTable(linkedBooks, "isbn", "isbns", denorm.IndexTableSpec{Unique: true})
	case pickTags:
		return denorm.NewIndexTable(linkedBooks, "tags", "tagged", denorm.IndexTableSpec{Copies: []string{"title"}})
	case pickBooks:
		return denorm.NewCounter(linkedBooks, "author", linkedAuthors, denorm.CounterSpec{Count: "books"})
	case pickAuthor:
		return bookAuthor
	case pickLoans:
		return relate.NewJoinCollection(linkedLoans, "a", linkedAuthors, "b", linkedBooks, relate.JoinCollectionSpec{})
	case pickMany:
		return relate.NewManyToMany(linkedAuthors, "favs", linkedBooks, "fans", relate.ManyToManySpec{})
	case pickTwoWay:
		return relate.NewTwoWay(linkedAuthors, "favs", linkedBooks, "author", relate.TwoWaySpec{})
	case pickCascade:
		return relate.NewOnDelete(linkedAuthors, relate.OnDeleteSpec{Cascade: refs(bookAuthor), Nullify: refs(bookFans, authorFavs)})
	case pickNullify:
		return relate.NewOnDelete(linkedAuthors, relate.OnDeleteSpec{
			Nullify: refs(bookAuthor, bookFans, authorFavs), Owns: refs(authorFavs),
		})
	}
	return relate.NewOnDelete(linkedAuthors, relate.OnDeleteSpec{Restrict: refs(bookAuthor), Cascade: refs(bookFans)})
}

// A linkedModel is a model of picks, and the way in which it is used.
type linkedModel struct {
	has       [linkedPicks]bool
	model     *model.Model
	authors   *model.Store[linkedAuthor, int64]
	books     *model.Store[linkedBook, int64]
	loans     *model.Store[linkedLoan, int64]
	tx, scope bool
}

func drawLinked(r *rand.Rand) *linkedModel {
	var list []linkedPick
	for p := range pickMany {
		if r.IntN(2) == 0 {
			list = append(list, p)
		}
	}
	if p := pickMany + linkedPick(r.IntN(4)); p <= pickTwoWay {
		list = append(list, p)
	}
	if p := pickCascade + linkedPick(r.IntN(4)); p <= pickRestrict {
		list = append(list, p)
	} else if slices.Contains(list, pickAuthor) || slices.Contains(list, pickBooks) { // a deletion leaves no book without its author
		list = append(list, pickRestrict)
	}
	m := declareLinked(r.IntN(2) == 0, list...)
	m.scope = r.IntN(3) == 0
	return m
}

func declareLinked(tx bool, list ...linkedPick) *linkedModel {
	m := &linkedModel{tx: tx}
	techniques := []model.Technique{model.Entity(linkedAuthors), model.Entity(linkedBooks), model.Entity(linkedLoans)}
	for _, p := range list {
		m.has[p] = true
		techniques = append(techniques, p.declare())
	}
	m.model = model.New("linked", techniques...)
	m.authors, m.books = model.NewStore(m.model, linkedAuthors), model.NewStore(m.model, linkedBooks)
	m.loans = model.NewStore(m.model, linkedLoans)
	return m
}

func (m *linkedModel) String() string {
	var parts []string
	for p, has := range m.has {
		if has {
			parts = append(parts, linkedNames[p])
		}
	}
	return fmt.Sprintf("transactions %v, scope %v,\n\t%s", m.tx, m.scope, strings.Join(parts, "\n\t"))
}

// handle returns the database as the model is used on it.
func (m *linkedModel) handle(ctx context.Context, db model.DB) (model.DB, error) {
	on := m.model.On(db)
	if m.scope {
		on = model.Scope{Tenant: bson.D{{Key: "tenant", Value: "ours"}}}.On(on)
	}
	if !m.tx {
		return on, nil
	}
	return model.WithTransactions(ctx, on)
}

// linkedMemory knows which documents are stored.
type linkedMemory struct {
	m       *linkedModel
	authors map[int64]linkedAuthor
	books   map[int64]linkedBook
	loans   map[int64]linkedLoan
}

func newLinkedMemory(m *linkedModel) *linkedMemory {
	return &linkedMemory{m, map[int64]linkedAuthor{}, map[int64]linkedBook{}, map[int64]linkedLoan{}}
}

func (m *linkedMemory) clone() *linkedMemory {
	return &linkedMemory{m.m, maps.Clone(m.authors), maps.Clone(m.books), maps.Clone(m.loans)}
}

// A linkedAction is one write through a store, and through the memory.
type linkedAction struct {
	name  string
	apply func(m *linkedMemory) error
	run   func(ctx context.Context, db model.DB, m *linkedModel) error
}

func someIDs(r *rand.Rand) (out []int64) {
	for id := int64(1); id < 4; id++ {
		if r.IntN(3) == 0 {
			out = append(out, id)
		}
	}
	return out
}

// draw returns a random action.
func (m *linkedMemory) draw(r *rand.Rand) linkedAction {
	id, text := int64(1+r.IntN(3)), string(rune('a'+r.IntN(3)))
	author := linkedAuthor{ID: id, Name: text, Favs: someIDs(r)}
	book := linkedBook{ID: id, Author: ref(r), Title: text, Fans: someIDs(r)}
	if book.Author != nil && *book.Author > 3 {
		book.Author = nil
	}
	if r.IntN(3) > 0 {
		book.ISBN = string(rune('x' + r.IntN(3)))
	}
	for range r.IntN(3) {
		book.Tags = append(book.Tags, string(rune('s'+r.IntN(3))))
	}
	put := func(verb string, apply func(m *linkedMemory) error, run func(ctx context.Context, db model.DB, m *linkedModel) error) linkedAction {
		return linkedAction{verb, apply, run}
	}
	loan := linkedLoan{ID: id, Author: int64(1 + r.IntN(3)), Book: int64(1 + r.IntN(3))}
	kinds := 8
	if m.m.has[pickLoans] {
		kinds = 11
	}
	switch r.IntN(kinds) {
	case 0, 1:
		return put(fmt.Sprintf("authors.Insert(%+v)", author),
			func(m *linkedMemory) error { return m.putAuthor(author, false) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.authors.Insert(author).Run(ctx, db))
			})
	case 2, 3:
		return put(fmt.Sprintf("books.Insert(%d, author %s, %+v)", id, at(book.Author), book),
			func(m *linkedMemory) error { return m.putBook(book, false) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.books.Insert(book).Run(ctx, db))
			})
	case 4:
		return put(fmt.Sprintf("authors.Replace(%+v)", author),
			func(m *linkedMemory) error { return m.putAuthor(author, true) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.authors.Replace(author).Run(ctx, db))
			})
	case 5:
		return put(fmt.Sprintf("books.Edit(%d, author %s, %+v)", id, at(book.Author), book),
			func(m *linkedMemory) error { return m.putBook(book, true) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.books.Edit(id, func(b *linkedBook) error { *b = book; return nil }).Run(ctx, db))
			})
	case 6:
		return put(fmt.Sprintf("authors.Delete(%d)", id),
			func(m *linkedMemory) error { return m.deleteAuthor(id) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.authors.Delete(id).Run(ctx, db))
			})
	case 8:
		return put(fmt.Sprintf("loans.Delete(%d)", id),
			func(m *linkedMemory) error { return m.deleteLoan(id) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.loans.Delete(id).Run(ctx, db))
			})
	case 9:
		return put(fmt.Sprintf("loans.Insert(%+v)", loan),
			func(m *linkedMemory) error { return m.putLoan(loan, false) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.loans.Insert(loan).Run(ctx, db))
			})
	case 10:
		return put(fmt.Sprintf("loans.Replace(%+v)", loan),
			func(m *linkedMemory) error { return m.putLoan(loan, true) },
			func(ctx context.Context, db model.DB, m *linkedModel) error {
				return last(m.loans.Replace(loan).Run(ctx, db))
			})
	}
	return put(fmt.Sprintf("books.Delete(%d)", id),
		func(m *linkedMemory) error { return m.deleteBook(id) },
		func(ctx context.Context, db model.DB, m *linkedModel) error {
			return last(m.books.Delete(id).Run(ctx, db))
		})
}

var errRestricted = errors.New("restricted")
