package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/keyed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// scopes are the scopes of a database, the outermost first. They are its [rewriter].
type scopes []*scope

// scopesOf returns the scopes of a database.
func scopesOf(db DB) scopes {
	list, _ := rewriterOf(db).(scopes)
	return list
}

func (l scopes) query(q *Query) {
	for _, s := range l {
		s.query(q)
	}
}

func (l scopes) aggregation(a *Aggregation) {
	for _, s := range l {
		s.aggregation(a)
	}
}

func (l scopes) findAndModify(m *FindAndModify) {
	for _, s := range l {
		s.findAndModify(m)
	}
}

func (l scopes) write(w Write) Write {
	for _, s := range l {
		w = s.write(w)
	}
	return w
}

func (l scopes) plan(p Plan) Plan {
	for _, s := range l {
		p = s.plan(p)
	}
	return p.refuseUnkeyed(l.refuseUnkeyed)
}

// indexes returns the set under the scopes. The outermost scope's fields come first. It skips
// the scope that tests set everywhere, because those tests put the tenant into all index keys
// themselves.
func (l scopes) indexes(set IndexSet) (IndexSet, []use) {
	set.Needed = slices.Clone(set.Needed)
	for i, x := range set.Needed {
		if slices.ContainsFunc(l, func(s *scope) bool { return s.keys(x.Collection, false) }) {
			set.Needed[i].Keys = keyed.Keyer{}.Paths(x.Keys)
			set.Needed[i].Partial = keyed.Keyer{}.Paths(x.Partial)
		}
	}
	for _, s := range slices.Backward(l) {
		if !s.tests {
			set = s.indexes(set)
		}
	}
	var uses []use
	for _, s := range l {
		for _, x := range set.Needed {
			uses = s.withUse(uses, x.Collection)
		}
	}
	return set, uses
}

// validation returns the validation for the database. In a collection that the database's
// model knows as keyed, the rule for _id also allows the _id of a tenant.
func (l scopes) validation(v Validation) Validation {
	if slices.ContainsFunc(l, func(s *scope) bool { return s.keyed[v.Collection] || s.keys(v.Collection, false) }) {
		v.Validator = keyedValidator(v.Validator)
	}
	return v
}

func (l scopes) scoping(collection string) (out core.Scoping) {
	for _, s := range l {
		add := s.additions(collection)
		out.Insert, out.Set = append(out.Insert, add.Insert...), append(out.Set, add.Set...)
		if s.holds(collection) {
			out.Mark = append(out.Mark, s.mark...)
		}
	}
	return out
}

func (l scopes) filterFields() (fields []string) {
	for _, s := range l {
		for _, e := range s.filter {
			fields = append(fields, e.Key)
		}
	}
	return fields
}

// router returns a router for the shard keys of the models among the scopes.
func (l scopes) router() router {
	var keys map[string]ShardKey
	for _, s := range l {
		for name, key := range s.sharded {
			if keys == nil {
				keys = map[string]ShardKey{}
			}
			keys[name] = key
		}
	}
	if keys == nil {
		return nil
	}
	return &routes{keys: keys, known: map[string]map[string]bson.D{}}
}
