package embed

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrVersion is what running a compare-and-set of [Versioned] gives when the document is there in another version. It is
	// [model.ErrStale] too. A document that is gone is [model.ErrNotFound].
	ErrVersion = fmt.Errorf("%w: it has another version", model.ErrStale)

	// ErrGuard is what running a write of [Versioned.Guarded] gives when the document is there and its guard doesn't hold: there
	// is not as much left as is to be taken. Trying again doesn't help until somebody changes the document.
	ErrGuard = errors.New("docmodel: the document exists, but the condition of the write doesn't hold")

	// ErrNoElement is what running a write of one element of [Embedded], [Nested] or [One] gives when the parent is there and holds no
	// such element. It is [model.ErrNotFound] too, which alone says that there is no parent.
	ErrNoElement = fmt.Errorf("docmodel: the document has no such element: %w", model.ErrNotFound)
)

var (
	errElementExists = fmt.Errorf("%w: the document has another element with this key", model.ErrTaken)
	errArrayFull     = fmt.Errorf("%w: the array is full", model.ErrFull)
)
