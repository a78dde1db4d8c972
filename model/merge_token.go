package model

import (
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// sharedToken returns the token that belongs to all writes: each update contains it, and
// the Done of at least one write looks for it. It returns zero if there is no such token.
func sharedToken(writes []Write, updates []bson.D) (none bson.ObjectID) {
	for i := range writes {
		for _, t := range tokensIn(writes[i].Done) {
			all := true
			for _, u := range updates {
				all = all && carries(u, t)
			}
			if all {
				return t
			}
		}
	}
	return none
}

// tokensIn returns the tokens that a Done condition looks for. They are the ObjectIDs
// that a field other than _id must equal or contain.
func tokensIn(done bson.D) (out []bson.ObjectID) {
	if core.CheckDepth(done) != nil {
		return nil // refused when it is encoded
	}
	return tokensWithin(done)
}

func tokensWithin(done bson.D) (out []bson.ObjectID) {
	for _, e := range done {
		switch v := e.Value.(type) {
		case bson.A:
			for _, f := range v {
				if f, ok := f.(bson.D); ok && e.Key == "$and" {
					out = append(out, tokensWithin(f)...)
				}
			}
		case bson.D:
			if len(v) != 1 || e.Key == "_id" {
				continue
			}
			list, _ := v[0].Value.(bson.A)
			if v[0].Key == "$all" && len(list) == 1 {
				out = appendToken(out, list[0])
			}
			if v[0].Key == "$eq" {
				out = appendToken(out, v[0].Value)
			}
			if inner, ok := v[0].Value.(bson.D); ok && v[0].Key == "$elemMatch" {
				out = append(out, tokensWithin(inner)...)
			}
		default:
			if e.Key != "_id" {
				out = appendToken(out, v)
			}
		}
	}
	return out
}

func appendToken(to []bson.ObjectID, v any) []bson.ObjectID {
	if raw, ok := v.(bson.RawValue); ok {
		if id, ok := raw.ObjectIDOK(); ok {
			v = id
		}
	}
	if id, ok := v.(bson.ObjectID); ok && !id.IsZero() {
		return append(to, id)
	}
	return to
}

// carries reports whether a document contains a token, at any depth.
func carries(doc bson.D, token bson.ObjectID) bool {
	raw, err := (*core.Codec)(nil).Document(doc)
	return err == nil && rawCarries(raw, token)
}

func rawCarries(doc bson.Raw, token bson.ObjectID) bool {
	elems, err := doc.Elements()
	if err != nil {
		return false
	}
	for _, e := range elems {
		switch v := e.Value(); v.Type {
		case bson.TypeObjectID:
			if v.ObjectID() == token {
				return true
			}
		case bson.TypeEmbeddedDocument, bson.TypeArray:
			if rawCarries(bson.Raw(v.Value), token) {
				return true
			}
		}
	}
	return false
}

// untokened returns a filter without the condition that a list doesn't contain the token
// yet.
func (m *merger) untokened(filter bson.D) bson.D {
	if m.token.IsZero() {
		return filter
	}
	out := make(bson.D, 0, len(filter))
	for _, e := range filter {
		if c, ok := e.Value.(bson.D); ok && len(c) == 1 && c[0].Key == "$ne" && c[0].Value == m.token {
			continue
		}
		out = append(out, e)
	}
	return out
}

// prove sets Done and Token of a merged write from the writes with a token. It returns
// false if no write has a token.
func (w *Write) prove(writes []Write) bool {
	var id bson.D
	var any bson.A
	for _, of := range writes {
		if of.Token.IsZero() || of.Done == nil {
			continue
		}
		if i := bsondoc.IndexOfID(of.Done); i >= 0 {
			id = of.Done[i : i+1 : i+1]
		}
		any = append(any, guardOf(of.Done))
		w.Token, w.Idempotent = of.Token, w.Idempotent || of.Idempotent
	}
	switch len(any) {
	case 0:
		return false
	case 1:
		w.Done = bsondoc.JoinFilters(id, any[0].(bson.D))
	default:
		w.Done = bsondoc.JoinFilters(id, bson.D{{Key: "$or", Value: any}})
	}
	return true
}

// known returns the condition that one list still contains the shared token. It returns
// nil if the writes share no token. It also sets out.Once if a write that looks for the
// token has Once.
func (m *merger) known(writes []Write, out *Write) bson.D {
	if m.token.IsZero() {
		return nil
	}
	var id bson.D
	var any bson.A
	for _, w := range writes {
		held := false
		for _, t := range tokensIn(w.Done) {
			held = held || t == m.token
		}
		if !held {
			continue
		}
		if i := bsondoc.IndexOfID(w.Done); i >= 0 {
			id = w.Done[i : i+1 : i+1]
		}
		any = append(any, guardOf(w.Done))
		out.Idempotent = out.Idempotent || w.Idempotent
	}
	if len(any) == 1 {
		return bsondoc.JoinFilters(id, any[0].(bson.D))
	}
	return bsondoc.JoinFilters(id, bson.D{{Key: "$or", Value: any}})
}
