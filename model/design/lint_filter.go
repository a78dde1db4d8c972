package design

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// filterOf returns the filter of a write; nil for an insert.
func filterOf(w model.Write) bson.D {
	var f any
	if core.IsNilModel(w.Model) {
		return nil
	}
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		f = m.Filter
	case *mongo.UpdateManyModel:
		f = m.Filter
	case *mongo.ReplaceOneModel:
		f = m.Filter
	case *mongo.DeleteOneModel:
		f = m.Filter
	case *mongo.DeleteManyModel:
		f = m.Filter
	}
	filter, _ := f.(bson.D)
	return filter
}

// patterns describes the regular expressions of a filter that no index narrows.
func patterns(v any) (out []string) {
	switch v := v.(type) {
	case bson.D:
		options := ""
		for _, e := range v {
			if s, ok := e.Value.(string); ok && e.Key == "$options" {
				options = s
			}
		}
		for _, e := range v {
			if s, ok := e.Value.(string); ok && e.Key == "$regex" {
				out = append(out, pattern(s, options)...)
				continue
			}
			out = append(out, patterns(e.Value)...)
		}
	case bson.A:
		for _, e := range v {
			out = append(out, patterns(e)...)
		}
	case bson.Regex:
		out = pattern(v.Pattern, v.Options)
	}
	return out
}

func pattern(p, options string) []string {
	switch {
	case strings.Contains(options, "i"):
		return []string{fmt.Sprintf("/%s/%s ignores case", p, options)}
	case !strings.HasPrefix(p, "^"):
		return []string{fmt.Sprintf("/%s/%s doesn't begin with ^", p, options)}
	}
	return nil
}

// lookups counts the stages of a pipeline that read other documents, also in inner
// pipelines.
func lookups(v any) (n int) {
	switch v := v.(type) {
	case mongo.Pipeline:
		for _, stage := range v {
			n += lookups(stage)
		}
	case []bson.D:
		for _, stage := range v {
			n += lookups(stage)
		}
	case bson.A:
		for _, e := range v {
			n += lookups(e)
		}
	case bson.D:
		for _, e := range v {
			if e.Key == "$lookup" || e.Key == "$graphLookup" {
				n++
			}
			n += lookups(e.Value)
		}
	}
	return n
}
