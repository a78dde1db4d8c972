package embed

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrVersion is the error of a [Versioned] write if the stored version isn't the
	// version passed to the write. It wraps [model.ErrStale].
	ErrVersion = fmt.Errorf("%w: it has another version", model.ErrStale)

	// ErrNoElement is the error of an [Embedded], [Nested] or [One] write if the parent
	// lacks the element. It wraps [model.ErrNotFound]. A missing parent gives only
	// model.ErrNotFound.
	ErrNoElement = fmt.Errorf("docmodel: the document has no such element: %w", model.ErrNotFound)
)

var (
	errElementExists = fmt.Errorf("%w: the document has another element with this key", model.ErrTaken)
	errArrayFull     = fmt.Errorf("%w: the array is full", model.ErrFull)
)
