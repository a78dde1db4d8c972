package compose

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A subAction is one write through a store, and through the memory.
type subAction struct {
	name  string
	apply func(m *subMemory) error
	run   func(m *subModel) model.Change[any]
}

func storeAction[D any](
	name string, apply func(m *subMemory) error, run func(m *subModel) model.Change[model.Stored[D]],
) subAction {
	return subAction{name, apply, func(m *subModel) model.Change[any] { return run(m).Change() }}
}

func upTo3(r *rand.Rand) *int64 {
	if id := ref(r); id != nil && *id <= 3 {
		return id
	}
	return nil
}

func drawNote(r *rand.Rand) subNote {
	n := subNote{ID: int64(1 + r.IntN(7)), Post: upTo3(r), Author: upTo3(r), Time: int64(r.IntN(5)), Text: string(rune('a' + r.IntN(3)))}
	if r.IntN(2) == 0 {
		n.Memo = n.Text
	}
	return n
}

func (m *subMemory) draw(r *rand.Rand) subAction {
	n, id := drawNote(r), int64(1+r.IntN(3))
	told := func(n subNote) string {
		return fmt.Sprintf("%d of post %s, author %s, %d %s", n.ID, at(n.Post), at(n.Author), n.Time, n.Text)
	}
	post := subPost{ID: id, Title: n.Text, Notes: someIDs(r)}
	type notes = model.Change[model.Stored[subNote]]
	switch r.IntN(12) {
	case 0, 1:
		return storeAction("notes.Insert "+told(n), func(m *subMemory) error { return m.putNote(n, false) },
			func(m *subModel) notes { return m.notes.Insert(n) })
	case 2, 3:
		list := []subNote{n, drawNote(r), drawNote(r)}
		list[1].Post, list[1].ID, list[2].ID = n.Post, 1+n.ID%7, 1+(n.ID+1)%7
		for i := range list {
			list[i].Memo = fmt.Sprint(r.Uint32()) // an equal stored note would count as inserted by an earlier run
		}
		apply := func(m *subMemory) error {
			var errs []error
			for _, n := range list {
				errs = append(errs, m.putNote(n, false))
			}
			return errors.Join(errs...)
		}
		return storeAction(fmt.Sprintf("notes.InsertMany %s; %s; %s", told(list[0]), told(list[1]), told(list[2])), apply,
			func(m *subModel) notes { return m.notes.InsertMany(list...) })
	case 4, 5, 6:
		return storeAction("notes.Edit "+told(n), func(m *subMemory) error { return m.putNote(n, true) },
			func(m *subModel) notes {
				return m.notes.Edit(n.ID, func(d *subNote) error { *d = n; return nil })
			})
	case 7, 8:
		return storeAction(fmt.Sprintf("notes.Delete %d", n.ID), func(m *subMemory) error {
			if _, there := m.notes[n.ID]; !there {
				return model.ErrNotFound
			}
			delete(m.notes, n.ID)
			return nil
		}, func(m *subModel) notes { return m.notes.Delete(n.ID) })
	case 9:
		if r.IntN(2) == 0 {
			return storeAction(fmt.Sprintf("posts.Delete %d", id), func(m *subMemory) error { return m.deletePost(id) },
				func(m *subModel) model.Change[model.Stored[subPost]] { return m.posts.Delete(id) })
		}
		return storeAction(fmt.Sprintf("posts.Replace %+v", post), func(m *subMemory) error { return m.putPost(post, true) },
			func(m *subModel) model.Change[model.Stored[subPost]] { return m.posts.Replace(post) })
	case 10:
		return storeAction(fmt.Sprintf("authors.Delete %d", id), func(m *subMemory) error { return m.deleteAuthor(id) },
			func(m *subModel) model.Change[model.Stored[subAuthor]] { return m.authors.Delete(id) })
	}
	if _, there := m.posts[id]; there {
		a := subAuthor{ID: id, Name: n.Text}
		return storeAction(fmt.Sprintf("authors.Insert %d", id), func(m *subMemory) error {
			if _, there := m.authors[id]; there {
				return model.ErrTaken
			}
			m.authors[id] = a
			return nil
		}, func(m *subModel) model.Change[model.Stored[subAuthor]] { return m.authors.Insert(a) })
	}
	return storeAction(fmt.Sprintf("posts.Insert %+v", post), func(m *subMemory) error { return m.putPost(post, false) },
		func(m *subModel) model.Change[model.Stored[subPost]] { return m.posts.Insert(post) })
}

