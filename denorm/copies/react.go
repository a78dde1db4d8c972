package copies

// This file has the reactions of stores for copies with KeyPath.

import (
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// makeReactions returns two reactions. The first fills copies when a document with copies
// is written. The second updates copies when a source is written. With Listed, both have
// other functions (react_listed.go), because a document doesn't contain its source's _id.
func (c *untypedCopy) makeReactions() []model.Reaction {
	fill := model.Reaction{
		Collection: c.to.Name(), On: model.OnInsert | model.OnUpdate, Paths: []string{c.spec.KeyPath},
		Fetch: c.fetchSources, Amend: c.fillCopies, Correct: c.correctNewCopies,
	}
	follow := model.Reaction{
		Collection: c.docs.Name(), On: model.OnUpdate, Paths: c.listCopiedPaths(), React: c.updateCopies,
	}
	if c.version != "" {
		follow.Paths, follow.Amend = append(follow.Paths, c.spec.Version), c.incrementVersion
	}
	if len(c.arrays) > 0 {
		for _, place := range c.listCopyPaths()[1:] {
			fill.Derives = append(fill.Derives, c.base+place)
		}
	}
	if c.key == "" {
		fill.On, fill.Paths, fill.Fetch, fill.Amend, fill.React = model.OnInsert, nil, c.fetchListing,
			c.fillListed, c.holdListing
		fill.Correct = c.correctListed
		follow.On, follow.Paths = model.OnInsert|model.OnUpdate, append(follow.Paths, c.spec.Listed)
		follow.Fetch, follow.React = c.fetchListed, c.updateListedCopies
	}
	return []model.Reaction{fill, follow}
}

// incrementVersion returns the next version of a source if a copied field changes. The
// caller sets a version that is a time.
func (c *untypedCopy) incrementVersion(w model.StoreWrite) (bson.D, error) {
	if w.Before == nil {
		return nil, nil
	}
	was, err := c.decodeSource(w.Before)
	if err != nil {
		return nil, err
	}
	now, err := stored.ValuesAt(c.docs, w.After, append(slices.Clone(c.listCopiedPaths()), c.spec.Version))
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
		if version, err := c.chooseNextVersion(was.version, bson.RawValue{}); err == nil && version.Equal(given) {
			return nil, nil
		}
	}
	version, err := c.chooseNextVersion(was.version, given)
	return bson.D{{Key: c.spec.Version, Value: version}}, err
}

// listCopiedPaths returns the paths of the copied fields in a source.
func (c *untypedCopy) listCopiedPaths() (out []string) {
	for _, f := range c.fields {
		out = append(out, f.From)
	}
	return out
}

// listFetchedPaths returns the paths of a source from which a copy is made: the fields
// and the version.
func (c *untypedCopy) listFetchedPaths() []string {
	if c.version != "" {
		return append(c.listCopiedPaths(), c.spec.Version)
	}
	return c.listCopiedPaths()
}

// A placedCopy is a copy in a document that a store writes. kept says that the stored
// document has a copy of the same source, so that held is read from there.
type placedCopy struct {
	prefix string        // of its paths, with indexes: "items.0."
	key    bson.RawValue // the source's _id; type 0 for none
	held   source        // what the copy holds
	kept   bool          // the stored document has a copy of the source: held is as there
}

