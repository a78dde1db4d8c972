package model

// On a model's database, a write of a [Collection] is refused if a technique must take part
// in it. A write by a [Store], or by a method of a technique, isn't.

// reactingCollections returns the collections in which techniques have reactions.
func (m *Model) reactingCollections() map[string]*reactingDocs {
	out := map[string]*reactingDocs{}
	of := func(collection string) *reactingDocs {
		if out[collection] == nil {
			out[collection] = &reactingDocs{map[Occasion][]string{}, map[string][]string{}}
		}
		return out[collection]
	}
	for _, t := range m.techniques {
		r, ok := t.(reacting)
		if !ok {
			continue
		}
		name, reacts := techniqueName(t), false
		for _, reaction := range r.Reactions() {
			computes := len(reaction.Derives)+len(reaction.Transient) > 0
			if !reaction.reachesOthers() && !computes { // it only checks the document
				continue
			}
			reacts = true
			docs := of(reaction.Collection)
			for _, kind := range []Occasion{OnInsert, OnDelete} {
				if reaction.On.includes(kind) && (kind == OnInsert || reaction.reachesOthers()) {
					docs.kinds[kind] = appendNew(docs.kinds[kind], name)
				}
			}
			for _, path := range reaction.Paths {
				docs.paths[path] = appendNew(docs.paths[path], name)
			}
		}
		for _, f := range t.Footprints() {
			if f.Use == Owns && f.Path != Whole && f.Document == "" && reacts {
				docs := of(f.Collection)
				docs.paths[f.Path] = appendNew(docs.paths[f.Path], name)
			}
		}
	}
	return out
}
