package design

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// insert stores a new document of an entity, with its relations and their copies.
func (x *work) insert(a *access) error {
	d := x.db.insert(a.of)
	named := map[*relation]string{}
	for _, r := range a.of.parents {
		named[r] = r.parent.Name
	}
	for _, p := range a.by {
		named[p.own] = p.as
	}
	home := x.home[a.of]
	for _, r := range a.of.parents {
		if r == home || x.listed(r) {
			continue
		}
		if r.many() {
			list := bson.A{}
			for k := range r.each() {
				one, err := x.link(r, numbered(named[r], k))
				if err != nil {
					return err
				}
				list = append(list, one)
			}
			d = put(d, r.Field, list)
			continue
		}
		one, err := x.link(r, named[r])
		if err != nil {
			return err
		}
		d = put(d, r.Field, one)
	}
	x.ids[a.Of+"="+a.Of] = d[0].Value.(id)
	delete(x.read, a.Of+"="+a.Of)
	if home == nil {
		return x.insertApart(a.of, d, named)
	}
	if p := x.pages[home]; p != nil {
		return x.append(p, x.id(p.rel.parent, named[p.rel]), named[p.rel], d)
	}
	w := x.lists[home].Add(x.id(home.parent, named[home]), d)
	x.add(write{Write: w, host: home.parent, one: named[home], n: 1, changes: changes(1, home.List)})
	return nil
}

// numbered is the name of a child's k-th parent; the first has the plain name.
func numbered(name string, k int64) string {
	if k == 0 {
		return name
	}
	return fmt.Sprint(name, " ", k+1)
}

// link returns a child's reference to a parent: the _id, or a document of the _id and
// copies, for which it reads the parent.
func (x *work) link(r *relation, name string) (any, error) {
	one := x.id(r.parent, name)
	copied := x.storage(r).Copy
	if len(copied) == 0 {
		return one, nil
	}
	source, err := x.get(r.parent, name)
	if err != nil {
		return nil, err
	}
	out := doc{{Key: "_id", Value: one}}
	for _, f := range copied {
		out = append(out, bson.E{Key: f, Value: at(source, x.source(r.parent, f))})
	}
	return out, nil
}

// insertApart stores a document in its own collection, and updates its parents.
func (x *work) insertApart(e *entity, d doc, named map[*relation]string) error {
	if i := slices.IndexFunc(e.parents, func(r *relation) bool { return x.stores[r] != nil }); i >= 0 {
		if err := x.insertStored(e.parents[i], d); err != nil {
			return err
		}
	} else {
		x.add(write{Write: x.own[e].Insert(d), host: e, n: 1})
	}
	for _, r := range e.parents {
		parent := x.id(r.parent, named[r])
		if x.listed(r) {
			w := x.orders[r].Add(parent, d[0].Value.(id))
			x.add(write{Write: w, host: r.parent, one: named[r], n: 1, changes: changes(1, r.List)})
		}
	}
	return nil
}

// insertStored stores a document that its parent shows or counts.
func (x *work) insertStored(r *relation, d doc) error {
	if err := x.send(); err != nil {
		return err
	}
	x.forget(r.parent)
	entries := 1 + float64(len(x.indexes[r.Child]))
	if x.newest[r] != nil {
		entries += x.entriesOf(write{host: r.parent, changes: changes(2, r.List)})
	}
	return x.db.change(x.stores[r].Insert(d).Change(), changed{
		text:     "Store.Insert: the parent read; the child, the parent and the child written",
		commands: 4, read: 1, written: map[*entity]float64{r.child: 2, r.parent: 1}, entries: entries,
		tx: &changed{
			text:     "Store.Insert in a transaction: the child and the parent written, and the commit",
			commands: 2, written: map[*entity]float64{r.child: 1, r.parent: 1}, entries: entries,
		},
	})
}

