package runctx

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

type tokenKey struct{}

// WithToken returns the context of an action with a token.
func WithToken(ctx context.Context, token bson.ObjectID) context.Context {
	return with(ctx, tokenKey{}, token)
}

// Token returns the token of the context's action, or the zero ObjectID.
func Token(ctx context.Context) (token bson.ObjectID) {
	if ctx != nil {
		token, _ = ctx.Value(tokenKey{}).(bson.ObjectID)
	}
	return token
}
