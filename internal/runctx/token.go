package runctx

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	tokenKey  struct{}
	actionKey struct{}
)

// clientToken is the token of a client's request, and the actions of each name that the request began.
type clientToken struct {
	token bson.ObjectID
	mu    sync.Mutex
	begun map[string][]any
}

// number returns how many other actions of the name the request began before this one.
func (c *clientToken) number(name string, action any) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := slices.Index(c.begun[name], action)
	if n < 0 {
		n = len(c.begun[name])
		c.begun[name] = append(c.begun[name], action)
	}
	return n
}

// An Action is one action, which may need several attempts.
type Action struct {
	value any
	token bson.ObjectID
	named bool // the token comes from the request's

	time  time.Time
	began map[bson.ObjectID]bson.Raw // the documents that earlier attempts wrote first, by the tokens of their writes
}

// NoteBegun notes that an attempt of the action wrote a document first, with a token.
func (a *Action) NoteBegun(token bson.ObjectID, doc bson.Raw) {
	if a != nil {
		a.began[token] = doc
	}
}

// BegunWith returns the document that an attempt of the action wrote first, or nil.
func (a *Action) BegunWith(token bson.ObjectID) bson.Raw {
	if a == nil {
		return nil
	}
	return a.began[token]
}

// WithToken returns the context of a request with a token.
func WithToken(ctx context.Context, token bson.ObjectID) context.Context {
	return addValue(ctx, tokenKey{}, &clientToken{token: token, begun: map[string][]any{}})
}

// BeginAction returns the context of an action, with a token of its own. The value is what the caller runs: if it runs
// again with the context, it is the same action. The n-th action of a name in a request has the same token in each run
// of the request. Without a request's token, each run has a new one.
func BeginAction(ctx context.Context, name string, value any) context.Context {
	if a := ActionOf(ctx); a != nil && a.value == value {
		return ctx
	}
	token := bson.NewObjectID()
	c, ok := ctx.Value(tokenKey{}).(*clientToken)
	named := ok && !c.token.IsZero()
	if named {
		token = DeriveToken(c.token, fmt.Sprint(c.number(name, value), " ", name))
	}
	return addValue(ctx, actionKey{}, &Action{
		value: value, token: token, named: named, time: time.Now(), began: map[bson.ObjectID]bson.Raw{},
	})
}

// ActionOf returns the context's action, or nil.
func ActionOf(ctx context.Context) *Action {
	if ctx == nil {
		return nil
	}
	a, _ := ctx.Value(actionKey{}).(*Action)
	return a
}

// Token returns the token of the context's action, or the zero ObjectID.
func Token(ctx context.Context) bson.ObjectID {
	if a := ActionOf(ctx); a != nil {
		return a.token
	}
	return bson.ObjectID{}
}

// IsNamed reports whether a client named the request of the context's action by [WithToken], so that it can come again.
func IsNamed(ctx context.Context) bool {
	a := ActionOf(ctx)
	return a != nil && a.named
}

// ActionTime returns when the context's action began, in whole milliseconds, or the zero time.
func ActionTime(ctx context.Context) time.Time {
	if a := ActionOf(ctx); a != nil {
		return a.time.Truncate(time.Millisecond)
	}
	return time.Time{}
}

// DeriveToken returns the token of a part of what a token names. It has the token's timestamp.
func DeriveToken(token bson.ObjectID, part string) (out bson.ObjectID) {
	sum := sha256.Sum256(append(token[:], part...))
	copy(out[:4], token[:4])
	copy(out[4:], sum[:])
	return out
}
