package core

// An Inner shows what is inside a public type to other packages of the library, and to nobody else. The type embeds it
// under an unexported name:
//
//	type inside = core.Inner[idref.Ref]
//
//	type Dangling struct {
//		inside
//		…
//	}
//
// A package that gets a Dangling calls [Reveal]. For example denorm/outlier gets the core of a
// bucket.Bucket, and relate/ondelete the references of the techniques that it is given.
type Inner[T any] struct{ value T }

// NewInner returns an Inner with the value.
func NewInner[T any](value T) Inner[T] { return Inner[T]{value} }

// inner is unexported, so that only types that embed an Inner have it, and users can't call it.
func (i Inner[T]) inner() T { return i.value }

// A Revealing is a type that embeds an [Inner]. Other types can't implement it.
type Revealing[T any] interface{ inner() T }

// Reveal returns what v's [Inner] shows. v must not be a nil pointer.
func Reveal[T any](v Revealing[T]) T { return v.inner() }
