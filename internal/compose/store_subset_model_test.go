package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
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
	subPosts   = model.NewCollection[subPost, int64]("posts")
	subNotes   = model.NewCollection[subNote, int64]("notes")
	subAuthors = model.NewCollection[subAuthor, int64]("authors")
)

// A subPick is a technique that a model of notes can have.
type subPick int

const (
	pickRecent subPick = iota
	pickFirst
	pickNotes
	pickPost
	pickNotesTwoWay
	pickAuthorGone
	pickAuthorBlank
	pickPostGone
	pickPostBlank
	subPicks
)

var subNames = [subPicks]string{
	`NewSubset(notes, "post", posts, "recent", {Max: 2, By: {time: -1}, Fields: author, text})`,
	`NewSubset(notes, "post", posts, "first", {Max: 1, By: {text: 1, time: 1}})`,
	`NewCounter(notes, "post", posts, {Count: "n"})`,
	`NewParentRef(notes, "post", posts, {MustExist: true})`,
	`NewTwoWay(posts, "notes", notes, "post")`,
	`NewOnDelete(authors, {Cascade: notes.author})`,
	`NewOnDelete(authors, {Nullify: notes.author})`,
	`NewOnDelete(posts, {Cascade: notes.post})`,
	`NewOnDelete(posts, {Nullify: notes.post})`,
}

func (p subPick) declare() model.Technique {
	author := []relate.Referrer{relate.NewParentRef(subNotes, "author", subAuthors, relate.ParentRefSpec{})}
	post := []relate.Referrer{relate.NewParentRef(subNotes, "post", subPosts, relate.ParentRefSpec{})}
	switch p {
	case pickRecent:
		return denorm.NewSubset(subNotes, "post", subPosts, "recent", denorm.SubsetSpec{
			Max: 2, By: bson.D{{Key: "time", Value: -1}}, Fields: []string{"author", "text"},
		})
	case pickFirst:
		return denorm.NewSubset(subNotes, "post", subPosts, "first", denorm.SubsetSpec{
			Max: 1, By: bson.D{{Key: "text", Value: 1}, {Key: "time", Value: 1}},
		})
	case pickNotes:
		return denorm.NewCounter(subNotes, "post", subPosts, denorm.CounterSpec{Count: "n"})
	case pickPost:
		return relate.NewParentRef(subNotes, "post", subPosts, relate.ParentRefSpec{MustExist: true})
	case pickNotesTwoWay:
		return relate.NewTwoWay(subPosts, "notes", subNotes, "post", relate.TwoWaySpec{})
	case pickAuthorGone:
		return relate.NewOnDelete(subAuthors, relate.OnDeleteSpec{Cascade: author})
	case pickAuthorBlank:
		return relate.NewOnDelete(subAuthors, relate.OnDeleteSpec{Nullify: author})
	case pickPostGone:
		return relate.NewOnDelete(subPosts, relate.OnDeleteSpec{Cascade: post})
	}
	return relate.NewOnDelete(subPosts, relate.OnDeleteSpec{Nullify: post})
}

type subModel struct {
	has     [subPicks]bool
	model   *model.Model
	posts   *model.Store[subPost, int64]
	notes   *model.Store[subNote, int64]
	authors *model.Store[subAuthor, int64]
	scope   bool
}

// drawSub draws a model. A deletion of a post leaves no note of the post.
func drawSub(r *rand.Rand) *subModel {
	list := []subPick{pickRecent, pickFirst, pickAuthorGone + subPick(r.IntN(2))}
	list = slices.Delete(list, 0, r.IntN(2))
	if r.IntN(3) == 0 {
		list = slices.DeleteFunc(list, func(p subPick) bool { return p == pickFirst && len(list) == 3 })
	}
	for p := pickNotes; p <= pickPost; p++ {
		if r.IntN(3) == 0 {
			list = append(list, p)
		}
	}
	if r.IntN(3) == 0 {
		list = append(list, pickNotesTwoWay)
	} else {
		list = append(list, pickPostGone+subPick(r.IntN(2)))
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	m := declareSub(list...)
	m.scope = r.IntN(3) == 0
	return m
}

func declareSub(list ...subPick) *subModel {
	m := &subModel{}
	techniques := []model.Technique{model.Entity(subPosts), model.Entity(subNotes), model.Entity(subAuthors)}
	for _, p := range list {
		m.has[p] = true
		techniques = append(techniques, p.declare())
	}
	m.model = model.New("notes", techniques...)
	m.posts, m.notes = model.NewStore(m.model, subPosts), model.NewStore(m.model, subNotes)
	m.authors = model.NewStore(m.model, subAuthors)
	return m
}

func (m *subModel) String() string {
	var parts []string
	for p, has := range m.has {
		if has {
			parts = append(parts, subNames[p])
		}
	}
	return fmt.Sprintf("scope %v,\n\t%s", m.scope, strings.Join(parts, "\n\t"))
}

func (m *subModel) handle(ctx context.Context, db model.DB) (model.DB, error) {
	return (&linkedModel{model: m.model, tx: true, scope: m.scope}).handle(ctx, db)
}

// subMemory knows which documents are stored.
type subMemory struct {
	m       *subModel
	posts   map[int64]subPost
	notes   map[int64]subNote
	authors map[int64]subAuthor
}

func (m *subMemory) clone() *subMemory {
	return &subMemory{m.m, maps.Clone(m.posts), maps.Clone(m.notes), maps.Clone(m.authors)}
}

// putNote stores a note. old is the stored one.
func (m *subMemory) putNote(n subNote, update bool) error {
	old, there := m.notes[n.ID]
	if update && !there {
		return model.ErrNotFound
	}
	var errs []error // a store returns one of them
	if there != update {
		errs = append(errs, putError(update))
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
func (m *subMemory) putPost(p subPost, update bool) error {
	if _, there := m.posts[p.ID]; there != update {
		return putError(update)
	}
	for id, n := range m.notes {
		listed, own := slices.Contains(p.Notes, id), n.Post != nil && *n.Post == p.ID
		if m.m.has[pickNotesTwoWay] && listed != own {
			if n.Post = nil; listed {
				n.Post = &p.ID
			}
			m.notes[id] = n
		}
	}
	for _, id := range p.Notes {
		if _, is := m.notes[id]; !is && m.m.has[pickNotesTwoWay] {
			return model.ErrNotFound
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
		if n.Post = nil; m.m.has[pickPostGone] {
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
		if n.Author = nil; m.m.has[pickAuthorGone] {
			delete(m.notes, k)
		} else if m.m.has[pickAuthorBlank] {
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
	if m.m.has[pickNotesTwoWay] {
		p.Notes = nil
		for _, n := range own {
			p.Notes = append(p.Notes, n.ID)
		}
	}
	slices.Sort(p.Notes)
	if m.m.has[pickNotes] {
		p.N = int64(len(own))
	}
	if m.m.has[pickRecent] {
		slices.SortFunc(own, func(a, b subNote) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.ID, a.ID)) })
		for _, n := range own[:min(2, len(own))] {
			p.Recent = append(p.Recent, subNote{ID: n.ID, Author: n.Author, Time: n.Time, Text: n.Text})
		}
	}
	if m.m.has[pickFirst] {
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
	if problem := modeltest.Diff(want, all{posts, notes}); problem != "" {
		return problem
	}
	for f, err := range m.m.model.Audit().Each(ctx, on) {
		return fmt.Sprintf("the audit finds %s (%v)", f, err)
	}
	return ""
}
