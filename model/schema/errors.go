package schema

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// VersionError reports a document that can't be read as, or upgraded to, the newest
// version. It wraps the step's or decoder's error, or [ErrNewer].
type VersionError struct {
	Collection string
	ID         bson.RawValue
	Version    bson.RawValue // as stored; of type 0 if missing
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

// ErrNewer is the cause in a [*VersionError] for a document of a newer, unknown version.
// Such a document isn't written.
var ErrNewer = versions.ErrNewer
