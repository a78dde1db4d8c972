package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Readers whose name was one text, and later two.
type (
	readerV1 struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
		Note string `bson:"note,omitempty"`
	}
	reader struct {
		ID    string            `bson:"_id"`
		First string            `bson:"first"`
		Tags  map[string]string `bson:"tags,omitempty"`
	}
)

var (
	readers        = model.NewCollection[reader, string]("readers")
	readerVersions = schema.NewVersions(readers, schema.VersionsSpec{}, schema.Upcast(func(r readerV1) (reader, error) {
		return reader{ID: r.ID, First: r.Name, Tags: map[string]string{"note": r.Note, "by": "step", "a": "b"}}, nil
	}))
	strictReaders = schema.NewVersions(model.NewCollection[reader, string]("readers"),
		schema.VersionsSpec{Field: "v", First: 7, Missing: -1})
)

// storedReader is a document of the first version with a field that no type knows.
func storedReader(s string) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "shelf", Value: s}})
	if err != nil {
		panic(err)
	}
	return raw
}

func newReader(s string) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: s}, {Key: "first", Value: s}, {Key: "schemaVersion", Value: 2}})
	if err != nil {
		panic(err)
	}
	return raw
}

func init() {
	register(versionReads()...)
	register(versionWrites()...)
}

func versionReads() []Case {
	return []Case{
		{Method: "schema.Versions.Raw", Reason: "as they are stored", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "name", Value: s}})
			return []any{filter}, func() any { return readerVersions.Raw(filter) }
		}},
		{
			Method: "schema.Versions.Outdated", Reason: "all before the newest",
			Make: func(string) any { return readerVersions.Outdated() },
		},
		{
			Method: "schema.Versions.Counts", Reason: "no version counts as the first",
			Make: func(string) any { return readerVersions.Counts() },
		},
		{
			Method: "schema.Versions.Counts", Reason: "no version is none",
			Make: func(string) any { return strictReaders.Counts() },
		},
		{Method: "schema.Versions.Indexes", Reason: "by version", Make: func(string) any { return readerVersions.Indexes() }},
	}
}

func versionWrites() []Case {
	batch := func(s string) any { return []bson.Raw{storedReader("a"), storedReader(s)} }
	return []Case{
		{
			Method: "model.Collection.Insert", Reason: "with its version",
			Make: func(s string) any { return readers.Insert(reader{ID: s, First: s}) },
		},
		{
			Method: "model.Collection.Replace", Reason: "with its version",
			Make: func(s string) any { return readers.Replace(reader{ID: s, First: s}) },
		},
		{Method: "schema.Versions.Upgrade", Reason: "from the first version", From: func(s string) ([]any, func() any) {
			raw := storedReader(s)
			return []any{[]byte(raw)}, func() any { return readerVersions.Upgrade(raw) }
		}},
		{Method: "schema.Versions.Upgrade", Reason: "a newer version is refused", From: func(s string) ([]any, func() any) {
			raw, err := bson.Marshal(bson.D{{Key: "_id", Value: s}, {Key: "schemaVersion", Value: 3}})
			if err != nil {
				panic(err)
			}
			return []any{raw}, func() any { return readerVersions.Upgrade(raw) }
		}},
		{
			Method: "schema.Versions.Save",
			Reason: "what was read as the first version, changed",
			From: func(s string) ([]any, func() any) {
				raw := storedReader(s)
				return []any{[]byte(raw)}, func() any { return readerVersions.Save(raw, reader{ID: s, First: s + "!"}) }
			},
		},
		{
			Method: "schema.Versions.Save", Reason: "what was read as the newest, changed",
			From: func(s string) ([]any, func() any) {
				raw, tags := newReader(s), map[string]string{"b": s, "a": s}
				return []any{[]byte(raw), tags}, func() any { return readerVersions.Save(raw, reader{ID: s, First: s, Tags: tags}) }
			},
		},
		{Method: "schema.Versions.Save", Reason: "another id is refused", From: func(s string) ([]any, func() any) {
			raw := newReader(s)
			return []any{[]byte(raw)}, func() any { return readerVersions.Save(raw, reader{ID: s + "!", First: s}) }
		}},
		{Method: "schema.Versions.Migrate", Reason: "all that are outdated",
			Make: func(string) any { return readerVersions.Migrate(schema.MigrateOptions{}) }, State: batch},
		{Method: "schema.Versions.Migrate", Reason: "of the first version, which may be missing",
			Make: func(string) any { return readerVersions.Migrate(schema.MigrateOptions{Version: 1}) }, State: batch},
		{Method: "schema.Versions.Migrate", Reason: "of the newest is refused",
			Make: func(string) any { return readerVersions.Migrate(schema.MigrateOptions{Version: 2}) }},
	}
}
