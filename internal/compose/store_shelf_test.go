package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A shelf draws the actions of one store of a memory.
type shelf[M memory[M], D any, K cmp.Ordered] struct {
	name    string
	store   func(m M) *model.Store[D, K]
	docs    func(m M) map[K]D
	id      func(doc D) K
	put     func(m M, token bson.ObjectID, doc D, update bool) error // inserts or updates a document in the memory
	drop    func(m M, id K) error
	keep    func(m M, stored, doc D) D     // returns doc with the stored values that a replacement keeps; nil for doc
	refuse  func(m M, stored, doc D) error // the error of a replacement; nil for none
	version string                         // the field that a replacement must have as it is stored, or ""
	clash   func(m M, a, b D) error        // the error of two documents that exclude each other; nil for none
	unique  []string                       // the fields of a unique index, whose values EnsureOne asks for; nil for none
	random  func(r *rand.Rand) D
	changes [][]string // each lists the fields that an update sets together
}

// draw returns a random action.
func (s shelf[M, D, K]) draw(r *rand.Rand) action[M] {
	doc, paths := s.random(r), s.changes[r.IntN(len(s.changes))]
	switch id := s.id(doc); r.IntN(12) {
	case 0, 1, 2:
		return s.insert(doc)
	case 3:
		return s.insertMany(doc, s.random(r))
	case 4:
		if s.unique != nil && r.IntN(2) == 0 {
			return s.ensureOne(doc)
		}
		return s.ensure(doc)
	case 5:
		return s.replace(doc, r.IntN(2) == 0)
	case 6, 7:
		return s.set(id, doc, paths)
	case 8, 9, 10:
		return s.edit(id, doc, paths)
	default:
		return s.remove(id)
	}
}

// act returns an action through the store.
func (s shelf[M, D, K]) act(
	name string, apply func(m M, token bson.ObjectID) error,
	change func(*model.Store[D, K]) model.ChangeOf[model.Stored[D]],
) action[M] {
	return action[M]{name: s.name + "." + name, apply: apply, run: func(ctx context.Context, on model.DB, m M) error {
		_, _, err := change(s.store(m)).Run(ctx, on)
		return err
	}}
}

// tokenOf returns the token of a store's write of a document, in an action of a verb that a client's token names.
func (s shelf[M, D, K]) tokenOf(token bson.ObjectID, verb string, first, id K) bson.ObjectID {
	raw := func(id K) bson.RawValue {
		kind, value, err := bson.MarshalValue(id)
		if err != nil {
			panic(err)
		}
		return bson.RawValue{Type: kind, Value: value}
	}
	action := runctx.DeriveToken(token, fmt.Sprintf("0 store %s: %s %s", s.name, verb, model.Shell(raw(first))))
	return runctx.DeriveToken(action, s.name+" "+bsonval.Key(raw(id)))
}

func (s shelf[M, D, K]) insert(doc D) action[M] {
	return s.act(fmt.Sprintf("Insert(%s)", shown(doc)),
		func(m M, token bson.ObjectID) error {
			return s.put(m, s.tokenOf(token, "insert", s.id(doc), s.id(doc)), doc, false)
		},
		func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] { return st.Insert(doc) })
}

func (s shelf[M, D, K]) insertMany(docs ...D) action[M] {
	return s.act(fmt.Sprintf("InsertMany(%s, %s)", shown(docs[0]), shown(docs[1])),
		func(m M, token bson.ObjectID) error { return s.putMany(m, token, docs) },
		func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] { return st.InsertMany(docs...) })
}

