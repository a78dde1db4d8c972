package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// checkUpdate refuses what is not an update by operators of the link's own fields, and reports whether a second run of it
// changes nothing.
func (j *joinCollection) checkUpdate(update bson.D) (once bool, _ error) {
	refuse := func(field, reason string) (bool, error) {
		return false, &model.ValueError{Collection: j.links, Field: field, Reason: reason}
	}
	if len(update) == 0 {
		return refuse("update", "has no operator")
	}
	once = true
	for _, op := range update {
		if len(op.Key) < 2 || op.Key[0] != '$' {
			return refuse(op.Key, "is not an update operator")
		}
		fields, ok := documentOf(op.Value)
		if !ok {
			return refuse(op.Key, "needs a document of fields")
		}
		once = once && repeats[op.Key]
		for _, f := range fields {
			paths := []string{f.Key()}
			if to, ok := f.Value().StringValueOK(); ok && op.Key == "$rename" {
				paths = append(paths, to)
			}
			for _, path := range paths {
				if model.Overlap(path, j.left) || model.Overlap(path, j.right) || model.Overlap(path, "_id") {
					return refuse(path, "is an id of the link: use Move")
				}
			}
		}
	}
	return once, nil
}

// repeats holds the operators whose second run changes nothing.
var repeats = map[string]bool{
	"$set": true, "$unset": true, "$addToSet": true, "$pull": true, "$pullAll": true, "$min": true, "$max": true, "$rename": true,
	"$setOnInsert": true,
}

// documentOf returns the fields of a value that is stored as a document.
func documentOf(v any) ([]bson.RawElement, bool) {
	raw, err := model.EncodeDocument[any, any](nil, bson.D{{Key: "v", Value: v}})
	if err != nil {
		return nil, false
	}
	doc, ok := bson.Raw(raw).Lookup("v").DocumentOK()
	if !ok {
		return nil, false
	}
	elems, err := doc.Elements()
	return elems, err == nil
}