// append stores a document at the end of its parent's pages.
func (x *work) append(p *pages, parent id, name string, d doc) error {
	if err := x.send(); err != nil {
		return err
	}
	host := x.hostOf(p)
	x.forget(host)
	if t := x.pushed[p.rel]; t != nil {
		x.add(write{Write: t.Push(parent, d), host: p.rel.parent, one: name, n: 1, changes: changes(2, p.rel.List)})
	}
	cost := changed{
		text:     "Bucket.Append: the newest page's counts read, and the page written",
		commands: 2, read: 1, written: map[*entity]float64{host: 1}, entries: float64(len(x.indexes[host.Name])),
	}
	tx := cost
	tx.text += " in a transaction, and the commit"
	tx.commands, cost.tx = 3, &tx
	return x.db.change(p.bucket.Append(parent, d), cost)
}

// addLinks adds a parent to a document in each many-to-many relation of an update.
func (x *work) addLinks(a *access, name string) error {
	for _, p := range a.links {
		one, err := x.link(p.own, p.as)
		if err != nil {
			return err
		}
		var w model.Write
		if d, ok := one.(doc); ok {
			w = x.lists[p.own].Put(x.id(a.of, name), d)
		} else {
			w = x.links[p.own].Add(x.id(a.of, name), x.id(p.own.parent, p.as))
		}
		x.add(write{Write: w, host: a.of, one: name, n: 1, changes: changes(1, p.own.Field)})
	}
	return nil
}

// countedBy returns the relation whose parents have totals of an updated field, or nil.
func (x *work) countedBy(a *access) *relation {
	for _, r := range a.of.parents {
		if x.counts[r] != nil &&
			slices.ContainsFunc(x.totals(r), func(t total) bool {
				return t.field != nil && slices.Contains(a.sets, t.field.Name)
			}) {
			return r
		}
	}
	return nil
}

// updateCounted updates fields of a document that its parent adds up.
func (x *work) updateCounted(r *relation, child id, set bson.D) error {
	if err := x.send(); err != nil {
		return err
	}
	x.forget(r.parent)
	x.forget(r.child)
	return x.db.change(x.stores[r].Set(child, set).Change(), changed{
		text:     "Store.Set: the child read; the child, the parent and the child written",
		commands: 4, read: 1, written: map[*entity]float64{r.child: 2, r.parent: 1}, entries: 2,
		tx: &changed{
			text:     "Store.Set in a transaction: the child read; the child and the parent written, and the commit",
			commands: 3, read: 1, written: map[*entity]float64{r.child: 1, r.parent: 1}, entries: 2,
		},
	})
}

// changed is the documented cost of a technique's change.
type changed struct {
	text           string
	commands, read float64
	written        map[*entity]float64
	entries        float64

	tx *changed // in a transaction, with its commit
}

// update updates fields of one document, and their copies.
func (x *work) update(a *access) error {
	name := a.by[0].as
	set := bson.D{}
	for _, f := range a.sets {
		set = append(set, bson.E{Key: f, Value: x.db.value(a.of, a.of.field(f))})
	}
	if home := x.home[a.of]; home != nil {
		w, err := x.updateElement(home, name, set)
		x.add(w)
		return err
	}
	if err := x.addLinks(a, name); err != nil || len(set) == 0 {
		return err
	}
	w := x.own[a.of].Update(x.id(a.of, name), bson.D{{Key: "$set", Value: set}})
	copies := slices.DeleteFunc(slices.Clone(a.of.children), func(r *relation) bool {
		return !slices.ContainsFunc(a.sets, func(f string) bool { return x.copied(r, f) != "" })
	})
	if len(copies) > 0 {
		if _, err := x.get(a.of, name); err != nil {
			return err
		}
	}
	key := a.Of + "=" + name
	changed, known := x.read[key]
	if r := x.countedBy(a); r != nil {
		if err := x.updateCounted(r, x.id(a.of, name), set); err != nil {
			return err
		}
	} else {
		x.add(write{Write: w, host: a.of, one: name, n: 1, changes: changes(2, a.sets...)})
	}
	if known {
		changed = slices.Clone(changed)
		for _, e := range set {
			changed = put(changed, e.Key, e.Value)
		}
		x.read[key] = changed
	}
	for _, r := range copies {
		n := r.average()
		if home := x.home[r.child]; home != nil {
			n = home.distinct(n)
		}
		if err := x.propagate(r, &changed, n, a.sets); err != nil {
			return err
		}
	}
	return nil
}

