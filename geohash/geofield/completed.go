package geofield

import (
	"bytes"
)

// Completed returns a copy of doc whose key field has the key of its point. Use it with a
// technique that stores whole documents itself, such as a paths.Tree. All fields are as
// if the document had been stored and read, such as times in milliseconds. A document
// without a point gets no key.
//
// It returns a [*model.ValueError] for a point or key that [Field.Insert] refuses, and
// for a document without a point if its type would store a key (0 or ""): tag the key
// omitempty, or make it a pointer. With omitempty, the South Pole at 180° West gives the
// error too, because its key is 0.
//
// Cost: no command.
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

// held returns an error if a completed document would not be stored with its key.
func (f *field) held(doc any) error {
	raw, err := f.rawOf(doc)
	if err != nil {
		return err
	}
	s := f.look(raw)
	if s.right {
		return nil
	}
	reason := "would be stored without a point: tag the field omitempty, or make it a pointer"
	if s.want != nil {
		reason = "would not be stored: the key of this point is 0, which omitempty leaves out"
	}
	return f.Refuse(f.key, s.key, reason)
}
