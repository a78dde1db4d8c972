package geofield

import (
	"bytes"
)

// Completed returns a copy of doc with the point's key (a geohash) in the key field. Pass
// the copy to a technique that stores documents, such as a paths.Tree.
//
// An invalid point or a wrong key gives a [*model.ValueError]. If a document can lack the
// point, tag the key field omitempty, or make the field a pointer.
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
