// These tests of the whole package hold that a caller's value stays a value, whatever it contains.

package model_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
)

// hostile are strings that something might take for code, a path, a pattern or an end.
var hostile = []string{
	"$where", "$gt", "$$ROOT", "$", "a.b", ".", "^.*", ".*", "a\x00b", "\x00", "|", "é", "e\u0301", " ", "'", "\\",
	"\"", "null", "true", "0", "ObjectId('5f0000000000000000000001')", "{$gt: ''}", "\U0001F600",
	strings.Repeat("x", 5000),
}

// TestHostileStrings: a value is a value, whatever it holds: stored, found, paged after, updated and deleted as itself.
func TestHostileStrings(t *testing.T) {
	type doc struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`
	}
	docs := model.NewCollection[doc, string]("docs")
	scope := func(s string) model.Scope {
		return model.Scope{Filter: d("name", s), Set: d("by", s), Delete: d("gone", s)}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var all []doc
		for _, s := range hostile {
			all = append(all, doc{s, s})
		}
		mustRun(t, db, docs.InsertMany(all))
		slices.SortFunc(all, func(a, b doc) int { return strings.Compare(a.ID, b.ID) })
		for i, x := range all {
			for reason, f := range map[string]*model.Find[doc]{
				"ByID": docs.ByID(x.ID), "Find": docs.Find(d("name", x.Name)), "Where": docs.Find(nil).Where(d("name", x.Name)),
				"Eq": docs.Find(d("name", mql.Eq(x.Name))), "Under": model.Scoped(scope(x.Name), docs.Find(nil)),
			} {
				got, err := f.All(t.Context(), db)
				if err != nil || !slices.Equal(got, []doc{x}) {
					t.Errorf("%s %.20q: %v, %v", reason, x.Name, got, err)
				}
			}
			page, err := docs.Find(nil).Sorted(d("name", 1)).After(x.Name, x.ID).All(t.Context(), db)
			if err != nil || !slices.Equal(page, all[i+1:]) && len(page)+len(all[i+1:]) > 0 {
				t.Errorf("After %.20q: %d documents, want %d, %v", x.Name, len(page), len(all)-i-1, err)
			}
			for _, w := range []model.Write{
				docs.Insert(x), docs.Replace(x),
				model.Scoped(scope(x.Name), docs.Unchecked().Update(x.ID, d("$set", d("also", x.Name)))),
				once(updateMany(d("name", x.Name), mongo.Pipeline{d("$set", d("also", d("$literal", x.Name)))})),
			} {
				w.Collection = "docs"
				if r, err := w.Run(t.Context(), db); err != nil || r.Modified() > 1 {
					t.Errorf("%.80s: %v, %v", w, r, err)
				}
			}
		}
		for _, x := range all[:3] {
			if r, err := docs.Delete(x.ID).Run(t.Context(), db); err != nil || r.Modified() != 1 {
				t.Errorf("delete %.20q: %v, %v", x.ID, r, err)
			}
		}
		if n, err := docs.Find(nil).Count(t.Context(), db); err != nil || int(n) != len(all)-3 {
			t.Errorf("%d are left, %v", n, err)
		}
	})
}

// FuzzStringsStayData: wherever a string goes in as a value, it is in the command as that string, and nowhere else.
func FuzzStringsStayData(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for reason, cmd := range map[string]bson.D{
			"Find":  products.Find(d("name", s)).Command(),
			"Where": products.Find(d("name", "x")).Where(d("name", s)).Command(),
			"After": products.Find(nil).Sorted(d("name", 1)).After(s, s).Command(),
			"Eq":    products.Find(d("name", mql.Eq(s))).Command(),
			"Under": model.Scoped(model.Scope{Filter: d("name", s)}, products.Find(nil)).Command(),
			"Aggregate": model.Scoped(model.Scope{Filter: d("a", s)},
				products.Aggregate(mongo.Pipeline{d("$match", d("name", s))})).Command(),
			"Modify": products.Modify(d("name", s), d("$set", d("name", s))).Command(),
		} {
			fields, values := count(t, raw(cmd), s)
			plain, _ := count(t, raw(products.Find(nil).Command()), s)
			if values == 0 {
				t.Errorf("%s: %q is not in %s", reason, s, model.Shell(cmd))
			}
			if names := map[string]bool{"name": true, "a": true, "$match": true}; fields > plain && !known[s] && !names[s] {
				t.Errorf("%s: %q is a field of %s", reason, s, model.Shell(cmd))
			}
		}
		if err := core.CheckKey(s); err == nil && (s == "" || strings.ContainsAny(s, ".\x00") || s[0] == '$') {
			t.Errorf("CheckKey takes %q", s)
		}
		if utf8.ValidString(s) {
			if got, ok := unquote(model.Shell(s)); !ok || got != s {
				t.Errorf("Shell(%q) is %s, which is %q", s, model.Shell(s), got)
			}
		}
		if w := notes.Insert(d("_id", 1, "f", s)); w.Err != nil {
			t.Errorf("a value is refused: %v", w.Err)
		}
		if w := notes.Insert(bson.D{
			{Key: "_id", Value: 1}, {Key: s, Value: 1},
		}); (w.Err == nil) != (core.CheckKey(s) == nil) && s != "_id" {
			t.Errorf("a field named %q: %v", s, w.Err)
		}
	})
}

// known are the fields that commands have by themselves.
var known = map[string]bool{
	"$gt": true, "$gte": true, "$or": true, "$and": true, "$set": true, "find": true, "filter": true, "sort": true,
	"aggregate": true, "pipeline": true, "cursor": true, "findAndModify": true, "query": true, "update": true, "_id": true,
	"0": true, "1": true, "2": true,
}

// count says how many fields and how many string values of a document are s.
func count(t *testing.T, doc bson.Raw, s string) (fields, values int) {
	t.Helper()
	for _, e := range must(doc.Elements()) {
		if e.Key() == s {
			fields++
		}
		v := e.Value()
		if str, ok := v.StringValueOK(); ok && str == s {
			values++
		}
		if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
			f, n := count(t, bson.Raw(v.Value), s)
			fields, values = fields+f, values+n
		}
	}
	return fields, values
}

// unquote reads a JavaScript string in single quotes.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '\'' || s[len(s)-1] != '\'' {
		return "", false
	}
	var b strings.Builder
	for in := s[1 : len(s)-1]; in != ""; {
		r, n := utf8.DecodeRuneInString(in)
		switch {
		case r == '\'' || r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029:
			return "", false // it ends the string
		case r != '\\':
		case strings.HasPrefix(in, "\\u") && len(in) >= 6:
			var x rune
			for _, c := range in[2:6] {
				x = x<<4 | rune(strings.IndexRune("0123456789abcdef", c))
			}
			r, n = x, 6
		case strings.HasPrefix(in, "\\n"):
			r, n = '\n', 2
		default:
			r, n = rune(in[1]), 2
		}
		b.WriteRune(r)
		in = in[n:]
	}
	return b.String(), true
}
