package embed

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (k *kinds) checks() []model.Check {
	type row struct {
		ID   bson.RawValue   `bson:"_id"`
		Tags []bson.RawValue `bson:"tags"`
	}
	tags := any(bson.A{bson.D{{Key: "$ifNull", Value: bson.A{"$" + k.tag(), nil}}}})
	if k.list {
		tags = bson.D{{Key: "$map", Value: bson.D{
			{Key: "input", Value: "$" + k.path},
			{Key: "in", Value: bson.D{{Key: "$ifNull", Value: bson.A{"$$this." + k.u.tag, nil}}}},
		}}}
	}
	return []model.Check{{
		Name: k.docs.Name() + "." + k.tag() + ": unknown tags", Collection: k.docs.Name(),
		Rule:     "each value has a declared tag: " + strings.Join(k.u.tags(), ", "),
		Pipeline: found.FindMatching(k.strangers(), bson.E{Key: "tags", Value: tags}),
		Tell: found.DescribeRows(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, k.tag()+" is "+strings.Join(k.unknown(r.Tags), ", ")
		}),
	}}
}

// unknown returns the undeclared tags, each once.
func (k *kinds) unknown(tags []bson.RawValue) (out []string) {
	for _, tag := range tags {
		name, _ := tag.StringValueOK()
		if _, known := k.u.byTag[name]; !known && !slices.Contains(out, model.Shell(tag)) {
			out = append(out, model.Shell(tag))
		}
	}
	return out
}

// strangers is the condition that a document is, or contains, a value with an undeclared
// tag.
func (k *kinds) strangers() bson.D {
	none := bson.A{}
	for _, tag := range k.u.tags() {
		none = append(none, tag)
	}
	nin := bson.D{{Key: "$nin", Value: none}}
	switch {
	case k.list:
		return bson.D{{Key: k.path, Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: k.u.tag, Value: nin}}}}}}
	case k.path != "":
		return bson.D{{Key: k.path, Value: bson.D{{Key: "$type", Value: "object"}}}, {Key: k.tag(), Value: nin}}
	}
	return bson.D{{Key: k.tag(), Value: nin}}
}
