package core

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// addedFields are the top-level fields that techniques store beside the type's, or in another
// form. For example denorm/numbered stores a list tags as the fields tags_1, tags_2, …, and
// schema.Versions stores schemaVersion. Filters and updates of such fields aren't checked.
// Copies of the collection ([Docs.WithName], [Docs.WithoutChecks], [Docs.AsStored]) share them.
type addedFields struct {
	mu    sync.Mutex                      // held by writers only: constructors may run at once
	names atomic.Pointer[map[string]bool] // the map never changes once stored: checks read it without the lock
}

// NoteAddedFields records top-level fields that a technique stores beside those of the
// documents' type, or in another form. Constructors call it.
func (d *Docs) NoteAddedFields(names ...string) {
	if d.added == nil {
		return
	}
	d.added.mu.Lock()
	defer d.added.mu.Unlock()
	all := map[string]bool{}
	if old := d.added.names.Load(); old != nil {
		maps.Copy(all, *old)
	}
	for _, name := range names {
		all[name] = true
	}
	d.added.names.Store(&all)
}

// hasPath reports whether a path is, or is below, an added field.
func (a *addedFields) hasPath(path string) bool {
	if a == nil {
		return false
	}
	names := a.names.Load()
	if names == nil {
		return false
	}
	name, _, _ := strings.Cut(path, ".")
	return (*names)[name]
}
