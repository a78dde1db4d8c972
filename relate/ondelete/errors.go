package ondelete

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
)

// RestrictError lists the references that forbid a deletion by [OnDelete]. Nothing was
// written.
type RestrictError struct {
	Refs []model.Finding // the first 10 references
	More bool            // there are more references than Refs
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
