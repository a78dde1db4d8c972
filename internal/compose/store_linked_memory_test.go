package compose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (m *linkedMemory) putAuthor(_ bson.ObjectID, a linkedAuthor, update bool) error {
	old, there := m.authors[a.ID]
	if update && !there {
		return model.ErrNotFound
	}
	var errs []error // a store returns one of them
	if err := putError(there, update); err != nil {
		errs = append(errs, err)
	}
	both := m.has[pickMany] || m.has[pickTwoWay]
	for _, id := range a.Favs {
		if _, there := m.books[id]; both && !there && !slices.Contains(old.Favs, id) {
			errs = append(errs, model.ErrNotFound)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	m.authors[a.ID] = a
	for id, b := range m.books {
		listed := slices.Contains(a.Favs, id)
		switch {
		case m.has[pickMany]:
			if b.Fans = without(b.Fans, a.ID); listed {
				b.Fans = append(b.Fans, a.ID)
			}
		case m.has[pickTwoWay] && listed:
			m.give(&b, &a.ID)
		case m.has[pickTwoWay] && b.Author != nil && *b.Author == a.ID:
			m.give(&b, nil)
		}
		m.books[id] = b
	}
	return nil
}

// give gives a book to an author, who lists it, or to nobody.
func (m *linkedMemory) give(b *linkedBook, author *int64) {
	b.Author = author
	for id, a := range m.authors {
		if a.Favs = without(a.Favs, b.ID); author != nil && *author == id {
			a.Favs = append(a.Favs, b.ID)
		}
		m.authors[id] = a
	}
}

func (m *linkedMemory) putBook(_ bson.ObjectID, b linkedBook, update bool) error {
	old, there := m.books[b.ID]
	if update && !there {
		return model.ErrNotFound
	}
	var errs []error // a store returns one of them
	var named []int64
	has := m.has
	moves := b.Author != nil && (old.Author == nil || *old.Author != *b.Author)
	if moves && (has[pickBooks] || has[pickAuthor] || has[pickTwoWay]) {
		named = append(named, *b.Author)
	}
	for _, id := range b.Fans {
		if has[pickMany] && !slices.Contains(old.Fans, id) {
			named = append(named, id)
		}
	}
	for _, id := range named {
		if _, there := m.authors[id]; !there {
			errs = append(errs, model.ErrNotFound)
		}
	}
	if err := putError(there, update); err != nil {
		errs = append(errs, err)
	}
	for id, other := range m.books {
		if has[pickISBN] && id != b.ID && b.ISBN != "" && other.ISBN == b.ISBN {
			errs = append(errs, model.ErrTaken)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if has[pickTwoWay] {
		m.give(&b, b.Author)
	}
	m.books[b.ID] = b
	for id, a := range m.authors {
		if has[pickMany] {
			if a.Favs = without(a.Favs, b.ID); slices.Contains(b.Fans, id) {
				a.Favs = append(a.Favs, b.ID)
			}
			m.authors[id] = a
		}
	}
	return nil
}

func (m *linkedMemory) putLoan(_ bson.ObjectID, l linkedLoan, update bool) error {
	_, there := m.loans[l.ID]
	if !m.has[pickLoans] {
		return errUndrawn
	}
	if update && !there {
		return model.ErrNotFound
	}
	var errs []error
	if err := putError(there, update); err != nil {
		errs = append(errs, err)
	}
	_, author := m.authors[l.Author]
	_, book := m.books[l.Book]
	if !author || !book {
		errs = append(errs, model.ErrNotFound)
	}
	for id, other := range m.loans {
		if id != l.ID && other.Author == l.Author && other.Book == l.Book {
			errs = append(errs, model.ErrTaken)
		}
	}
	if len(errs) == 0 {
		m.loans[l.ID] = l
	}
	return errors.Join(errs...)
}

// dropBook deletes a book with its loans, and removes it from the lists of authors if a
// technique does so.
func (m *linkedMemory) dropBook(id int64) {
	if _, there := m.books[id]; !there {
		return
	}
	delete(m.books, id)
	maps.DeleteFunc(m.loans, func(_ int64, l linkedLoan) bool { return l.Book == id })
	for k, a := range m.authors {
		if has := m.has; has[pickCascade] || has[pickNullify] || has[pickMany] || has[pickTwoWay] {
			a.Favs = without(a.Favs, id)
			m.authors[k] = a
		}
	}
}

func without(ids []int64, id int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(x int64) bool { return x == id })
}

func (m *linkedMemory) deleteAuthor(id int64) error {
	a, has := m.authors[id], m.has
	for k, b := range m.books {
		falls := has[pickRestrict] && slices.Contains(b.Fans, id)
		if has[pickRestrict] && b.Author != nil && *b.Author == id && !falls {
			return fmt.Errorf("%w by the book %d", errRestricted, k)
		}
	}
	delete(m.authors, id)
	maps.DeleteFunc(m.loans, func(_ int64, l linkedLoan) bool { return l.Author == id })
	for k, b := range m.books {
		written := b.Author != nil && *b.Author == id
		if has[pickCascade] && written || has[pickRestrict] && slices.Contains(b.Fans, id) {
			m.dropBook(k)
			continue
		}
		if (has[pickNullify] || has[pickTwoWay]) && written {
			b.Author = nil
		}
		if has[pickCascade] || has[pickNullify] || has[pickMany] {
			b.Fans = without(b.Fans, id)
		}
		m.books[k] = b
	}
	if has[pickNullify] { // the author owns books
		for _, k := range a.Favs {
			m.dropBook(k)
		}
	}
	return nil
}

func (m *linkedMemory) differs(ctx context.Context, on model.DB) string {
	authors := maps.Clone(m.authors)
	for id, a := range authors {
		for _, b := range m.books {
			if m.has[pickBooks] && b.Author != nil && *b.Author == id {
				a.Books++
			}
		}
		authors[id] = a
	}
	problem := docsDiffer(ctx, on, linkedAuthors, authors, authorShelf.id, func(a linkedAuthor) linkedAuthor {
		a.Favs = slices.Sorted(slices.Values(a.Favs))
		return a
	})
	problem += docsDiffer(ctx, on, linkedBooks, m.books, bookShelf.id, func(b linkedBook) linkedBook {
		b.Fans = slices.Sorted(slices.Values(b.Fans))
		return b
	})
	checks := map[int]func(context.Context, model.DB) string{
		pickLoans: m.loansDiffer, pickISBN: m.isbnsDiffer, pickTags: m.tagsDiffer,
	}
	for p, check := range checks {
		if m.has[p] {
			problem += check(ctx, on)
		}
	}
	return problem
}

func (m *linkedMemory) isbnsDiffer(ctx context.Context, on model.DB) string {
	var want []string
	for id, b := range m.books {
		if b.ISBN != "" {
			want = append(want, fmt.Sprintf("'%s' %d true", b.ISBN, id))
		}
	}
	return linesDiffer(ctx, on, "isbns", want, func(doc bson.Raw) string {
		v := doc.Lookup("_id")
		if of, ok := v.DocumentOK(); ok { // the tenant's
			v = of.Lookup("of")
		}
		return fmt.Sprintf("%s %d %s", model.Shell(v), doc.Lookup("id").AsInt64(), model.Shell(doc.Lookup("sure")))
	})
}

func (m *linkedMemory) tagsDiffer(ctx context.Context, on model.DB) string {
	var want []string
	for id, b := range m.books {
		for _, tag := range b.Tags {
			want = append(want, fmt.Sprintf("'%s' %d '%s' true", tag, id, b.Title))
		}
	}
	return linesDiffer(ctx, on, "tagged", want, func(doc bson.Raw) string {
		return fmt.Sprintf("%s %d %s %s", model.Shell(doc.Lookup("_id", "v")), doc.Lookup("_id", "id").AsInt64(),
			model.Shell(doc.Lookup("doc", "title")), model.Shell(doc.Lookup("sure")))
	})
}

func (m *linkedMemory) loansDiffer(ctx context.Context, on model.DB) string {
	var want []string
	for _, l := range m.loans {
		want = append(want, fmt.Sprint(l.ID, l.Author, l.Book))
	}
	return linesDiffer(ctx, on, "loans", want, func(doc bson.Raw) string {
		return fmt.Sprint(doc.Lookup("_id").AsInt64(), doc.Lookup("a").AsInt64(), doc.Lookup("b").AsInt64())
	})
}