// putMany inserts two documents in the memory. Outside transactions, the first stays stored if the _id of the second is
// taken. It isn't drawn if an equal document is stored, because the store takes it for an earlier run's.
func (s shelf[M, D, K]) putMany(m M, token bson.ObjectID, docs []D) error {
	own := func(doc D) bson.ObjectID { return s.tokenOf(token, "insert many", s.id(docs[0]), s.id(doc)) }
	for _, doc := range docs {
		if stored, there := s.docs(m)[s.id(doc)]; there {
			again := m.clone()
			delete(s.docs(again), s.id(doc))
			if s.put(again, own(doc), doc, false) == nil && reflect.DeepEqual(s.docs(again)[s.id(doc)], stored) {
				return errUndrawn
			}
		}
	}
	first, clash := s.put(m, own(docs[0]), docs[0], false), error(nil)
	if s.clash != nil {
		clash = s.clash(m, docs[0], docs[1])
	}
	if first == nil && clash != nil && !m.self().tx && s.id(docs[0]) != s.id(docs[1]) {
		if err := s.put(m.clone(), own(docs[1]), docs[1], false); err != nil && !isOnly(err, model.ErrTaken) {
			return err
		}
		return errors.Join(clash, errPartly)
	}
	second := errors.Join(s.put(m, own(docs[1]), docs[1], false), clash)
	switch same := s.id(docs[0]) == s.id(docs[1]); {
	case same:
		return errors.Join(first, second, model.ErrTaken)
	case first == nil && isOnly(second, model.ErrTaken) && !m.self().tx:
		return errors.Join(second, errPartly)
	}
	return errors.Join(first, second)
}

func (s shelf[M, D, K]) ensure(doc D) action[M] {
	return s.act(fmt.Sprintf("Ensure(%s)", shown(doc)),
		func(m M, token bson.ObjectID) error {
			_, there := s.docs(m)[s.id(doc)]
			err := s.put(m, s.tokenOf(token, "ensure", s.id(doc), s.id(doc)), doc, false)
			if there && !errors.Is(err, errUndrawn) {
				return nil
			}
			return err
		},
		func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] { return st.Ensure(doc) })
}

// ensureOne returns the insert of a document unless one with the values of the unique index is stored.
func (s shelf[M, D, K]) ensureOne(doc D) action[M] {
	filter := fieldsOf(doc, s.unique)
	return s.act(fmt.Sprintf("EnsureOne(%s, %s)", shownFields(filter), shown(doc)),
		func(m M, token bson.ObjectID) error {
			there := false
			for _, stored := range s.docs(m) {
				there = there || reflect.DeepEqual(fieldsOf(stored, s.unique), filter)
			}
			err := s.put(m.clone(), token, doc, false)
			if there && !errors.Is(err, errUndrawn) {
				return nil
			}
			return s.put(m, token, doc, false)
		},
		func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] { return st.EnsureOne(filter, doc) })
}

// replace returns a replacement. With asRead the document has the stored version, which another action can change
// meanwhile.
func (s shelf[M, D, K]) replace(doc D, asRead bool) action[M] {
	asRead = asRead && s.version != ""
	versioned := func(m M) D {
		if stored, there := s.docs(m)[s.id(doc)]; there && asRead {
			return withPaths(doc, stored, []string{s.version})
		}
		return doc
	}
	return action[M]{
		name: fmt.Sprintf("%s.Replace(%s), version as read %v", s.name, shown(doc), asRead), isLong: asRead,
		apply: func(m M, token bson.ObjectID) error {
			now, own := versioned(m), s.tokenOf(token, "replace", s.id(doc), s.id(doc))
			stored, there := s.docs(m)[s.id(doc)]
			if there && s.keep != nil {
				now = s.keep(m, stored, now)
			}
			if there && s.refuse != nil {
				if err := s.refuse(m, stored, now); err != nil {
					return errors.Join(err, s.put(m.clone(), own, now, true))
				}
			}
			return s.put(m, own, now, true)
		},
		run: func(ctx context.Context, on model.DB, m M) error {
			_, _, err := s.store(m).Replace(versioned(m)).Run(ctx, on)
			return err
		},
	}
}

func (s shelf[M, D, K]) set(id K, from D, paths []string) action[M] {
	fields := fieldsOf(from, paths)
	return s.act(fmt.Sprintf("Set(%v, %s)", id, shownFields(fields)), s.update("set", id, from, paths),
		func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] { return st.Set(id, fields) })
}

