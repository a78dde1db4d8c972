package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
)

// Validations returns the validators of all schema.Schema, bounded.Bounded and
// bucket.Bucket techniques, combined by $and for each collection.
func (m *Model) Validations() (out []Validation) {
	m.mustExist("Model.Validations")
	for _, t := range m.techniques {
		x, ok := t.(interface{ Validation() Validation })
		if !ok {
			continue
		}
		v := x.Validation()
		i := slices.IndexFunc(out, func(o Validation) bool { return o.Collection == v.Collection })
		if i < 0 {
			out = append(out, v)
			continue
		}
		out[i].Validator = bsondoc.JoinFilters(out[i].Validator, v.Validator)
	}
	return out
}
