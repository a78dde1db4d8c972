package schema

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// VersionError reports a document that can't be read, upgraded or saved in the newest
// version. It wraps the cause, such as an error of a step or of the decoder, or
// [ErrNewer].
type VersionError struct {
	Collection string
	ID         bson.RawValue
	Version    bson.RawValue // stored version; an empty RawValue if missing
	Err        error
}

func (e *VersionError) Error() string {
	version := "no version"
	if e.Version.Type != 0 {
		version = "version " + model.Shell(e.Version)
	}
	id := "none"
	if e.ID.Type != 0 {
		id = model.Shell(e.ID)
	}
	why := "no reason is given"
	if e.Err != nil {
		why = strings.TrimPrefix(e.Err.Error(), "docmodel: ")
	}
	return fmt.Sprintf("docmodel: %s: _id %s, %s: %s", e.Collection, id, version, why)
}

// Unwrap returns the cause.
func (e *VersionError) Unwrap() error { return e.Err }

// ErrNewer is the cause in a [*VersionError] if a document's version is newer than the
// newest declared one. The document is neither decoded nor written.
var ErrNewer = versions.ErrNewer