func (s shelf[M, D, K]) edit(id K, from D, paths []string) action[M] {
	return s.act(fmt.Sprintf("Edit(%v, %s)", id, shownFields(fieldsOf(from, paths))), s.update("edit", id, from, paths),
		func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] {
			return st.Edit(id, func(doc *D) error { *doc = withPaths(*doc, from, paths); return nil })
		})
}

// update returns the update of a document in the memory.
func (s shelf[M, D, K]) update(verb string, id K, from D, paths []string) func(m M, token bson.ObjectID) error {
	return func(m M, token bson.ObjectID) error {
		stored, there := s.docs(m)[id]
		if !there {
			return model.ErrNotFound
		}
		return s.put(m, s.tokenOf(token, verb, id, id), withPaths(stored, from, paths), true)
	}
}

func (s shelf[M, D, K]) remove(id K) action[M] {
	return s.act(fmt.Sprintf("Delete(%v)", id), func(m M, _ bson.ObjectID) error {
		if _, there := s.docs(m)[id]; !there {
			return model.ErrNotFound
		}
		return s.drop(m, id)
	}, func(st *model.Store[D, K]) model.ChangeOf[model.Stored[D]] { return st.Delete(id) })
}

// putError returns the error of an insert or an update of a document that is there or not.
func putError(there, update bool) error {
	switch {
	case update && !there:
		return model.ErrNotFound
	case there && !update:
		return model.ErrTaken
	}
	return nil
}

func encode(doc any) bson.Raw {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}

func shown(doc any) string {
	return model.Shell(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: encode(doc)})
}

func shownFields(fields bson.D) string {
	var out []string
	for _, e := range fields {
		if v := e.Value.(bson.RawValue); v.Type == 0 {
			out = append(out, "no "+e.Key)
		} else {
			out = append(out, e.Key+": "+model.Shell(v))
		}
	}
	return strings.Join(out, ", ")
}

// fieldsOf returns fields of a document as Store.Set takes them.
func fieldsOf(doc any, paths []string) (out bson.D) {
	raw := encode(doc)
	for _, path := range paths {
		out = append(out, bson.E{Key: path, Value: raw.Lookup(path)})
	}
	return out
}

// withPaths returns a document with fields of another one.
func withPaths[D any](doc, from D, paths []string) D {
	to, other := reflect.ValueOf(&doc).Elem(), reflect.ValueOf(from)
	for i := range to.NumField() {
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("bson"), ",")
		if slices.Contains(paths, name) {
			to.Field(i).Set(other.Field(i))
		}
	}
	return doc
}

// docsDiffer describes how the documents of a collection differ from the wanted ones, compared in a normal form.
func docsDiffer[D any, K cmp.Ordered](
	ctx context.Context, on model.DB, docs *model.Collection[D, K], want map[K]D, id func(D) K, normal func(D) D,
) string {
	got, err := docs.Find(nil).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	for i, doc := range got {
		got[i] = normal(doc)
	}
	byID := func(a, b D) int { return cmp.Compare(id(a), id(b)) }
	slices.SortFunc(got, byID)
	wanted := slices.SortedFunc(maps.Values(want), byID)
	for i, doc := range wanted {
		wanted[i] = normal(doc)
	}
	if len(got) == 0 && len(wanted) == 0 {
		return ""
	}
	if problem := mongotest.Diff(wanted, got); problem != "" {
		return docs.Name() + ": " + problem
	}
	return ""
}

// linesDiffer compares documents of a collection, each as a line, with the wanted lines.
func linesDiffer(
	ctx context.Context, on model.DB, collection string, want []string, line func(doc bson.Raw) string,
) string {
	docs, err := (&model.Find[bson.Raw]{Query: model.Query{Collection: collection}}).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	var got []string
	for _, doc := range docs {
		got = append(got, line(doc))
	}
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		return fmt.Sprintf("%s has %q, want %q", collection, got, want)
	}
	return ""
}
