package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the Go types say about the documents, and what they don't.
var (
	packageSchema = schema.Of(packages, schema.Spec{Fields: []schema.Field{
		{Path: "imports", Unique: true}, {Path: "importedBy", Unique: true}, {Path: "files", Unique: true},
		{Path: "largest", MaxItems: 3}, {Path: "top", MaxItems: 3}, {Path: "count", Min: 0}, {Path: "bytes", Min: 0},
	}})
	fileSchema = schema.Of(files, schema.Spec{Fields: []schema.Field{{Path: "name", Pattern: `\.go$`}, {Path: "bytes", Min: 0}}})
)

func (t *tour) schemas(ctx context.Context) error {
	raw := func(d bson.Raw) string { return d.Lookup("_id").String() }
	for _, s := range []struct {
		of   string
		find *model.Aggregate[bson.Raw]
	}{
		{"packages", packageSchema.Checks()[0].Find()},
		{"files", fileSchema.Checks()[0].Find()},
	} {
		found, err := read(ctx, t, s.of+" that don't conform", s.find, raw)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("stdlib: %d %s don't conform", len(found), s.of)
		}
	}
	if err := t.sent("let the server refuse files that don't", "", func() (string, error) {
		return "the collection has the validator", fileSchema.Validation().Ensure(ctx, t.db)
	}); err != nil {
		return err
	}
	return t.refused(ctx, File{ID: "errors/README", Package: "errors", Name: "README"})
}

// refused stores an invalid document. If the server accepts it, it enforces no
// validators.
func (t *tour) refused(ctx context.Context, f File) error {
	bad := files.Insert(f)
	return t.step("store one whose name doesn't end in .go", bad, "", func() (string, error) {
		_, err := bad.Run(ctx, t.db)
		var refusal mongo.BulkWriteException
		switch {
		case err == nil:
			_, err := files.Delete(f.ID).Run(ctx, t.db)
			return "stored, for this server enforces no validators, and deleted", err
		case errors.As(err, &refusal) && len(refusal.WriteErrors) > 0: // some servers don't return the code of a failed validation
			return err.Error(), nil
		}
		return "", err
	})
}
