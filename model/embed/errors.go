package embed

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrVersion is the error of a [Versioned] write if the document has another version.
	// It is also [model.ErrStale]. A missing document is [model.ErrNotFound].
	ErrVersion = fmt.Errorf("%w: it has another version", model.ErrStale)

	// ErrGuard is the error of [Versioned.Guarded] if the document exists, but doesn't
	// match the guard. A retry fails until another write changes the document.
	ErrGuard = errors.New("docmodel: the document exists, but the condition of the write doesn't hold")

	// ErrNoElement is the error of a write to an element of [Embedded], [Nested] or [One]
	// that doesn't exist in its parent. It is also [model.ErrNotFound], which alone means
	// a missing parent.
	ErrNoElement = fmt.Errorf("docmodel: the document has no such element: %w", model.ErrNotFound)
)

var (
	errElementExists = fmt.Errorf("%w: the document has another element with this key", model.ErrTaken)
	errArrayFull     = fmt.Errorf("%w: the array is full", model.ErrFull)
)
