package relate

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// ErrDropping is what running a Copy returns when the migration's Drop has begun: the old form is no longer whole.
var ErrDropping = migrate.ErrDropping

// ErrPresent is what running a Copy returns that would begin a migration where something is stored in the new form already,
// though the migration didn't make it. Set Overwrite in the spec if the old form shall decide.
var ErrPresent = migrate.ErrPresent

// RestrictError says which references forbid a deletion. Nothing was written.
type RestrictError struct {
	Refs []model.Finding // the first 10
	More bool            // there are more
}

func (e *RestrictError) Error() string {
	s := "docmodel: the deletion is forbidden"
	if len(e.Refs) > 0 {
		s += " by " + e.Refs[0].String()
	}
	switch {
	case e.More:
		return s + fmt.Sprintf(" and more than %d others", len(e.Refs)-1)
	case len(e.Refs) > 1:
		return s + fmt.Sprintf(" and %d more", len(e.Refs)-1)
	}
	return s
}
