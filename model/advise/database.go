package advise

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// A DatabaseSurvey is the result of [SurveyDatabase].
type DatabaseSurvey struct {
	Collections []SurveyedCollection // the collections, sorted by name
	Relations   []SurveyedRelation   // the relations, sorted by their Collection and Path
}

// A SurveyedCollection is a collection that [SurveyDatabase] found.
type SurveyedCollection struct {
	Name    string
	Sampled Share
	Indexes []IndexUse // the indexes in the order of names, without the _id index
	Unknown string     // why the use of indexes is unknown, or ""
}

// An IndexUse says how often (Ops) the server used an index since the time Since.
type IndexUse struct {
	Name  string
	Ops   int64
	Since time.Time
}

// text returns "a_1: not used since 2026-01-31" or
// "a_1: used 7 times since 2026-01-31".
func (u IndexUse) text() string {
	since := u.Since.UTC().Format(time.DateOnly)
	if u.Ops == 0 {
		return u.Name + ": not used since " + since
	}
	return fmt.Sprintf("%s: used %s times since %s", u.Name, countText(u.Ops), since)
}

// A SurveyedRelation is a relation that [SurveyDatabase] found.
type SurveyedRelation struct {
	SurveyResult
	Collection string // name of the collection that stores the relation
	Path       string // path of an embedded array, an id, or a list of ids
	To         string // collection whose _ids are at Path; "" for an embedded array
	Matched    Share  // share of the distinct sampled ids that exist in To
}

// String returns the collections, the use of their indexes, and the relations.
func (s DatabaseSurvey) String() string {
	var b strings.Builder
	for _, c := range s.Collections {
		fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Sampled.sampledText())
		if c.Unknown != "" {
			fmt.Fprintf(&b, "  use of indexes not known: %s\n", c.Unknown)
		}
		for _, x := range c.Indexes {
			fmt.Fprintf(&b, "  index %s\n", x.text())
		}
	}
	for _, r := range s.Relations {
		if r.To == "" {
			fmt.Fprintf(&b, "%s.%s, embedded\n", r.Collection, r.Path)
		} else {
			fmt.Fprintf(&b, "%s.%s → %s._id (%s there)\n", r.Collection, r.Path, r.To, r.Matched.text())
		}
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(strings.TrimRight(r.SurveyResult.String(), "\n"), "\n", "\n  "))
	}
	return b.String()
}

// SurveyDatabase finds the relations in a database, and measures each relation by
// [Survey.Run]. An array of documents is a relation to embedded children. Any other path
// needs at least three sampled values. At least half of the values must be _ids in one
// collection. A path of whole numbers must be named after the collection ("userId" for
// users).
//
// Set only Scan, Window, Sample and Confidence in spec.
//
// Cost: one command, and two or three for each collection. Each pair of a path and a
// possible collection costs one command. [Survey.Run] adds commands.
//
// Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/
func SurveyDatabase(ctx context.Context, db model.DB, spec SurveySpec) (DatabaseSurvey, error) {
	var out DatabaseSurvey
	if err := core.CheckRun(ctx, db); err != nil {
		return out, err
	}
	for _, f := range []struct{ name, path string }{
		{"Embedded", spec.Embedded}, {"List", spec.List}, {"Ref", spec.Ref}, {"At", spec.At},
	} {
		if f.path != "" {
			return out, refuse(f.name, f.path, "is found by the survey of a database: leave it out")
		}
	}
	names, err := core.Database(db).ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return out, err
	}
	slices.Sort(names)
	found := make([]*explored, 0, len(names))
	for _, name := range names {
		if strings.HasPrefix(name, "system.") {
			continue
		}
		e := explore(name)
		if err := e.read(ctx, db); err != nil {
			return out, err
		}
		found = append(found, e)
		out.Collections = append(out.Collections, e.collection)
	}
	for _, e := range found {
		relations, err := e.relations(ctx, db, found, spec)
		if err != nil {
			return out, err
		}
		out.Relations = append(out.Relations, relations...)
	}
	return out, nil
}

// relations returns the relations that a collection stores, by path.
func (e *explored) relations(
	ctx context.Context, db model.DB, all []*explored, spec SurveySpec,
) (out []SurveyedRelation, err error) {
	for _, path := range e.paths() {
		p := e.at[path]
		r := SurveyedRelation{Collection: e.name, Path: path}
		s := spec
		to := e
		switch {
		case p.documents > 0 && p.array:
			s.Embedded = path
		case len(p.values) < fewestValues:
			continue
		default:
			if to, r.Matched, err = e.target(ctx, db, path, all); err != nil {
				return nil, err
			}
			if to == nil {
				continue
			}
			r.To = to.name
			if s.Ref = path; p.array {
				s.List, s.Ref = path, ""
			}
		}
		if r.SurveyResult, err = e.survey(to, s).Run(ctx, db); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// survey declares the survey of a relation that a collection stores. The end that stores
// a list or an array is the parent, the end that stores an id the child.
func (e *explored) survey(to *explored, spec SurveySpec) *Survey {
	if spec.Ref != "" {
		return NewSurvey(to.docs, e.docs, spec)
	}
	return NewSurvey(e.docs, to.docs, spec)
}

// target returns the collection with the most matches for a path's values.
func (e *explored) target(
	ctx context.Context, db model.DB, path string, all []*explored,
) (best *explored, matched Share, err error) {
	p := e.at[path]
	for _, to := range all {
		same := slices.DeleteFunc(slices.Clone(p.values), func(v bson.RawValue) bool { return !to.idTypes[v.Type] })
		if len(same) == 0 || wholeNumbers(same) && !namedAfter(path, to.name) {
			continue
		}
		n, err := to.having(ctx, db, same)
		if err != nil {
			return nil, matched, err
		}
		s := Share{N: n, Of: int64(len(p.values))}
		better := cmp.Or(cmp.Compare(s.N, matched.N),
			cmp.Compare(btoi(namedAfter(path, to.name)), btoi(best != nil && namedAfter(path, best.name))))
		if s.N*2 >= s.Of && (best == nil || better > 0) {
			best, matched = to, s
		}
	}
	return best, matched, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// having counts the documents with one of these _ids.
func (e *explored) having(ctx context.Context, db model.DB, ids []bson.RawValue) (int64, error) {
	a := e.docs.Unchecked().Aggregate(mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: values(ids)}}}}}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
	})
	docs, err := a.All(ctx, db)
	return int64(len(docs)), err
}

func wholeNumbers(values []bson.RawValue) bool {
	return !slices.ContainsFunc(values, func(v bson.RawValue) bool {
		return v.Type != bson.TypeInt32 && v.Type != bson.TypeInt64
	})
}

// namedAfter reports whether a path is named after a collection: "userId", "user_ids" or
// "author.user" after users.
func namedAfter(path, collection string) bool {
	last := strings.ToLower(path[strings.LastIndex(path, ".")+1:])
	if i := strings.LastIndex(path, "."); i >= 0 && (last == "id" || last == "_id") {
		return namedAfter(path[:i], collection)
	}
	name := strings.ToLower(collection)
	for _, ending := range []string{"ids", "id", "_"} {
		if stem := strings.TrimSuffix(last, ending); stem != "" {
			last = stem
		}
	}
	return last == name || last == strings.TrimSuffix(singular(name), "id")
}
