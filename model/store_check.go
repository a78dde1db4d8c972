package model

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (s *store) collection() *core.Docs { return s.docs }

// reactedCollections returns the collections in which techniques react with other writes.
func (s *store) reactedCollections() (out []string) {
	for _, r := range s.reactions {
		if r.React != nil {
			out = appendNew(out, r.Collection)
		}
	}
	return out
}

// unfinishedQuery returns the filter of a collection's documents that tell of an unfinished
// action, and the projection to when it began.
func (s *store) unfinishedQuery(collection string) (filter, began bson.D) {
	path := s.fieldOf(collection).Action()
	return bson.D{{Key: path, Value: bson.D{{Key: "$exists", Value: true}}}}, bson.D{{Key: path + ".at", Value: 1}}
}

// begunAt returns when the unfinished action of a document began.
func (s *store) begunAt(collection string, doc bson.Raw) (time.Time, bool) {
	action, _ := s.fieldOf(collection).ActionIn(doc)
	return action.Lookup("at").TimeOK()
}

// unfinishedCheck finds the unfinished actions of a collection, and mends by finishing them.
func (s *store) unfinishedCheck(collection string) Check {
	filter, began := s.unfinishedQuery(collection)
	return Check{
		Name: collection + "." + s.fieldOf(collection).Action() + ": unfinished actions", Collection: collection,
		technique: "model.Store", Rule: "a store's action outside transactions is finished within a minute", Age: time.Minute,
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: filter}}, {{Key: "$project", Value: began}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		},
		Tell: func(f *Finding) error {
			at, _ := s.begunAt(collection, f.Detail)
			f.ID, f.Since = f.Detail.Lookup("_id"), at
			f.Problem = "an action of a store was begun, but isn't finished"
			return nil
		},
		MendAll: func(ctx context.Context, db DB, age time.Duration) (Result, error) {
			return s.finishAll(ctx, db, collection, age)
		},
	}
}

// finishAll finishes the actions of a collection that were begun before an age.
func (s *store) finishAll(ctx context.Context, db DB, collection string, age time.Duration) (all Result, err error) {
	filter, began := s.unfinishedQuery(collection)
	q := Query{
		Collection: collection, Filter: filter, Projection: began,
		Keyed: s.keyed[collection], Deleted: true,
	}
	limit := time.Now().Add(-age)
	for doc, err := range (&Find[bson.Raw]{Query: q}).Each(ctx, db) {
		if err != nil {
			return all, err
		}
		if at, ok := s.begunAt(collection, doc); ok && age > 0 && at.After(limit) {
			continue
		}
		_, result, err := s.finishOne(collection, bsonval.Clone(doc.Lookup("_id"))).Run(ctx, db)
		all = all.followedBy(result)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// finishOne returns the change that finishes the unfinished action of a document.
func (s *store) finishOne(collection string, id bson.RawValue) ChangeOf[storeState] {
	name := fmt.Sprintf("store %s: finish", collection)
	return ChangeOf[storeState]{
		Name: name, Attempts: 100, action: &action{name + " " + shell(id)}, alone: true,
		again: func(out storeState) bool { return out.again },
		Read: func(ctx context.Context, db DB) (storeState, error) {
			find := Find[bson.Raw]{Query: Query{
				Collection: collection, Filter: bson.D{{Key: "_id", Value: mql.Eq(id)}}, Index: IDIndex,
				Keyed: s.keyed[collection], Deleted: true,
			}}
			docs, err := find.All(runctx.Deciding(ctx), db)
			if err != nil || len(docs) == 0 {
				return storeState{applied: true}, err
			}
			u, is, err := readUnfinished(s.fieldOf(collection), docs[0])
			if err != nil || !is {
				return storeState{applied: true}, err
			}
			return s.finishOther(ctx, db, &unfinishedError{collection, docs[0], u})
		},
		Decide: func(out storeState) (Plan, error) { return s.plan(out), nil },
	}
}
