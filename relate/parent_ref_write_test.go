package relate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// of is one entry of a server; "" is none.
func of(server string) docs { return docs{"entries": {entry{1, server, at(1)}}} }

func TestParentRefWrites(t *testing.T) {
	parallel(t)
	null := docs{"entries": {bson.D{{Key: "_id", Value: 1}, {Key: "server", Value: nil}, {Key: "at", Value: at(1)}}}}
	some := func(servers ...string) docs {
		var list []any
		for i, s := range servers {
			list = append(list, entry{i + 1, s, at(i)})
		}
		return docs{"entries": list}
	}
	runWriteCases(t, []writeCase{
		{reason: "moved", before: of("a"), plan: one(writes.Move(1, "a", "b")), after: of("b"), status: model.Applied, again: model.Already},
		{reason: "to where it is", before: of("a"), plan: one(writes.Move(1, "a", "a")), status: model.Applied, again: model.Applied},
		{reason: "somebody else moved it to a third", before: of("c"), plan: one(writes.Move(1, "a", "b")), err: model.ErrStale},
		{reason: "somebody else moved it to the same", before: of("b"), plan: one(writes.Move(1, "a", "b")), status: model.Already, again: model.Already},
		{reason: "it has none to be moved from", before: of(""), plan: one(writes.Move(1, "a", "b")), err: model.ErrStale},
		{reason: "it is gone", before: docs{"entries": {}}, plan: one(writes.Move(1, "a", "b")), err: model.ErrStale},
		{reason: "from no id", before: of("a"), plan: one(writes.Move(1, "", "b")), err: errRefused},
		{reason: "to no id", before: of("a"), plan: one(writes.Move(1, "a", "")), err: errRefused},

		{reason: "detached", before: of("a"), plan: one(writes.Detach(1, "a")), after: of(""), status: model.Applied, again: model.Already},
		{reason: "moved before it could be detached", before: of("c"), plan: one(writes.Detach(1, "a")), err: model.ErrStale},
		{reason: "gone before it could be detached", before: docs{"entries": {}}, plan: one(writes.Detach(1, "a")), err: model.ErrStale},
		{reason: "detached from no id", before: of("a"), plan: one(writes.Detach(1, "")), err: errRefused},

		{reason: "attached", before: of(""), plan: one(writes.Attach(1, "a")), after: of("a"), status: model.Applied, again: model.Already},
		{reason: "attached where null is stored", before: null, plan: one(writes.Attach(1, "a")), after: of("a"), status: model.Applied, again: model.Already},
		{reason: "attached elsewhere before", before: of("c"), plan: one(writes.Attach(1, "a")), err: model.ErrStale},
		{reason: "gone before it could be attached", before: docs{"entries": {}}, plan: one(writes.Attach(1, "a")), err: model.ErrStale},
		{reason: "attached to no id", before: of(""), plan: one(writes.Attach(1, "")), err: errRefused},

		{reason: "every child of one parent, and no other", before: some("a", "b", "a", ""), plan: one(writes.MoveAll("a", "z")),
			after: some("z", "b", "z", ""), status: model.Applied, again: model.Applied},
		{reason: "of a parent without children", before: some("b"), plan: one(writes.MoveAll("a", "z")), status: model.Applied, again: model.Applied},
		{reason: "all from no id", before: some("a"), plan: one(writes.MoveAll("", "z")), err: errRefused},
		{reason: "all to no id", before: some("a"), plan: one(writes.MoveAll("a", "")), err: errRefused},
	})
}

// Every write, cut and run again, ends right.
func TestParentRefFaults(t *testing.T) {
	parallel(t)
	three := func(a, b, c string) docs {
		return docs{"entries": {entry{1, a, at(1)}, entry{2, b, at(2)}, entry{3, c, at(3)}}}
	}
	before := three("a", "a", "")
	faults(t, []faultCase{
		{"Move", before, one(writes.Move(1, "a", "b")), three("b", "a", "")},
		{"Detach", before, one(writes.Detach(1, "a")), three("", "a", "")},
		{"Attach", before, one(writes.Attach(3, "a")), three("a", "a", "a")},
		{"MoveAll", before, one(writes.MoveAll("a", "b")), three("b", "b", "")},
		{"a child from one parent to another, and the rest after it",
			before, model.NewPlan(writes.Move(1, "a", "b"), writes.Attach(3, "b"), writes.MoveAll("a", "c")), three("b", "c", "b")},
	})
}

// Two that move one child at once: one is told, and the child is where the other put it.
func TestParentRefMoveMeetsMove(t *testing.T) {
	parallel(t)
	move := func(to string) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := writes.Move(1, "a", to).Run(ctx, db)
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, of("a")) },
		A:    move("b"),
		B:    move("c"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			want := of("b")
			if errA != nil {
				want = of("c")
			}
			if (errA == nil) == (errB == nil) || !errors.Is(errors.Join(errA, errB), model.ErrStale) {
				t.Errorf("errors %v and %v, want one ErrStale", errA, errB)
			}
			wantDocs(t, db, want)
		},
	})
}

// A move that read and decides again after a race moves what is there then.
func TestParentRefMoveInChange(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, of("a"))
		reads := 0
		change := model.Change[entry]{
			Read: func(ctx context.Context, db *mongo.Database) (entry, error) {
				e, err := entries.ByID(1).One(ctx, db)
				if reads++; reads == 1 && err == nil {
					_, err = writes.Move(1, "a", "c").Run(ctx, db) // somebody else, in between
				}
				return e, err
			},
			Decide: func(e entry) (model.Plan, error) {
				id, _ := writes.ParentID(&e)
				return one(writes.Move(e.ID, id, "b")), nil
			},
		}
		if _, _, err := change.Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantDocs(t, db, of("b"))
		if reads != 2 {
			t.Errorf("read %d times, want twice", reads)
		}
	})
}
