package modeltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// withStores returns the case with the actions of the model's stores as operations.
func (c VerifyCase) withStores(m *model.Model) VerifyCase {
	s, err := newSamples(m, c.Docs)
	if err != nil {
		panic("modeltest: Verify: " + err.Error())
	}
	stores := s.inOrder(m.Stores())
	except := maps.Clone(c.Except)
	for _, store := range stores {
		for _, o := range s.actions(store) {
			if _, left := except[o.Name]; left {
				delete(except, o.Name)
				continue
			}
			c.Operations = append(c.Operations, o)
		}
	}
	c.Except = except
	if c.Seed == nil {
		c.Seed = func(ctx context.Context, db model.DB) error { return s.seed(ctx, db, stores) }
	}
	if c.Max == 0 {
		c.Max = 4
	}
	return c
}

// seed stores the first documents of each store.
func (s *samples) seed(ctx context.Context, db model.DB, stores []*model.Store[bson.Raw, any]) error {
	for _, store := range stores {
		name := store.Collection().Name()
		for _, doc := range s.docs[name][:sampleSeeds] {
			if _, _, err := store.Insert(doc).Run(ctx, db); err != nil {
				return fmt.Errorf("a sample of %s (give VerifyCase.Docs, or a Seed): %w", name, err)
			}
		}
	}
	return nil
}

// actions returns the actions of a store. Each has a token of its own.
func (s *samples) actions(store *model.Store[bson.Raw, any]) (out []VerifyOperation) {
	name := store.Collection().Name()
	docs := s.docs[name]
	id, err := store.ID(docs[0])
	if err != nil {
		panic(fmt.Sprintf("modeltest: Verify: a sample of %s (give VerifyCase.Docs): %v", name, err))
	}
	add := func(what string, change model.ChangeOf[model.Stored[bson.Raw]]) {
		token := bson.ObjectID{0: 2, 10: byte(len(name)), 11: byte(len(out))}
		copy(token[1:10], name)
		out = append(out, VerifyOperation{
			Name: name + " " + what, ofStore: true, Refused: []error{model.ErrTransactional, model.ErrNotFound, model.ErrTaken},
			Run: func(ctx context.Context, db model.DB) error {
				_, _, err := change.Run(model.WithToken(ctx, token), db)
				return err
			},
		})
	}
	add("insert", store.Insert(docs[3]))
	add("insert many", store.InsertMany(docs[4], docs[5]))
	add("ensure", store.Ensure(docs[3]))
	if plain := s.plain(name, docs[3]); len(plain) > 0 {
		add("set", store.Set(id, plain))
		add("edit", store.Edit(id, func(doc *bson.Raw) error { return setFields(doc, s.plain(name, docs[4])[:1]) }))
		fields := append(s.plain(name, docs[5]), bson.E{Key: "_id", Value: id})
		add("replace", store.Replace(mustSetFields(docs[0], fields)))
	}
	if refs := s.references(name, docs[1]); len(refs) > 0 {
		add("refer", store.Set(id, refs))
	}
	add("delete", store.Delete(id))
	return out
}

// plain returns the top-level fields of a document that no technique writes and that contain
// no reference.
func (s *samples) plain(collection string, doc bson.Raw) (out bson.D) {
	elements, _ := doc.Elements()
	for _, e := range elements {
		own := func(path string) bool { return core.Overlap(path, e.Key()) }
		if e.Key() == "_id" || slices.ContainsFunc(s.owned[collection], own) {
			continue
		}
		refers := false
		for path := range s.refs[collection] {
			refers = refers || own(path)
		}
		if !refers {
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return out
}

// references returns the references of a document.
func (s *samples) references(collection string, doc bson.Raw) (out bson.D) {
	for path := range s.refs[collection] {
		if v := doc.Lookup(strings.Split(path, ".")...); v.Type != 0 {
			out = append(out, bson.E{Key: path, Value: v})
		}
	}
	slices.SortFunc(out, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func setFields(doc *bson.Raw, fields bson.D) (err error) {
	*doc, err = core.SetFields(*doc, fields)
	return err
}

func mustSetFields(doc bson.Raw, fields bson.D) bson.Raw {
	if err := setFields(&doc, fields); err != nil {
		panic(err)
	}
	return doc
}

// accepted returns the operations without those of stores whose samples are refused.
func (w *way) accepted(t *testing.T) (out []VerifyOperation) {
	for _, o := range w.Operations {
		if o.ofStore {
			if err := w.ran(t, o).errs[0]; isInvalid(err) {
				w.leave("%s: it is refused: %v", o.Name, err)
				continue
			}
		}
		out = append(out, o)
	}
	return out
}
