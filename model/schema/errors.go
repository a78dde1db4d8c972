package schema

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// VersionError says which document couldn't be read as the newest version, or brought up to it, and why. It wraps the error of
// the step, of the driver's decoder, or [ErrNewer].
type VersionError struct {
	Collection string
	ID         bson.RawValue
	Version    bson.RawValue // as it is stored; of type 0 if it isn't
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

// ErrNewer says that a document is of a version that this program doesn't know yet: newer code wrote it. It comes within a
// [*VersionError]. Nothing is written to such a document.
var ErrNewer = versions.ErrNewer
