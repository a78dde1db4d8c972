package runctx_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/runctx"
)

// A request that is sent again with its token gives its actions the tokens that they had, by their names and order.
func TestActionTokens(t *testing.T) {
	request := bson.NewObjectID()
	run := func(actions ...string) (tokens []bson.ObjectID) {
		ctx := runctx.WithToken(t.Context(), request)
		for _, name := range actions {
			action := runctx.BeginAction(ctx, name, new(int))
			if !runctx.IsNamed(action) {
				t.Errorf("%s has a token of its own", name)
			}
			tokens = append(tokens, runctx.Token(action))
		}
		return tokens
	}
	first, again := run("insert", "insert", "delete"), run("insert", "delete", "insert")
	if first[0] != again[0] || first[1] != again[2] || first[2] != again[1] {
		t.Errorf("tokens %v became %v", first, again)
	}
	if first[0] == first[1] || first[0] == first[2] || first[0].Timestamp() != request.Timestamp() {
		t.Errorf("tokens %v of %v", first, request)
	}
}

// An action that runs again is the same action; another one within it has a token of its own.
func TestActionWithin(t *testing.T) {
	outer, inner := new(int), new(int)
	ctx := runctx.BeginAction(t.Context(), "insert", outer)
	if runctx.IsNamed(ctx) || runctx.Token(ctx).IsZero() || runctx.ActionTime(ctx).IsZero() {
		t.Error("an action without a request's token")
	}
	if again := runctx.BeginAction(ctx, "insert", outer); again != ctx {
		t.Error("the same action began twice")
	}
	if other := runctx.BeginAction(ctx, "insert", inner); runctx.Token(other) == runctx.Token(ctx) {
		t.Error("two actions have one token")
	}
	runctx.ActionOf(ctx).NoteBegun(bson.ObjectID{1}, bson.Raw{5, 0, 0, 0, 0})
	if got := runctx.ActionOf(ctx).BegunWith(bson.ObjectID{1}); len(got) != 5 {
		t.Errorf("an attempt began with %v", got)
	}
}

// Without an action, or a context, nothing is known, and nothing panics.
func TestNoAction(t *testing.T) {
	for _, ctx := range []context.Context{nil, t.Context()} {
		a := runctx.ActionOf(ctx)
		a.NoteBegun(bson.ObjectID{1}, nil)
		if a.BegunWith(bson.ObjectID{1}) != nil || !runctx.Token(ctx).IsZero() || runctx.IsNamed(ctx) ||
			!runctx.ActionTime(ctx).IsZero() || runctx.Decides(ctx) || runctx.Lasts(ctx) || runctx.Fence(ctx) != 0 ||
			runctx.InTransaction(ctx) || runctx.Hope(ctx) {
			t.Errorf("%v has an action", ctx)
		}
	}
}
