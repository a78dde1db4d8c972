package modeltest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// samples makes the documents of the stores, for [Verify]. The values of a document follow
// from its number, so that two documents share no unique value.
type samples struct {
	refs  map[string]map[string]string // by collection and path: the collection that the path refers to
	owned map[string][]string          // the paths that techniques write, by collection
	given map[string][]any             // documents of the user
	docs  map[string][]bson.Raw
}

// sampleCount is the number of documents of each store. The first sampleSeeds are stored
// before the operations run.
const (
	sampleSeeds = 3
	sampleCount = 6
)

// newSamples makes the documents of all stores, those that others refer to first.
func newSamples(m *model.Model, given map[string][]any) (*samples, error) {
	s := &samples{
		refs: map[string]map[string]string{}, owned: map[string][]string{}, given: given, docs: map[string][]bson.Raw{},
	}
	for _, t := range m.Techniques() {
		for _, r := range t.Relations() {
			if r.ToPath == "_id" && r.FromPath != "_id" {
				if s.refs[r.From] == nil {
					s.refs[r.From] = map[string]string{}
				}
				s.refs[r.From][r.FromPath] = r.To
			}
		}
		for _, f := range t.Footprints() {
			if (f.Use == model.Owns || f.Use == model.Guards) && f.Path != model.Whole {
				s.owned[f.Collection] = append(s.owned[f.Collection], f.Path)
			}
		}
	}
	for _, store := range s.inOrder(m.Stores()) {
		docs := store.Collection().Docs()
		for n := range sampleCount {
			doc, err := s.doc(docs, n, true)
			if _, refused := store.ID(doc); err == nil && refused != nil { // a technique may make the _id
				doc, err = s.doc(docs, n, false)
			}
			if err != nil {
				return nil, fmt.Errorf("a sample of %s: %w", docs.Name(), err)
			}
			s.docs[docs.Name()] = append(s.docs[docs.Name()], doc)
		}
	}
	return s, nil
}

// inOrder sorts stores so that the documents of a reference come before the documents that
// refer to them, except in a circle.
func (s *samples) inOrder(stores []*model.Store[bson.Raw, any]) (out []*model.Store[bson.Raw, any]) {
	begun := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		i := slices.IndexFunc(stores, func(x *model.Store[bson.Raw, any]) bool { return x.Collection().Name() == name })
		if i < 0 || begun[name] {
			return
		}
		begun[name] = true
		for _, to := range s.refs[name] {
			visit(to)
		}
		out = append(out, stores[i])
	}
	for _, x := range stores {
		visit(x.Collection().Name())
	}
	return out
}

// doc returns the n-th document of a collection, with an _id or without one.
func (s *samples) doc(docs *core.Docs, n int, named bool) (bson.Raw, error) {
	if given := s.given[docs.Name()]; n < len(given) {
		return docs.Document(given[n])
	}
	shape := docs.Shape()
	if shape.Kind != core.DocumentShape {
		return docs.Document(bson.D{{Key: "_id", Value: fmt.Sprint(docs.Name(), " ", n)}})
	}
	v := reflect.New(shape.Type)
	if err := s.fill(v.Elem(), shape, place{collection: docs.Name(), n: n, named: named}); err != nil {
		return nil, err
	}
	return docs.Document(v.Interface())
}

// A place is a path of the n-th document of a collection.
type place struct {
	collection, path string
	n                int
	named            bool // the document gets an _id
}

func (p place) below(name string) place {
	if p.path != "" {
		name = p.path + "." + name
	}
	p.path = name
	return p
}

// fill fills a value of a document, except what techniques write and what can be left out.
func (s *samples) fill(v reflect.Value, shape core.Shape, at place) error {
	to, refers := s.refs[at.collection][at.path]
	switch {
	case slices.Contains(s.owned[at.collection], at.path), at.path == "_id" && !at.named, shape.Optional &&
		!refers && at.path != "_id":
		return nil
	case refers && shape.Kind != core.ArrayShape:
		return s.refer(v, to, at)
	}
	for v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch shape.Kind {
	case core.DocumentShape:
		fields, _ := shape.Fields()
		for _, f := range fields {
			if err := s.fill(v.FieldByIndex(f.Index), f, at.below(f.Name)); err != nil {
				return err
			}
		}
	case core.ArrayShape:
		if v.Kind() != reflect.Slice || refers && len(s.docs[to]) == 0 {
			return nil
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return s.fill(v.Index(0), shape.Elem(), at)
	case core.ScalarShape:
		setScalar(v, at)
	}
	return nil
}

// refer sets a reference to a stored document of another collection. Two documents with two
// references don't refer to the same pair.
func (s *samples) refer(v reflect.Value, to string, at place) error {
	docs := s.docs[to]
	if len(docs) == 0 {
		return nil
	}
	which := slices.Index(slices.Sorted(maps.Keys(s.refs[at.collection])), at.path)
	i := (at.n + which*(at.n/sampleSeeds)) % min(len(docs), sampleSeeds)
	return docs[i].Lookup("_id").Unmarshal(v.Addr().Interface())
}

// setScalar gives a scalar the value of its place.
func setScalar(v reflect.Value, at place) {
	n := at.n + 1
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC)
		return
	case *bson.DateTime:
		*x = bson.NewDateTimeFromTime(time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC))
		return
	case *bson.ObjectID:
		*x = bson.ObjectID{0: 1, 10: byte(len(at.collection)), 11: byte(n)}
		copy(x[1:10], at.collection)
		return
	case *bson.Decimal128:
		*x, _ = bson.ParseDecimal128(fmt.Sprint(n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d", at.path, n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Bool:
		v.SetBool(n%2 == 0)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{byte(n)})
		}
	}
}
