package changestream

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Scope is what a stream watches: a collection, a database if Coll is "", or all databases if DB is "" too.
type Scope struct{ DB, Coll string }

// sees reports whether a change is in the scope. A stream of a collection also sees another collection that is renamed
// to its name, but a dropped database only by the drops of its collections. Collections named system.… and the
// databases admin, config and local are nobody's business but that of a stream that names the collection.
func (s Scope) sees(e *store.Event) bool {
	switch {
	case s.Coll != "" && e.Kind == store.DatabaseDropped:
		return false
	case s.Coll != "":
		ns := store.Namespace{DB: s.DB, Coll: s.Coll}
		return e.NS == ns || e.Kind == store.Renamed && e.Of.To == ns
	case s.DB != "":
		return e.NS.DB == s.DB && !strings.HasPrefix(e.NS.Coll, "system.")
	}
	return !slices.Contains(forms.InternalDatabases, e.NS.DB) && !strings.HasPrefix(e.NS.Coll, "system.")
}

// endsBy reports whether a change in the scope invalidates the stream
// (https://www.mongodb.com/docs/manual/reference/change-events/invalidate/). A stream of all databases never ends.
func (s Scope) endsBy(e *store.Event) bool {
	if s.Coll != "" {
		return e.Kind == store.Dropped || e.Kind == store.Renamed
	}
	return s.DB != "" && e.Kind == store.DatabaseDropped
}
