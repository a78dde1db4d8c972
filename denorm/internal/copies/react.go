package copies

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a copy is filled when a document with a copy is written, and how
// the copies follow a source. It is nil for copies in arrays, of listed documents, and in
// documents whose version is counted: these can't take part in a store.
func (c *Copying) Reactions() func() []model.Reaction {
	if len(c.arrays) > 0 || c.key == "" || c.spec.Lock != "" {
		return nil
	}
	from := c.from()
	follow := model.Reaction{Collection: c.docs.Name(), Paths: from, React: c.follow}
	if c.version != "" {
		follow.Paths, follow.Amend = append(from, c.spec.Version), c.countVersion
	}
	return func() []model.Reaction {
		return []model.Reaction{
			{Collection: c.to.Name(), Paths: []string{c.spec.KeyPath}, Fetch: c.fetchSource, Amend: c.fill, React: c.holdSource},
			follow,
		}
	}
}

// countVersion returns the next version of a source of which a copied field changes. The
// caller gives a version that is a time.
func (c *Copying) countVersion(w model.StoreWrite) (bson.D, error) {
	if w.Before == nil {
		return nil, nil
	}
	was, err := c.state(w.Before)
	if err != nil {
		return nil, err
	}
	now, err := stored.AtEach(c.docs, w.After, append(slices.Clone(c.from()), c.spec.Version))
	if err != nil {
		return nil, err
	}
	given, changed := now[c.spec.Version], false
	if given.Equal(was.read) {
		given = bson.RawValue{}
	}
	for i, f := range c.fields {
		changed = changed || !now[f.From].Equal(was.values[i])
	}
	switch {
	case !changed && given.Type == 0 && now[c.spec.Version].Type == 0 && was.read.Type != 0:
		return bson.D{{Key: c.spec.Version, Value: was.read}}, nil // a replacement can omit the version
	case !changed && given.Type == 0:
		return nil, nil
	}
	if changed && c.counts { // the store calls again with the counted version
		if version, err := c.next(was.version, bson.RawValue{}); err == nil && version.Equal(given) {
			return nil, nil
		}
	}
	version, err := c.next(was.version, given)
	return bson.D{{Key: c.spec.Version, Value: version}}, err
}

// from returns the paths of the copied fields in a source.
func (c *Copying) from() (out []string) {
	for _, f := range c.fields {
		out = append(out, f.From)
	}
	return out
}

// newKey returns the id of the source that a written document refers to, or type 0.
func (c *Copying) newKey(w model.StoreWrite) (bson.RawValue, error) {
	if w.After == nil {
		return bson.RawValue{}, nil
	}
	id, err := stored.At(c.to, w.After, c.spec.KeyPath)
	switch {
	case err != nil || id.Type == 0 || id.Type == bson.TypeNull:
		return bson.RawValue{}, err
	case !stored.IsKey(id):
		return id, c.to.Refuse(c.spec.KeyPath, nil, "is no _id of a document")
	}
	return id, nil
}

func (c *Copying) fetchSource(w model.StoreWrite) ([]model.Fetch, error) {
	id, err := c.newKey(w)
	if err != nil || id.Type == 0 {
		return nil, err
	}
	f := model.Fetch{Collection: c.docs.Name(), ID: bsonval.Clone(id), Paths: c.from()}
	if c.version != "" {
		f.Paths = append(f.Paths, c.spec.Version)
	}
	return []model.Fetch{f}, nil
}

// fill returns the copied fields of the source that the document refers to.
func (c *Copying) fill(w model.StoreWrite) (set bson.D, err error) {
	id, err := c.newKey(w)
	if err != nil {
		return nil, err
	}
	s := source{values: make([]bson.RawValue, len(c.fields))}
	if id.Type != 0 {
		doc := w.Found(0)
		if doc == nil {
			return nil, fmt.Errorf("%w (%s.%s names the source %s, which isn't in %s)",
				model.ErrNotFound, c.to.Name(), c.spec.KeyPath, model.Shell(id), c.docs.Name())
		}
		if s, err = c.state(doc); err != nil {
			return nil, err
		}
	}
	c.eachField(s, nil, func(path string, v bson.RawValue) { set = append(set, bson.E{Key: path, Value: v}) })
	if c.spec.CountUp != "" && w.Before != nil {
		n, _ := core.ValueAt(w.Before, c.spec.CountUp)
		last, _ := n.AsInt64OK()
		set = append(set, bson.E{Key: c.spec.CountUp, Value: last + 1})
	}
	return set, nil
}

// holdSource keeps a transaction that changes the source from missing the new copy.
func (c *Copying) holdSource(w model.StoreWrite) (a model.Answer, err error) {
	id, err := c.newKey(w)
	if err == nil && id.Type != 0 {
		a.Hold = []model.Fetch{{Collection: c.docs.Name(), ID: bsonval.Clone(id)}}
	}
	return a, err
}

// follow returns the writes that bring the copies of a changed source up to date.
func (c *Copying) follow(w model.StoreWrite) (a model.Answer, err error) {
	if w.Before == nil || w.After == nil {
		return a, nil
	}
	s, err := c.state(w.After)
	if err == nil {
		a.Then = c.propagate(s, nil)
	}
	return a, err
}