// seeded returns the memory and the actions that store two posts, two authors and some notes.
func (m *subModel) seeded(r *rand.Rand) (*subMemory, []subAction) {
	memory := &subMemory{m, map[int64]subPost{}, map[int64]subNote{}, map[int64]subAuthor{}}
	var list []subAction
	for id := int64(1); id < 3; id++ {
		post, author := subPost{ID: id, Title: "t"}, subAuthor{ID: id, Name: "n"}
		memory.posts[id], memory.authors[id] = post, author
		list = append(list, subAction{run: func(m *subModel) model.Change[any] { return m.posts.Insert(post).Change() }},
			subAction{run: func(m *subModel) model.Change[any] { return m.authors.Insert(author).Change() }})
	}
	for range 8 {
		if a := memory.draw(r); a.apply(memory.clone()) == nil {
			_ = a.apply(memory)
			list = append(list, a)
		}
	}
	return memory, list
}

// Random models whose parents hold their first children, as in TestStoreModels.
func TestStoreSubsets(t *testing.T) {
	t.Parallel()
	models := 100
	if full {
		models = 5000
	}
	client := modeltest.NewClient(t)
	for seed := range models {
		if subStory(t, client, uint64(seed)); t.Failed() {
			return
		}
	}
}

func subStory(t *testing.T, client *mongo.Client, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	m := drawSub(r)
	db := client.Database(fmt.Sprintf("subset%d", seed))
	defer func() { _ = db.Drop(context.Background()) }()
	on, err := m.handle(t.Context(), db)
	if err == nil {
		err = m.model.Indexes().Ensure(t.Context(), on)
	}
	memory, before := m.seeded(r)
	var story []string
	for _, a := range before {
		story = append(story, a.name)
		err = errors.Join(err, last(a.run(m).Run(t.Context(), on)))
	}
	if err != nil {
		t.Errorf("seed %d, %s\n%s: %v", seed, m, strings.Join(story, "\n\t"), err)
		return
	}
	for range 14 {
		a := memory.draw(r)
		story = append(story, a.name)
		want := memory.clone()
		wantErr := a.apply(want)
		problem := sameError(last(a.run(m).Run(t.Context(), on)), wantErr)
		if wantErr == nil {
			memory = want
		}
		if problem == "" {
			problem = memory.differs(t.Context(), on)
		}
		if problem != "" {
			t.Errorf("seed %d, %s, after\n\t%s\n%s", seed, m, strings.Join(story, "\n\t"), problem)
			return
		}
	}
}

// Two random actions meet, as in TestStoreModelsMeet.
func TestStoreSubsetsMeet(t *testing.T) {
	t.Parallel()
	models := 20
	if full {
		models = 1000
	}
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 12))
		m := drawSub(r)
		memory, before := m.seeded(r)
		a, b := memory.draw(r), memory.draw(r)
		for b.name == a.name {
			b = memory.draw(r)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { m.meet(t, memory, before, a, b) })
	}
}

func (m *subModel) meet(t *testing.T, memory *subMemory, before []subAction, a, b subAction) {
	run := func(list ...subAction) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			on, err := m.handle(ctx, db)
			for _, a := range list {
				if err == nil {
					err = last(a.run(m).Run(ctx, on))
				}
			}
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Nested: true, Sample: 1, A: run(a), B: run(b),
		Seed: func(ctx context.Context, db *mongo.Database) error {
			on, err := m.handle(ctx, db)
			if err == nil {
				err = m.model.Indexes().Ensure(ctx, on)
			}
			return errors.Join(err, run(before...)(ctx, db))
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			on, err := m.handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, order := range [][]subAction{{a, b}, {b, a}} {
				now, errs := memory.clone(), map[string]error{}
				for _, x := range order {
					next := now.clone()
					if errs[x.name] = x.apply(next); errs[x.name] == nil {
						now = next
					}
				}
				problem := now.differs(t.Context(), on)
				if problem == "" && sameError(errA, errs[a.name]) == "" && sameError(errB, errs[b.name]) == "" {
					return
				}
				problems = append(problems, fmt.Sprintf("%s, then %s: %s", order[0].name, order[1].name, problem))
			}
			t.Errorf("%s: A %s (%v), B %s (%v); it is as after no order:\n%s", m, a.name, errA, b.name, errB, strings.Join(problems, "\n"))
		},
	})
}
