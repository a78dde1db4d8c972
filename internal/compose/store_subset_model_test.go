package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Models whose posts hold their first notes.
type (
	subPost struct {
		ID     int64     `bson:"_id"`
		Title  string    `bson:"title"`
		Notes  []int64   `bson:"notes,omitempty"`
		N      int64     `bson:"n,omitempty"`
		Recent []subNote `bson:"recent,omitempty"`
		First  []subNote `bson:"first,omitempty"`
	}
	subNote struct {
		ID     int64  `bson:"_id"`
		Post   *int64 `bson:"post,omitempty"`
		Author *int64 `bson:"author,omitempty"`
		Time   int64  `bson:"time"`
		Text   string `bson:"text"`
		Memo   string `bson:"memo,omitempty"`
	}
	subAuthor struct {
		ID   int64  `bson:"_id"`
		Name string `bson:"name"`
	}
)

var (
	subPosts   = model.NewCollectionWith[subPost, int64]("posts", model.CollectionOptions{StoreField: "kept"})
	subNotes   = model.NewCollection[subNote, int64]("notes")
	subAuthors = model.NewCollection[subAuthor, int64]("authors")
)

// The picks of models of notes.
const (
	pickRecent = iota
	pickFirst
	pickNotes
	pickPost
	pickNotesTwoWay
	pickAuthorGone
	pickAuthorBlank
	pickPostGone
	pickPostBlank
)

var (
	noteAuthor = parentref.New(subNotes, "author", subAuthors, parentref.Spec{})
	notePost   = parentref.New(subNotes, "post", subPosts, parentref.Spec{})
)

var noteModels = machine[*subMemory]{
	name: "notes",
	base: []model.Technique{model.Entity(subPosts), model.Entity(subNotes), model.Entity(subAuthors)},
	picks: []pick{
		{`subset.New(notes, "post", posts, "recent", {Max: 2, By: {time: -1}, Fields: author, text})`,
			subset.New(subNotes, "post", subPosts, "recent", subset.Spec{
				Max: 2, By: bson.D{{Key: "time", Value: -1}}, Fields: []string{"author", "text"},
			})},
		{`subset.New(notes, "post", posts, "first", {Max: 1, By: {text: 1, time: 1}})`,
			subset.New(subNotes, "post", subPosts, "first", subset.Spec{
				Max: 1, By: bson.D{{Key: "text", Value: 1}, {Key: "time", Value: 1}},
			})},
		{`counter.New(notes, "post", posts, {Count: "n"})`,
			counter.New(subNotes, "post", subPosts, counter.Spec{Count: "n"})},
		{`parentref.New(notes, "post", posts, {MustExist: true})`,
			parentref.New(subNotes, "post", subPosts, parentref.Spec{MustExist: true})},
		{`twosided.NewTwoWay(posts, "notes", notes, "post")`,
			twosided.NewTwoWay(subPosts, "notes", subNotes, "post", twosided.TwoWaySpec{})},
		{`ondelete.New(authors, {Cascade: notes.author})`,
			ondelete.New(subAuthors, ondelete.Spec{Cascade: referrers(noteAuthor)})},
		{`ondelete.New(authors, {Nullify: notes.author})`,
			ondelete.New(subAuthors, ondelete.Spec{Nullify: referrers(noteAuthor)})},
		{`ondelete.New(posts, {Cascade: notes.post})`,
			ondelete.New(subPosts, ondelete.Spec{Cascade: referrers(notePost)})},
		{`ondelete.New(posts, {Nullify: notes.post})`,
			ondelete.New(subPosts, ondelete.Spec{Nullify: referrers(notePost)})},
	},
	isValid: func(has picked) bool { // a deletion of a post leaves no note of the post
		one := func(list ...bool) bool {
			return len(slices.DeleteFunc(list, func(is bool) bool { return !is })) == 1
		}
		return (has[pickRecent] || has[pickFirst]) && one(has[pickAuthorGone], has[pickAuthorBlank]) &&
			one(has[pickNotesTwoWay], has[pickPostGone], has[pickPostBlank])
	},
	begin: func(w *world) *subMemory {
		return &subMemory{
			world: w, postStore: model.NewStore(w.model, subPosts), noteStore: model.NewStore(w.model, subNotes),
			authorStore: model.NewStore(w.model, subAuthors),
			posts:       map[int64]subPost{}, notes: map[int64]subNote{}, authors: map[int64]subAuthor{},
		}
	},
	draws: []func(*rand.Rand) action[*subMemory]{
		postShelf.draw, noteShelf.draw, noteShelf.draw, noteShelf.draw, subAuthorShelf.draw,
	},
}

