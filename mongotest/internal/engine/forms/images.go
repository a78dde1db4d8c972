package forms

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// ImagesOption is the option by which change streams can show documents before and after a change.
const ImagesOption = "changeStreamPreAndPostImages"

// ReadImages reads changeStreamPreAndPostImages, and returns the options to store: none if it is off. A collection with
// the option records the documents before and after each change, which package changestream shows.
func ReadImages(a *args.Reader, ns store.Namespace) bson.D {
	images := a.Document(ImagesOption)
	if images == nil {
		return nil
	}
	part := &args.Reader{Place: a.Place + "." + ImagesOption, Doc: images}
	a.Fail(part.CheckKnown([]string{"enabled"}))
	part.Require("enabled")
	on := part.Boolean("enabled", false)
	a.Fail(part.Err)
	if !on {
		return nil
	}
	if slices.Contains(InternalDatabases, ns.DB) {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"%s collection option is not supported on the %s database", ImagesOption, ns.DB))
	}
	return bson.D{{Key: ImagesOption, Value: bson.D{{Key: "enabled", Value: true}}}}
}
