package model

import (
	"cmp"
	"slices"
)

// Indexes returns the indexes that the techniques need. The set's Dropped lists each
// index whose keys are the first keys of another index
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-compound/#index-prefixes),
// or whose queries another one serves because of [Index].Equal.
// If the other index is partial, the two indexes' filters must be equal. For a unique or
// TTL index, the other index must have the same keys and the same option.
func (m *Model) Indexes() IndexSet {
	m.mustExist("Model.Indexes")
	var all []Index
	for _, t := range m.techniques {
		all = append(all, t.Indexes()...)
	}
	chosen := chooseIndexes(all)
	var set IndexSet
	for i, y := range all {
		by, why := servedBy(all, chosen, i)
		switch {
		case why == "":
			set.Needed = append(set.Needed, y)
		case by != y.Name &&
			!slices.ContainsFunc(set.Dropped, func(d DroppedIndex) bool { return d.Index.String() == y.String() }):
			set.Dropped = append(set.Dropped, DroppedIndex{y, by, why})
		}
	}
	return set
}

// chooseIndexes returns which indexes serve all others. An index that can serve another
// comes before it: the longer, the one with more properties, the one with the stricter order.
// Of equal ones, the first serves the rest.
func chooseIndexes(all []Index) (chosen []int) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, y := all[i], all[j]
		return cmp.Or(len(y.Keys)-len(x.Keys), whichFirst(x.Unique, y.Unique),
			whichFirst(x.ExpireAfter != 0, y.ExpireAfter != 0),
			whichFirst(x.Partial == nil, y.Partial == nil), x.Equal-y.Equal)
	})
	for _, i := range order {
		if _, why := servedBy(all, chosen, i); why == "" {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

func whichFirst(x, y bool) int {
	switch {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return 0
}

// servedBy returns the chosen index that serves the i-th, and the reason; "" if none does.
func servedBy(all []Index, chosen []int, i int) (by, why string) {
	y := all[i]
	if len(y.Keys) == 1 && y.Keys[0].Key == "_id" && y.ExpireAfter == 0 && y.Partial == nil {
		if _, _, ok := directed(y.Keys[0].Value); ok {
			return IDIndex, "every collection has this index"
		}
	}
	for _, j := range chosen {
		if why := all[j].covers(y); why != "" && i != j {
			return all[j].Name, why
		}
	}
	return "", ""
}