func upTo3(r *rand.Rand) *int64 {
	if id := ref(r); id != nil && *id <= 3 {
		return id
	}
	return nil
}

var noteShelf = shelf[*subMemory, subNote, int64]{
	name:  "notes",
	store: func(m *subMemory) *model.Store[subNote, int64] { return m.noteStore },
	docs:  func(m *subMemory) map[int64]subNote { return m.notes },
	id:    func(n subNote) int64 { return n.ID },
	put:   (*subMemory).putNote,
	drop: func(m *subMemory, id int64) error {
		delete(m.notes, id)
		return nil
	},
	random: func(r *rand.Rand) subNote {
		return subNote{
			ID: int64(1 + r.IntN(7)), Post: upTo3(r), Author: upTo3(r), Time: int64(r.IntN(5)), Text: drawLetter(r, 'a', 3),
			Memo: drawLetter(r, 'm', 3),
		}
	},
	changes: [][]string{{"post"}, {"time", "text"}, {"author"}, {"memo"}, {"post", "author", "time", "text"}},
}

var postShelf = shelf[*subMemory, subPost, int64]{
	name:  "posts",
	store: func(m *subMemory) *model.Store[subPost, int64] { return m.postStore },
	docs:  func(m *subMemory) map[int64]subPost { return m.posts },
	id:    func(p subPost) int64 { return p.ID },
	put:   (*subMemory).putPost,
	drop:  (*subMemory).deletePost,
	random: func(r *rand.Rand) subPost {
		return subPost{ID: int64(1 + r.IntN(3)), Title: drawLetter(r, 'a', 3), Notes: someIDs(r)}
	},
	changes: [][]string{{"title"}, {"notes"}},
}

var subAuthorShelf = shelf[*subMemory, subAuthor, int64]{
	name:  "authors",
	store: func(m *subMemory) *model.Store[subAuthor, int64] { return m.authorStore },
	docs:  func(m *subMemory) map[int64]subAuthor { return m.authors },
	id:    func(a subAuthor) int64 { return a.ID },
	put: func(m *subMemory, _ bson.ObjectID, a subAuthor, update bool) error {
		_, there := m.authors[a.ID]
		if err := putError(there, update); err != nil {
			return err
		}
		m.authors[a.ID] = a
		return nil
	},
	drop: (*subMemory).deleteAuthor,
	random: func(r *rand.Rand) subAuthor {
		return subAuthor{ID: int64(1 + r.IntN(3)), Name: drawLetter(r, 'a', 3)}
	},
	changes: [][]string{{"name"}},
}

// subMemory knows which documents are stored.
type subMemory struct {
	*world
	postStore   *model.Store[subPost, int64]
	noteStore   *model.Store[subNote, int64]
	authorStore *model.Store[subAuthor, int64]
	posts       map[int64]subPost
	notes       map[int64]subNote
	authors     map[int64]subAuthor
}

func (m *subMemory) clone() *subMemory {
	out := *m
	out.posts, out.notes, out.authors = maps.Clone(m.posts), maps.Clone(m.notes), maps.Clone(m.authors)
	return &out
}

// putNote stores a note. old is the stored one.
func (m *subMemory) putNote(_ bson.ObjectID, n subNote, update bool) error {
	old, there := m.notes[n.ID]
	if update && !there {
		return model.ErrNotFound
	}
	var errs []error // a store returns one of them
	if err := putError(there, update); err != nil {
		errs = append(errs, err)
	}
	if n.Post != nil && (old.Post == nil || *old.Post != *n.Post) {
		if _, is := m.posts[*n.Post]; !is {
			errs = append(errs, model.ErrNotFound)
		}
	}
	if len(errs) == 0 {
		m.notes[n.ID] = n
	}
	return errors.Join(errs...)
}

