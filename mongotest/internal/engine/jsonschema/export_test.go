package jsonschema

import "slices"

// ListUnexplained returns the keywords that values can fail to fulfill, and that Explain can't tell.
func ListUnexplained() (list []string) {
	for _, k := range Keywords() {
		silent := []string{"title", "description", "exclusiveMinimum", "exclusiveMaximum"}
		if (explainers[k] == nil || !slices.Contains(reported, k)) && !slices.Contains(silent, k) {
			list = append(list, k)
		}
	}
	return list
}