// propagate updates the copies of a parent's fields in n documents.
func (x *work) propagate(r *relation, source *doc, n float64, sets []string) error {
	var paths []string
	for _, f := range sets {
		if x.copied(r, f) != "" {
			paths = append(paths, x.prefix(r.child)+x.copied(r, f))
		}
	}
	for _, step := range x.copies[r].Propagate(source).Steps {
		w, ok := step.(model.Write)
		if !ok {
			return fmt.Errorf("a step of %s's copy is no write", r.name())
		}
		x.add(write{Write: w, host: x.host(r.child), n: n, changes: changes(2, paths...)})
	}
	return nil
}

// updateElement updates an embedded document. It finds the parent first, if the operation
// doesn't know it.
func (x *work) updateElement(home *relation, name string, set bson.D) (write, error) {
	parent, key, err := x.parentOf(home, name)
	if err != nil {
		return write{}, err
	}
	var paths []string
	for _, e := range set {
		paths = append(paths, home.List+"."+e.Key)
	}
	w := x.lists[home].Update(parent, key, bson.D{{Key: "$set", Value: set}})
	return write{Write: w, host: home.parent, one: "of " + name, n: 1, changes: changes(2, paths...)}, w.Err
}

// parentOf finds the parent of an embedded document.
func (x *work) parentOf(home *relation, name string) (parent, key id, err error) {
	key = x.id(home.child, name)
	q := x.own[home.parent].Find(bson.D{{Key: home.List + "._id", Value: key}})
	found, err := x.find(q, home.parent, expected{n: 1, some: 1, bytes: x.only(q, home.parent)})
	if err != nil || len(found) == 0 {
		return parent, key, err
	}
	return found[0][0].Value.(id), key, nil
}

// delete deletes one document. Its children stay.
func (x *work) delete(a *access) error {
	name := a.by[0].as
	x.db.deleted(x.id(a.of, name))
	home := x.home[a.of]
	if home == nil {
		return x.deleteApart(a.of, x.id(a.of, name))
	}
	parent, key, err := x.parentOf(home, name)
	if err != nil {
		return err
	}
	x.add(write{
		Write: x.lists[home].Remove(parent, key), host: home.parent, one: "of " + name, n: 1, changes: changes(1, home.List),
	})
	return nil
}

// deleteApart deletes a document of a collection, and updates its parents.
func (x *work) deleteApart(e *entity, one id) error {
	for _, r := range e.parents {
		if x.listed(r) {
			x.add(write{Write: x.orders[r].RemoveEverywhere(one), host: r.parent, n: 1, changes: changes(1, r.List)})
		}
		if t := x.stores[r]; t != nil {
			if err := x.send(); err != nil {
				return err
			}
			x.forget(r.parent)
			entries := 1 + float64(len(x.indexes[e.Name]))
			return x.db.change(t.Delete(one).Change(), changed{
				text:     "Store.Delete: the child read; the child, the parent and the child written",
				commands: 4, read: 1, written: map[*entity]float64{e: 2, r.parent: 1}, entries: entries,
				tx: &changed{
					text:     "Store.Delete in a transaction: the child read; the child and the parent written, and the commit",
					commands: 3, read: 1, written: map[*entity]float64{e: 1, r.parent: 1}, entries: entries,
				},
			})
		}
	}
	x.add(write{Write: x.own[e].Delete(one), host: e, n: 1})
	return nil
}

// merged merges updates of the same document where possible.
func merged(all []write) (out []write) {
	for _, w := range all {
		k := slices.IndexFunc(out, func(o write) bool { return w.one != "" && o.one == w.one && o.host == w.host })
		if k >= 0 {
			if both := model.Merge(out[k].Write, w.Write); both.Err == nil {
				out[k].Write = both
				out[k].changes = append(slices.Clone(out[k].changes), w.changes...)
				continue
			}
		}
		out = append(out, w)
	}
	return out
}
