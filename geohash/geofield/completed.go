package geofield

import (
	"bytes"
)

// Completed returns a document with the key of its point: for what stores whole documents by other means than [Field.Complete] can
// see, such as the Insert of a tree of package paths, or a counter's of package denorm. Its field of the key, and all else, is as it
// would be read after [Field.Insert]: times in milliseconds, and what is not stored not there. The caller's document isn't changed.
// One without a point has no key.
//
// Bad input, refused: what [Field.Insert] refuses of a point and a key; and a document without a point whose type stores a key all the
// same, an int64 of 0 or an empty string, which is the key of a place: tag the field omitempty, or make it a pointer. (omitempty leaves
// out the key of one place, 0, too: the South Pole at 180° West. Such a document is refused as well.)
//
// Cost: nothing is sent.
func (f *Field[D, K]) Completed(doc D) (D, error) {
	var out, none D
	raw, err := f.f.completeDocument(&doc)
	if err == nil {
		err = f.owners.Docs().Decode(bytes.Clone(raw), &out)
	}
	if err == nil {
		err = f.f.held(&out)
	}
	if err != nil {
		return none, err
	}
	return out, nil
}

// held returns why a completed document would not be stored with the key that it should have.
func (f *field) held(doc any) error {
	raw, err := f.rawOf(doc)
	if err != nil {
		return err
	}
	s := f.look(raw)
	if s.right {
		return nil
	}
	reason := "would be stored although there is no point: tag the field omitempty, or make it a pointer"
	if s.want != nil {
		reason = "would not be stored: the key of this point is 0, which omitempty leaves out"
	}
	return f.Refuse(f.key, s.key, reason)
}
