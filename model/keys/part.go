package keys

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model/keys/internal/composite"
)

// A Part is one part of a composite key: a field of the documents and its encoding.
// [Text], [Int], [Time] and [ID] return it.
type Part struct{ in composite.Part }

// Text returns a key's [Part] for the string field at path. The string must be UTF-8.
func Text(path string) Part { return Part{composite.Part{Path: path, Kind: composite.Text}} }

// Int returns a key's [Part] for the integer field at path.
func Int(path string) Part { return Part{composite.Part{Path: path, Kind: composite.Int}} }

// Time returns a key's [Part] for the time at path. The key contains the time as text, to
// the millisecond. The year must be from 0 to 9999.
func Time(path string) Part { return Part{composite.Part{Path: path, Kind: composite.Time}} }

// ID returns a key's [Part] for the ObjectID field at path. The ObjectID must not be
// zero.
func ID(path string) Part { return Part{composite.Part{Path: path, Kind: composite.ID}} }

// KeyOnly returns the part for a value that only the key contains. The documents don't
// need a field at the part's path.
func (p Part) KeyOnly() Part {
	p.in.KeyOnly = true
	return p
}

// declareKey declares the key of NewComposite (below is "") or NewDocumentKey (below is
// "_id.", the path before the paths of the parts).
func declareKey(docs *core.Docs, place core.Place, parts []Part, below string) *composite.Key {
	in := make([]composite.Part, len(parts))
	for i, p := range parts {
		in[i] = p.in
	}
	return composite.Declare(docs, place, in, below)
}