// putPost stores a post. With a two-way relation it takes its notes.
func (m *subMemory) putPost(_ bson.ObjectID, p subPost, update bool) error {
	_, there := m.posts[p.ID]
	if update && !there {
		return model.ErrNotFound
	}
	err := putError(there, update)
	for _, id := range p.Notes {
		if _, is := m.notes[id]; !is && m.has[pickNotesTwoWay] {
			err = errors.Join(err, model.ErrNotFound)
		}
	}
	if err != nil {
		return err
	}
	for id, n := range m.notes {
		listed, own := slices.Contains(p.Notes, id), n.Post != nil && *n.Post == p.ID
		if m.has[pickNotesTwoWay] && listed != own {
			if n.Post = nil; listed {
				n.Post = &p.ID
			}
			m.notes[id] = n
		}
	}
	m.posts[p.ID] = p
	return nil
}

func (m *subMemory) deletePost(id int64) error {
	if _, there := m.posts[id]; !there {
		return model.ErrNotFound
	}
	delete(m.posts, id)
	for k, n := range m.notes {
		if n.Post == nil || *n.Post != id {
			continue
		}
		if n.Post = nil; m.has[pickPostGone] {
			delete(m.notes, k)
		} else {
			m.notes[k] = n
		}
	}
	return nil
}

func (m *subMemory) deleteAuthor(id int64) error {
	if _, there := m.authors[id]; !there {
		return model.ErrNotFound
	}
	delete(m.authors, id)
	for k, n := range m.notes {
		if n.Author == nil || *n.Author != id {
			continue
		}
		if n.Author = nil; m.has[pickAuthorGone] {
			delete(m.notes, k)
		} else if m.has[pickAuthorBlank] {
			m.notes[k] = n
		}
	}
	return nil
}

// wanted returns a post with everything that techniques write in it.
func (m *subMemory) wanted(p subPost) subPost {
	var own []subNote
	for _, n := range m.notes {
		if n.Post != nil && *n.Post == p.ID {
			own = append(own, n)
		}
	}
	if m.has[pickNotesTwoWay] {
		p.Notes = nil
		for _, n := range own {
			p.Notes = append(p.Notes, n.ID)
		}
	}
	slices.Sort(p.Notes)
	if m.has[pickNotes] {
		p.N = int64(len(own))
	}
	if m.has[pickRecent] {
		slices.SortFunc(own, func(a, b subNote) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.ID, a.ID)) })
		for _, n := range own[:min(2, len(own))] {
			p.Recent = append(p.Recent, subNote{ID: n.ID, Author: n.Author, Time: n.Time, Text: n.Text})
		}
	}
	if m.has[pickFirst] {
		slices.SortFunc(own, func(a, b subNote) int {
			return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Time, b.Time), cmp.Compare(a.ID, b.ID))
		})
		p.First = append(p.First, own[:min(1, len(own))]...)
	}
	return p
}

// differs returns how the database differs from the memory, or what the audit finds.
func (m *subMemory) differs(ctx context.Context, on model.DB) string {
	posts, err := subPosts.Find(nil).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	notes, err := subNotes.Find(nil).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	for i := range posts {
		slices.Sort(posts[i].Notes)
	}
	slices.SortFunc(posts, func(a, b subPost) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(notes, func(a, b subNote) int { return cmp.Compare(a.ID, b.ID) })
	type all struct {
		Posts []subPost
		Notes []subNote
	}
	var want all
	for _, id := range slices.Sorted(maps.Keys(m.posts)) {
		want.Posts = append(want.Posts, m.wanted(m.posts[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(m.notes)) {
		want.Notes = append(want.Notes, m.notes[id])
	}
	if problem := mongotest.Diff(want, all{posts, notes}); problem != "" {
		return problem
	}
	for f, err := range m.model.Audit().Each(ctx, on) {
		return fmt.Sprintf("the audit finds %s (%v)", f, err)
	}
	return ""
}
