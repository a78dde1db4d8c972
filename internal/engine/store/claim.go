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
		if t != w.txn && (t.touchedRecord(e, old) || t.touchedKey(e, list)) {
			return w.blocked(t, e.base.NS)
		}
	}
	if w.txn == nil || e.created {
		return nil
	}
	current := s.state.Load().Collection(e.base.NS)
	if current == nil || current.id != e.base.id || current.schema != e.base.schema {
		return writeConflict("collection %s has changed since the transaction began", e.base.NS)
	}
	if old != nil && !w.txn.owns(e, old) {
		if now, ok := current.Record(old.ID); !ok || now != old {
			return writeConflict("a document of %s has changed since the transaction began", e.base.NS)
		}
	}
	return w.txn.checkKeys(current, e, list, next)
}

// blocked returns the error for meeting what the open transaction t holds.
func (w *Writer) blocked(t *Txn, ns Namespace) error {
	if w.txn == nil {
		return held{t}
	}
	return writeConflict("Caused by :: Write conflict during plan execution and yielding is disabled. :: "+
		"another transaction is changing %s", ns)
}

// checkKeys refuses unique keys that somebody else has committed since the
// transaction began, which it doesn't see.
func (t *Txn) checkKeys(current *Collection, e *collEdit, list []change, next *Record) error {
	if next == nil {
		return nil
	}
	for i, x := range e.indexes {
		if !x.spec.Guards() {
			continue
		}
		for _, key := range list[i].add {
			now, taken := x.spec.find(current.Indexes[i].Entries, key, next.ID)
			if !taken {
				continue
			}
			if _, mine := t.records[recordKey{e.base.id, now.Record}]; mine {
				continue
			}
			if _, seen := x.spec.find(x.entries.View(), key, next.ID); !seen {
				return writeConflict("a key of index %s of %s was added since the transaction began",
					x.spec.Name, e.base.NS)
			}
		}
	}
	return nil
}

// owns reports whether the transaction has already changed the record.
func (t *Txn) owns(e *collEdit, r *Record) bool {
	_, ok := t.records[recordKey{e.base.id, r.ID}]
	return ok
}

func (t *Txn) touchedRecord(e *collEdit, r *Record) bool {
	return r != nil && t.owns(e, r)
}

func (t *Txn) touchedKey(e *collEdit, list []change) bool {
	for i, x := range e.indexes {
		keys := t.keys[indexKey{e.base.id, x.spec.Name}]
		if keys == nil || !x.spec.Guards() {
			continue
		}
		for _, key := range list[i].add {
			if _, ok := keys.View().Get(Entry{Key: key}); ok {
				return true
			}
		}
	}
	return false
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
		if !x.spec.Guards() || len(list[i].add)+len(list[i].remove) == 0 {
			continue
		}
		k := indexKey{e.base.id, x.spec.Name}
		keys := t.keys[k]
		if keys == nil {
			edit := NewTree(x.spec.compareEntries).Edit()
			keys = &edit
			t.keys[k] = keys
		}
		for _, key := range list[i].add {
			keys.Set(Entry{Key: key})
		}
		for _, key := range list[i].remove {
			keys.Set(Entry{Key: key})
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
