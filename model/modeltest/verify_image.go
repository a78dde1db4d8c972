package modeltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/mongosh"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An image is a copy of a database that can be restored: collections with options and
// indexes, and their documents.
type image []imageCollection

type imageCollection struct {
	name    string
	options bson.Raw   // in the form of create
	indexes []bson.Raw // except that on _id
	docs    []bson.Raw
}

// takeImage reads a whole database.
func takeImage(ctx context.Context, db *mongo.Database) (image, error) {
	out := image{}
	list, err := db.ListCollectionSpecifications(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		indexes, err := indexesOf(ctx, db.Collection(c.Name))
		if err != nil {
			return nil, err
		}
		out = append(out, imageCollection{name: c.Name, options: c.Options, indexes: indexes})
	}
	return out.now(ctx, db)
}

// now returns the current image of a database that had the image i.
func (i image) now(ctx context.Context, db *mongo.Database) (out image, _ error) {
	names, err := db.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, "system.") {
			continue
		}
		one := imageCollection{name: name}
		if at := slices.IndexFunc(i, func(c imageCollection) bool { return c.name == name }); at >= 0 {
			one = i[at]
		}
		if one.docs, err = testserver.ReadAll(ctx, db.Collection(name)); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// hash is equal for equal documents.
func (i image) hash() [sha256.Size]byte {
	h := sha256.New()
	for _, c := range i {
		fmt.Fprintf(h, "%q %d ", c.name, len(c.docs))
		for _, doc := range c.docs {
			h.Write(doc)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// indexesOf returns the indexes of a collection in the form of createIndexes.
func indexesOf(ctx context.Context, coll *mongo.Collection) (out []bson.Raw, _ error) {
	cursor, err := coll.Indexes().List(ctx)
	if err != nil {
		return nil, err
	}
	var all []bson.D
	if err := cursor.All(ctx, &all); err != nil {
		return nil, err
	}
	for _, x := range all {
		spec := slices.DeleteFunc(x, func(e bson.E) bool { return e.Key == "v" || e.Key == "ns" || e.Key == "storageEngine" })
		if has(spec, "name") && spec[slices.IndexFunc(spec, func(e bson.E) bool { return e.Key == "name" })].Value == "_id_" {
			continue
		}
		raw, err := bson.Marshal(spec)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// restore makes a database equal to the image. Existing collections already have the
// image's options and indexes.
func (i image) restore(ctx context.Context, db *mongo.Database) error {
	was, err := i.now(ctx, db)
	if err != nil {
		return err
	}
	for _, c := range was {
		if !slices.ContainsFunc(i, func(x imageCollection) bool { return x.name == c.name }) {
			if err := db.Collection(c.name).Drop(ctx); err != nil {
				return err
			}
		}
	}
	for _, c := range i {
		at := slices.IndexFunc(was, func(x imageCollection) bool { return x.name == c.name })
		switch {
		case at < 0:
			err = c.create(ctx, db)
		case slices.EqualFunc(was[at].docs, c.docs, func(a, b bson.Raw) bool { return bytes.Equal(a, b) }):
			continue
		default:
			_, err = db.Collection(c.name).DeleteMany(ctx, bson.D{})
		}
		if err == nil && len(c.docs) > 0 {
			if _, err = db.Collection(c.name).InsertMany(ctx, c.docs); err != nil {
				err = fmt.Errorf("documents of %s: %w", c.name, err)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c imageCollection) create(ctx context.Context, db *mongo.Database) error {
	create := bson.D{{Key: "create", Value: c.name}}
	elements, _ := c.options.Elements()
	for _, e := range elements {
		create = append(create, bson.E{Key: e.Key(), Value: e.Value()})
	}
	if err := db.RunCommand(ctx, create).Err(); err != nil {
		return fmt.Errorf("create %s: %w", c.name, err)
	}
	if len(c.indexes) > 0 {
		command := bson.D{{Key: "createIndexes", Value: c.name}, {Key: "indexes", Value: c.indexes}}
		if err := db.RunCommand(ctx, command).Err(); err != nil {
			return fmt.Errorf("indexes of %s: %w", c.name, err)
		}
	}
	return nil
}

// nameOf returns a document's collection and _id.
func nameOf(collection string, doc bson.Raw) string {
	return collection + " " + model.Shell(doc.Lookup("_id"))
}

// A stored is the documents of a database, by collection and _id as text.
type stored map[string]bson.Raw

// documents returns the documents selected by keep, without excluded fields. Their fields
// are sorted by name, because servers add fields in different orders.
func (i image) documents(
	keep func(collection string, doc bson.Raw) bool, without func(path string) bool,
) (stored, error) {
	out := stored{}
	for _, c := range i {
		for _, raw := range c.docs {
			if !keep(c.name, raw) {
				continue
			}
			var d bson.D
			if err := bson.Unmarshal(raw, &d); err != nil {
				return nil, err
			}
			part, err := bson.Marshal(sorted(d, c.name, without))
			if err != nil {
				return nil, err
			}
			out[nameOf(c.name, raw)] = part
		}
	}
	return out, nil
}

// raw returns the documents selected by keep, unchanged.
func (i image) raw(keep func(collection string, doc bson.Raw) bool) stored {
	out := stored{}
	for _, c := range i {
		for _, doc := range c.docs {
			if keep(c.name, doc) {
				out[nameOf(c.name, doc)] = doc
			}
		}
	}
	return out
}

// sorted returns a document at a path, without excluded fields, sorted by field names.
func sorted(d bson.D, at string, without func(path string) bool) bson.D {
	out := bson.D{}
	for _, f := range d {
		here := at + "." + f.Key
		if without(here) {
			continue
		}
		switch v := f.Value.(type) {
		case bson.D:
			f.Value = sorted(v, here, without)
		case bson.A:
			list := slices.Clone(v)
			for i, x := range list {
				if sub, ok := x.(bson.D); ok {
					list[i] = sorted(sub, here, without)
				}
			}
			f.Value = list
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func (s stored) equal(other stored) bool {
	if len(s) != len(other) {
		return false
	}
	for key, doc := range s {
		if with, ok := other[key]; !ok || !bytes.Equal(doc, with) {
			return false
		}
	}
	return true
}

// diff lists the documents that differ from want.
func (s stored) diff(want stored) string {
	var keys []string
	for _, side := range []stored{s, want} {
		for key := range side {
			if !bytes.Equal(s[key], want[key]) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		switch {
		case s[key] == nil:
			fmt.Fprintf(&b, "\t%s: is missing\n", key)
		case want[key] == nil:
			fmt.Fprintf(&b, "\t%s: is there, and should not be: %s\n", key, mongosh.Shorten(model.Shell(s[key]), 300))
		default:
			for _, line := range strings.Split(strings.TrimSpace(mongotest.Diff(want[key], s[key])), "\n") {
				fmt.Fprintf(&b, "\t%s: %s\n", key, line)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
