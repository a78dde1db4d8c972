package advise

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// Limits of the documents and values to examine.
const (
	exploredDocuments = 200
	exploredValues    = 200
	fewestValues      = 3
	longestID         = 100 // bytes of a string that may be an _id
)

// explored is a collection with examined documents.
type explored struct {
	name       string
	docs       *model.Collection[bson.Raw, any]
	collection SurveyedCollection
	idTypes    map[bson.Type]bool
	at         map[string]*exploredPath
}

// exploredPath is the values at a path.
type exploredPath struct {
	array     bool            // it is, or crosses, an array
	documents int             // number of documents in an array
	values    []bson.RawValue // different values that may be _ids
	seen      map[string]bool
}

func explore(name string) *explored {
	return &explored{
		name: name, docs: model.NewCollection[bson.Raw, any](name), idTypes: map[bson.Type]bool{},
		at: map[string]*exploredPath{},
	}
}

// read examines some documents, and the use of indexes.
func (e *explored) read(ctx context.Context, db model.DB) error {
	total, err := sideOf(e.docs).count(ctx, db)
	if err != nil {
		return err
	}
	sample := e.docs.Unchecked().
		Aggregate(mongo.Pipeline{{{Key: "$sample", Value: bson.D{{Key: "size", Value: exploredDocuments}}}}})
	n := int64(0)
	for doc, err := range sample.Each(ctx, db) {
		if err != nil {
			return err
		}
		n++
		e.idTypes[doc.Lookup("_id").Type] = true
		e.walk(doc, "", false)
	}
	e.collection = SurveyedCollection{Name: e.name, Sampled: Share{N: n, Of: max(n, total)}}
	return e.readIndexes(ctx, db)
}

// readIndexes reads the use of indexes. Not every server reports it, and none for the
// part of a collection in a scope.
func (e *explored) readIndexes(ctx context.Context, db model.DB) error {
	if core.IsScoped(db) {
		e.collection.Unknown = "a scope shows a part of the collection, and indexes serve all of it"
		return nil
	}
	cursor, err := e.docs.Of(core.Database(db)).Aggregate(ctx, mongo.Pipeline{{{Key: "$indexStats", Value: bson.D{}}}})
	var refused mongo.CommandError
	if errors.As(err, &refused) && !refused.HasErrorLabel("NetworkError") {
		e.collection.Unknown = refused.Message
		return nil
	}
	if err != nil {
		return err
	}
	var stats []struct {
		Name     string `bson:"name"`
		Accesses struct {
			Ops   int64     `bson:"ops"`
			Since time.Time `bson:"since"`
		} `bson:"accesses"`
	}
	if err := cursor.All(ctx, &stats); err != nil {
		return err
	}
	for _, s := range stats {
		if s.Name != "_id_" {
			e.collection.Indexes = append(e.collection.Indexes, IndexUse{s.Name, s.Accesses.Ops, s.Accesses.Since})
		}
	}
	slices.SortFunc(e.collection.Indexes, func(a, b IndexUse) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// walk examines the fields of a document. A path crosses at most one array.
func (e *explored) walk(doc bson.Raw, above string, inArray bool) {
	elements, err := doc.Elements()
	if err != nil {
		return
	}
	for _, el := range elements {
		path := el.Key()
		if above != "" {
			path = above + "." + path
		}
		if path == "_id" || core.CheckPath(path) != nil {
			continue
		}
		switch v := el.Value(); v.Type {
		case bson.TypeEmbeddedDocument:
			e.walk(v.Document(), path, inArray)
		case bson.TypeArray:
			if !inArray {
				e.walkArray(bson.Raw(v.Array()), path)
			}
		default:
			e.see(path, v, inArray)
		}
	}
}

func (e *explored) walkArray(array bson.Raw, path string) {
	values, err := array.Values()
	if err != nil {
		return
	}
	for _, v := range values {
		if v.Type == bson.TypeEmbeddedDocument {
			p := e.path(path)
			p.array = true
			p.documents++
			e.walk(v.Document(), path, true)
			continue
		}
		e.see(path, v, true)
	}
}

func (e *explored) path(path string) *exploredPath {
	p := e.at[path]
	if p == nil {
		p = &exploredPath{seen: map[string]bool{}}
		e.at[path] = p
	}
	return p
}

// see keeps a value that may be an _id.
func (e *explored) see(path string, v bson.RawValue, inArray bool) {
	switch v.Type {
	case bson.TypeObjectID, bson.TypeInt32, bson.TypeInt64, bson.TypeBinary:
	case bson.TypeString:
		if len(v.Value) > longestID {
			return
		}
	default:
		return
	}
	p := e.path(path)
	p.array = p.array || inArray
	if key := bsonval.Key(v); !p.seen[key] && len(p.values) < exploredValues {
		p.seen[key] = true
		p.values = append(p.values, bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)})
	}
}

// paths returns the paths with values, sorted.
func (e *explored) paths() (out []string) {
	for path := range e.at {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}
