package store

// claim asks whether the writer may turn old into next. Outside transactions
// it may unless an open transaction has touched the record or a unique key:
// then it has to wait. Inside, it may not either when somebody else has
// committed a change of them since the transaction's begin.
func (s *Store) claim(w *Writer, e *collEdit, list []change, old, next *Record) error {
	if w.txn == nil && len(s.txns) == 0 {
		return nil
	}
	for _, t := range s.txns {
		if t != w.txn && t.touchedRecord(e, old) {
			return w.blocked(t, e.base.NS)
		}
	}
	if w.txn != nil && !e.created {
		current := s.state.Load().Collection(e.base.NS)
		if current == nil || current.id != e.base.id || current.schema != e.base.schema {
			return writeConflict("collection %s has changed since the transaction began", e.base.NS)
		}
		if old != nil && !w.txn.owns(e, old) {
			if now, ok := current.Record(old.ID); !ok || now != old {
				return writeConflict("a document of %s has changed since the transaction began", e.base.NS)
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

// claimKey asks whether the writer may add a unique key. Like WiredTiger, the
// index on _id looks for the key in what the writer sees before it looks for
// conflicts. Other indexes look for conflicts first.
func (s *Store) claimKey(w *Writer, e *collEdit, x *indexEdit, key Key, self int64) error {
	_, seen := x.spec.find(x.entries.View(), key, self)
	if seen && x == e.indexes[0] {
		return duplicateKey(e.base.NS, x.spec, key)
	}
	k := indexKey{e.base.id, x.spec.Name}
	for _, t := range s.txns {
		if t != w.txn && hasKey(t.keys[k], key) {
			return w.blocked(t, e.base.NS)
		}
	}
	if w.txn != nil && hasKey(w.txn.added[k], key) {
		return writeConflict("a key of index %s of %s was added since the transaction began", x.spec.Name, e.base.NS)
	}
	return nil
}

func hasKey(keys *Editor[Entry], key Key) bool {
	if keys == nil {
		return false
	}
	_, ok := keys.View().Get(Entry{Key: key})
	return ok
}

// addKeys notes keys of a unique index in keys.
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

// blocked returns the error for meeting what the open transaction t holds.
func (w *Writer) blocked(t *Txn, ns Namespace) error {
	if w.txn == nil {
		return held{t}
	}
	return writeConflict("Caused by :: Write conflict during plan execution and yielding is disabled. :: "+
		"another transaction is changing %s", ns)
}

// owns reports whether the transaction has already changed the record.
func (t *Txn) owns(e *collEdit, r *Record) bool {
	_, ok := t.records[recordKey{e.base.id, r.ID}]
	return ok
}

func (t *Txn) touchedRecord(e *collEdit, r *Record) bool {
	return r != nil && t.owns(e, r)
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

// note remembers what the transaction is about to change.
func (t *Txn) note(e *collEdit, list []change, old, next *Record) {
	t.join()
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

// join makes the transaction one that others have to mind.
func (t *Txn) join() {
	if !t.open {
		t.open = true
		t.store.txns = append(t.store.txns, t)
	}
}
