package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// shard is the part of a [Shard] without its type parameter.
type shard struct {
	*core.Docs
	key  []shardField
	spec ShardSpec
}

type shardField struct {
	path   string
	hashed bool
}

func declareShard(docs *core.Docs, key bson.D, spec ShardSpec) *shard {
	s := &shard{Docs: docs, spec: spec}
	place := core.Place("NewShard of " + docs.Name())
	if len(key) == 0 {
		place.Fail("the shard key has no fields", "name the fields that queries filter by")
	}
	for _, e := range key {
		f := shardField{path: e.Key, hashed: e.Value == "hashed"}
		if !f.hashed && direction.Parse(e.Value) != 1 {
			place.Fail(fmt.Sprintf("the shard key's field %q has the value %s", e.Key, model.Shell(e.Value)),
				`use 1 for ranges or "hashed": a shard key is not descending`)
		}
		if f.hashed && slices.ContainsFunc(s.key, func(g shardField) bool { return g.hashed }) {
			place.Fail("the shard key has two hashed fields",
				"hash one field: the first for an even spread, or a later field to spread documents with the same first field")
		}
		for _, g := range s.key {
			if core.Overlap(f.path, g.path) {
				place.Fail(fmt.Sprintf("the shard key's fields %q and %q overlap", g.path, f.path),
					"name each field once, and none below another")
			}
		}
		if s.MustField(f.path).Arrays > 0 {
			place.Fail(fmt.Sprintf("the shard key's field %q is in an array", f.path),
				"name a field with a single value in each document")
		}
		if s.spec.Unique && f.hashed {
			place.Fail("a hashed shard key can't be unique",
				"use a ranged key, or declare a unique index that begins with the key's fields")
		}
		s.key = append(s.key, f)
	}
	for i, name := range spec.Tenant {
		if i >= len(s.key) || s.key[i].path != name {
			place.Fail(fmt.Sprintf("the tenant's field %q isn't field %d of the shard key %s", name, i+1, s),
				"begin the key with the tenant's fields, or leave ShardSpec.Tenant out")
		}
	}
	return s
}

// pattern returns the key as commands contain it.
func (s *shard) pattern() bson.D { return patternOf(s.key) }

func patternOf(key []shardField) bson.D {
	d := make(bson.D, len(key))
	for i, f := range key {
		d[i] = bson.E{Key: f.path, Value: 1}
		if f.hashed {
			d[i].Value = "hashed"
		}
	}
	return d
}

// String returns the key in shell syntax.
func (s *shard) String() string { return model.Shell(s.pattern()) }

func (s *shard) command(name, db string) bson.D {
	if db == "" || strings.ContainsAny(db, "/\\. \"$\x00") {
		core.Fail(fmt.Sprintf("%q isn't a valid database name", db), name+" of "+s.Name(),
			"give the name of the collection's database")
	}
	d := bson.D{{Key: name, Value: db + "." + s.Name()}, {Key: "key", Value: s.pattern()}}
	if s.spec.Unique && name == "shardCollection" { // reshardCollection accepts only false
		d = append(d, bson.E{Key: "unique", Value: true})
	}
	if s.spec.Collated {
		d = append(d, bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}})
	}
	return d
}

func (s *shard) index() model.Index {
	x := model.NewIndex(s.Name(), s.pattern())
	x.Unique = s.spec.Unique && !(len(s.key) == 1 && s.key[0].path == "_id")
	x.Why = "the shard key"
	return x
}

func (s *shard) checkIndexes(list []model.Index) []*model.DeclarationError {
	scoped := make([]model.Index, len(list))
	for i, x := range list {
		scoped[i] = s.underTenant(x)
	}
	return brokenIndexes(s.Name(), s.key, scoped)
}

// underTenant returns an index as [model.Scope.Indexes] makes it.
func (s *shard) underTenant(x model.Index) model.Index {
	var leads bson.D
	for _, name := range s.spec.Tenant {
		if !slices.ContainsFunc(x.Keys, func(e bson.E) bool { return e.Key == name }) {
			leads = append(leads, bson.E{Key: name, Value: 1})
		}
	}
	if ownID := len(x.Keys) == 1 && x.Keys[0].Key == "_id"; !ownID {
		x.Keys = slices.Concat(leads, x.Keys)
	}
	return x
}

// brokenIndexes returns the unique indexes of a collection that the key makes impossible,
// and why.
func brokenIndexes(collection string, key []shardField, list []model.Index) (out []*model.DeclarationError) {
	for _, x := range list {
		if x.Collection != collection || !x.Unique {
			continue
		}
		byID := len(x.Keys) > 0 && x.Keys[0].Key == "_id"
		begins := len(x.Keys) >= len(key)
		for i := 0; begins && i < len(key); i++ {
			begins = x.Keys[i].Key == key[i].path
		}
		hashed := slices.ContainsFunc(x.Keys, func(e bson.E) bool { return e.Value == "hashed" })
		place := fmt.Sprintf("index %s of %s", x.Name, collection)
		switch {
		case hashed:
			out = append(out, &model.DeclarationError{
				Problem: "a hashed index can't be unique", Place: place, Remedy: "declare the fields with 1",
			})
		case !begins && !byID:
			out = append(out, &model.DeclarationError{
				Problem: fmt.Sprintf("a unique index under the shard key %s must begin with its fields",
					model.Shell(patternOf(key))),
				Place: place,

				Remedy: "put " + strings.Join(pathsOf(key), ", ") +
					" before its keys, or store the values in a collection that is sharded by them, as a unique indextable.IndexTable does",
			})
		}
	}
	return out
}

func (s *shard) paths() []string { return pathsOf(s.key) }

func pathsOf(key []shardField) []string {
	out := make([]string, len(key))
	for i, f := range key {
		out[i] = f.path
	}
	return out
}

// reactions returns how a store refuses to change the key of a stored document.
func (s *shard) reactions() []model.Reaction {
	refuse := func(w model.StoreWrite) (bson.D, error) {
		for _, f := range s.key {
			was, _ := core.ValueAt(w.Before, f.path)
			if now, _ := core.ValueAt(w.After, f.path); !bsonval.EqualRaw(was, now) {
				return nil, s.Refuse(f.path, now,
					"is in the shard key, which changes in a write of its own: use Shard.ChangeKey, with ShardSpec.Moves")
			}
		}
		return nil, nil
	}
	return []model.Reaction{{Collection: s.Name(), On: model.OnUpdate, Paths: s.paths(), Amend: refuse}}
}

func (s *shard) footprints() []model.Footprint {
	var out []model.Footprint
	for _, k := range s.key {
		out = append(out, model.Reads.In(s.Name(), k.path)...)
		if s.spec.Moves { // ChangeKey writes the key
			out = append(out, model.Writes.In(s.Name(), k.path)...)
		}
	}
	return out
}