// readCopies returns the copies in a document: one if there are no arrays, else one for
// each element.
func (c *untypedCopy) readCopies(doc bson.Raw) (out []placedCopy, err error) {
	var walk func(prefix string, at bson.Raw, arrays []string) error
	walk = func(prefix string, at bson.Raw, arrays []string) error {
		if len(arrays) == 0 {
			p, err := c.readCopy(prefix, at)
			out = append(out, p)
			return err
		}
		list, _ := core.ValueAt(at, arrays[0])
		for i, e := range core.Elements(list) {
			if inner, ok := e.DocumentOK(); ok {
				if err := walk(prefix+arrays[0]+"."+strconv.Itoa(i)+".", inner, arrays[1:]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if doc != nil {
		err = walk("", doc, c.arrays)
	}
	return out, err
}

// readCopy reads the copy in a document or in an element. A null key means that there is
// no source.
func (c *untypedCopy) readCopy(prefix string, at bson.Raw) (p placedCopy, err error) {
	p.prefix = prefix
	if c.key != "" {
		if p.key, err = stored.ValueAt(c.to, at, c.key); err != nil {
			return p, err
		}
		if p.key.Type == bson.TypeNull {
			p.key = bson.RawValue{}
		}
		if p.key.Type != 0 && !stored.IsKey(p.key) {
			return p, c.to.Refuse(c.spec.KeyPath, nil, "is no _id of a document")
		}
	}
	p.held.id = p.key
	for _, f := range c.fields {
		v, err := stored.ValueAt(c.to, at, f.To)
		if err != nil {
			return p, err
		}
		p.held.values = append(p.held.values, v)
	}
	if c.version != "" {
		p.held.version, err = stored.ValueAt(c.to, at, c.version)
	}
	return p, err
}

// compareCopies returns the copies in a document that a store writes, and the _ids of the
// sources of which the stored document has no copy. fetchSources and fillCopies rely on
// the same order of these _ids.
func (c *untypedCopy) compareCopies(w model.StoreWrite) (copies []placedCopy, fresh []bson.RawValue, err error) {
	if copies, err = c.readCopies(w.After); err != nil || w.After == nil {
		return nil, nil, err
	}
	before, err := c.readCopies(w.Before)
	if err != nil {
		return nil, nil, err
	}
	for i := range copies {
		p := &copies[i]
		j := slices.IndexFunc(before, func(b placedCopy) bool { return bsonval.EqualRaw(b.key, p.key) })
		switch {
		case p.key.Type == 0:
		case j >= 0:
			// Only updateCopies and repairs change a stored copy, by the source's
			// version.
			p.held, p.kept = before[j].held, true
		case !stored.Contains(fresh, p.key):
			fresh = append(fresh, p.key)
		}
	}
	return copies, fresh, nil
}

// fetchSources asks for the sources of new copies, which must exist.
func (c *untypedCopy) fetchSources(w model.StoreWrite) (out []model.Fetch, err error) {
	_, fresh, err := c.compareCopies(w)
	for _, id := range fresh {
		out = append(out, model.Fetch{
			Collection: c.docs.Name(), ID: bsonval.Clone(id), Paths: c.listFetchedPaths(),
			Hold: true, // a transaction that changes the source mustn't miss the new copy
			Missing: &model.ReferenceError{
				Collection: c.to.Name(), Path: c.spec.KeyPath, To: c.docs.Name(), Value: bsonval.Clone(id),
			},
		})
	}
	return out, err
}

// fillCopies returns the copied fields for each copy in the document. Copies without a
// source get no values. The caller's own values never win. It also increments CountUp if
// an update changes a copy.
func (c *untypedCopy) fillCopies(w model.StoreWrite) (set bson.D, err error) {
	copies, fresh, err := c.compareCopies(w)
	if err != nil {
		return nil, err
	}
	for _, p := range copies {
		s := source{values: make([]bson.RawValue, len(c.fields))}
		if p.kept {
			s = p.held
		} else if p.key.Type != 0 {
			i := slices.IndexFunc(fresh, func(id bson.RawValue) bool { return bsonval.EqualRaw(id, p.key) })
			if s, err = c.decodeSource(w.Found(i)); err != nil {
				return nil, err
			}
		}
		set = c.appendCopy(set, p.prefix, s)
	}
	if c.spec.CountUp == "" || w.Before == nil {
		return set, nil
	}
	filled, err := w.With(set)
	if err == nil && filled.ChangesBeside(c.spec.CountUp) {
		n, _ := core.ValueAt(w.Before, c.spec.CountUp)
		last, _ := n.AsInt64OK()
		set = append(set, bson.E{Key: c.spec.CountUp, Value: last + 1})
	}
	return set, err
}

// appendCopy appends the fields of a copy, and its version.
func (c *untypedCopy) appendCopy(set bson.D, prefix string, s source) bson.D {
	for i, f := range c.fields {
		set = append(set, bson.E{Key: prefix + f.To, Value: s.values[i]})
	}
	if c.version != "" {
		set = append(set, bson.E{Key: prefix + c.version, Value: s.version})
	}
	return set
}

// correctNewCopies returns updates of new copies whose sources have changed since they
// were read. The store calls it outside transactions, after the document's write.
func (c *untypedCopy) correctNewCopies(w model.StoreWrite) (steps []model.Step, err error) {
	_, fresh, err := c.compareCopies(w)
	if err != nil {
		return nil, err
	}
	copies, err := c.readCopies(w.After)
	if err != nil {
		return nil, err
	}
	for i, id := range fresh {
		j := slices.IndexFunc(copies, func(p placedCopy) bool { return bsonval.EqualRaw(p.key, id) })
		if step, err := c.correctCopy(w, copies[j].held, w.Found(i)); err != nil || step != nil {
			steps = append(steps, step)
			if err != nil {
				return nil, err
			}
		}
	}
	return steps, nil
}

// correctCopy returns the update of the copies of one source in a document. It is nil if
// the source is unchanged or missing.
func (c *untypedCopy) correctCopy(w model.StoreWrite, was source, doc bson.Raw) (model.Step, error) {
	if doc == nil {
		return nil, nil
	}
	now, err := c.decodeSource(doc)
	if err != nil || c.isSameCopy(was, now) {
		return nil, err
	}
	return c.replaceCopy(w.After.Lookup("_id"), was, now), nil
}

// isSameCopy reports whether two sources give equal copies.
func (c *untypedCopy) isSameCopy(a, b source) bool {
	for i := range c.fields {
		if !a.values[i].Equal(b.values[i]) {
			return false
		}
	}
	return c.version == "" || a.version.Equal(b.version)
}

// replaceCopy replaces the copies of a source in a document, if they are still equal to
// was. So it never overwrites a newer copy, with versions or without.
func (c *untypedCopy) replaceCopy(doc bson.RawValue, was, now source) model.Write {
	element := c.matchElement(now.id, c.matchSource(was)...)
	w := commands.UpdateIf(c.to.Name(),
		append(commands.MatchID(doc), matchInArrays(c.arrays, element)...), c.encodeUpdate(now))
	w.Model.(*mongo.UpdateOneModel).ArrayFilters = c.makeArrayFilters(element)
	return w
}

// matchSource returns the condition that a copy has the values and the version of a
// source.
func (c *untypedCopy) matchSource(s source) (out bson.D) {
	for i, f := range c.fields {
		out = append(out, stored.MatchValueAt(f.To, s.values[i]))
	}
	if c.version != "" {
		out = append(out, stored.MatchValueAt(c.version, s.version))
	}
	return out
}

// updateCopies returns the writes that update the copies of a changed source. They are
// repeatable, so they are Then, not Once.
func (c *untypedCopy) updateCopies(w model.StoreWrite) (a model.Answer, err error) {
	if w.Before == nil || w.After == nil {
		return a, nil
	}
	s, err := c.decodeSource(w.After)
	if err == nil {
		a.Then = c.propagateSource(s)
	}
	return a, err
}
