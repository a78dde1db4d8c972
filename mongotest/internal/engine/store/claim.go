package store

// claimChange returns an error if the writer may not turn old into next. Outside transactions it may unless an open
// transaction has changed the record or added the same unique key: then it has to wait. Inside a transaction it may not
// either if somebody else has committed a change of the record or the collection since the transaction's begin.
func (s *Store) claimChange(w *Writer, e *collEdit, list []change, old, next *Record) error {
	// The usual case: nothing can be in the way.
	if w.txn == nil && len(s.txns) == 0 {
		return nil
	}
	for _, t := range s.txns {
		if t != w.txn && t.touchedRecord(e, old) {
			return w.newBlocked(t, e.base.NS)
		}
	}
	if w.txn != nil && !e.created {
		current := s.state.Load().Collection(e.base.NS)
		// The schema changes with the indexes: the transaction has computed keys for the old ones.
		if current == nil || current.id != e.base.id || current.schema != e.base.schema {
			return newWriteConflict("collection %s has changed since the transaction began", e.base.NS)
		}
		if old != nil && !w.txn.hasRecord(e, old) {
			if now, ok := current.Record(old.ID); !ok || now != old {
				return newWriteConflict("a document of %s has changed since the transaction began", e.base.NS)
			}
		}
	}
	if next == nil {
		return nil
	}
	for i, x := range e.indexes {
		if !x.spec.Guards() {
			continue
		}
		for _, key := range list[i].add {
			if err := s.claimKey(w, e, x, key, next.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimKey returns an error if the writer may not add a unique key, for the record self. Like WiredTiger, the index on
// _id looks for the key in what the writer sees before it looks for conflicts. Other indexes look for conflicts first.
func (s *Store) claimKey(w *Writer, e *collEdit, x *indexEdit, key Key, self int64) error {
	_, seen := x.spec.findOther(x.entries.View(), key, self)
	if seen && x == e.indexes[0] {
		return newDuplicateKey(e.base.NS, x.spec, key)
	}
	k := indexKey{e.base.id, x.spec.Name}
	for _, t := range s.txns {
		if t != w.txn && hasKey(t.keys[k], key) {
			return w.newBlocked(t, e.base.NS)
		}
	}
	if w.txn != nil && hasKey(w.txn.added[k], key) {
		return newWriteConflict("a key of index %s of %s was added since the transaction began", x.spec.Name, e.base.NS)
	}
	return nil
}

// hasKey reports whether a set of keys, which may be nil, has the key.
func hasKey(keys *Editor[Entry], key Key) bool {
	if keys == nil {
		return false
	}
	_, ok := keys.View().Get(Entry{Key: key})
	return ok
}

// addKeys notes keys of a unique index of the collection with the id coll in keys.
func addKeys(keys map[indexKey]*Editor[Entry], coll int64, spec *IndexSpec, list []Key) {
	if len(list) == 0 {
		return
	}
	k := indexKey{coll, spec.Name}
	if keys[k] == nil {
		edit := NewTree(spec.compareEntries).Edit()
		keys[k] = &edit
	}
	for _, key := range list {
		keys[k].Set(Entry{Key: key})
	}
}

// newBlocked returns the error for meeting a record or key that the open transaction t holds: a write outside
// transactions waits, a write in a transaction fails.
func (w *Writer) newBlocked(t *Txn, ns Namespace) error {
	if w.txn == nil {
		return heldError{t}
	}
	return newWriteConflict("Caused by :: Write conflict during plan execution and yielding is disabled. :: "+
		"another transaction is changing %s", ns)
}

// hasRecord reports whether the transaction has already changed the record.
func (t *Txn) hasRecord(e *collEdit, r *Record) bool {
	_, ok := t.records[recordKey{e.base.id, r.ID}]
	return ok
}

// touchedRecord is hasRecord for a record that may be nil.
func (t *Txn) touchedRecord(e *collEdit, r *Record) bool {
	return r != nil && t.hasRecord(e, r)
}

// touchedCollection reports whether the transaction has changed anything in
// the collection of that name, or made it.
func (t *Txn) touchedCollection(ns Namespace) bool {
	if t.created[ns] {
		return true
	}
	for _, r := range t.records {
		if r.ns == ns {
			return true
		}
	}
	return false
}

// noteChange remembers a change that the transaction is about to make: other writers must wait for it, and the commit
// repeats it.
func (t *Txn) noteChange(e *collEdit, list []change, old, next *Record) {
	t.markOpen()
	id := int64(0)
	if next != nil {
		id = next.ID
	} else {
		id = old.ID
	}
	k := recordKey{e.base.id, id}
	r, again := t.records[k]
	if !again {
		r = touched{ns: e.base.NS, old: old}
	}
	r.next = next
	t.records[k] = r
	for i, x := range e.indexes {
		if x.spec.Guards() {
			addKeys(t.keys, e.base.id, x.spec, list[i].add)
		}
	}
}

// markOpen makes the transaction one that other writers must mind. A transaction that only reads never is.
func (t *Txn) markOpen() {
	if !t.open {
		t.open = true
		t.store.txns = append(t.store.txns, t)
	}
}
