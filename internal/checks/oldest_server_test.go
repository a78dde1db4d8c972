package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// newer are the operators that MongoDB 5.0, the oldest server that README.md promises,
// doesn't have. Each stands with the version that brought it. The list is made from the
// manual's notes of "New in version".
var newer = map[operatorKind]map[string]string{
	stageOperator: {
		"$densify": "5.1", "$documents": "5.1", "$fill": "5.3", "$shardedDataDistribution": "6.0",
		"$changeStreamSplitLargeEvent": "7.0", "$vectorSearch": "7.0", "$listSearchIndexes": "7.0",
		"$listSampledQueries": "7.0", "$querySettings": "8.0", "$rankFusion": "8.0", "$scoreFusion": "8.2", "$score": "8.2",
	},
	accumulatorOperator: {
		"$bottom": "5.2", "$bottomN": "5.2", "$firstN": "5.2", "$lastN": "5.2", "$maxN": "5.2", "$minN": "5.2",
		"$top": "5.2", "$topN": "5.2", "$median": "7.0", "$percentile": "7.0", "$concatArrays": "8.1", "$setUnion": "8.1",
	},
	windowOperator: {
		"$bottom": "5.2", "$bottomN": "5.2", "$firstN": "5.2", "$lastN": "5.2", "$maxN": "5.2", "$minN": "5.2",
		"$top": "5.2", "$topN": "5.2", "$locf": "5.2", "$linearFill": "5.3", "$median": "7.0", "$percentile": "7.0",
		"$concatArrays": "8.1", "$setUnion": "8.1",
		"$minMaxScaler": "8.2",
	},
	expressionOperator: {
		"$bottom": "5.2", "$bottomN": "5.2", "$top": "5.2", "$topN": "5.2", "$minMaxScaler": "8.2",
		"$tsIncrement": "5.1", "$tsSecond": "5.1", "$firstN": "5.2", "$lastN": "5.2", "$maxN": "5.2",
		"$minN": "5.2", "$sortArray": "5.2", "$toHashedIndexKey": "6.0", "$bitAnd": "6.3", "$bitNot": "6.3", "$bitOr": "6.3",
		"$bitXor": "6.3", "$median": "7.0", "$percentile": "7.0", "$toUUID": "8.0", "$sigmoid": "8.1",
		"$createObjectId": "8.2", "$createUUID": "8.2", "$currentDate": "8.2", "$encStrContains": "8.2",
		"$encStrEndsWith": "8.2", "$encStrNormalizedEq": "8.2", "$encStrStartsWith": "8.2", "$hash": "8.2", "$hexHash": "8.2",
		"$deserializeEJSON": "8.2", "$serializeEJSON": "8.2", "$similarityCosine": "8.2", "$similarityDotProduct": "8.2",
		"$similarityEuclidean": "8.2", "$subtype": "8.2", "$toArray": "8.2", "$toObject": "8.2",
	},
}

// TestOldestServer holds that no generated command has an operator that is newer than
// MongoDB 5.0, unless the doc comment of the method that generates it names the version.
func TestOldestServer(t *testing.T) {
	lists := readOperators(t)
	for kind, names := range newer {
		for name := range names {
			if !slices.Contains(lists[kind].supported, name) && !slices.Contains(lists[kind].refused, name) {
				t.Errorf("%s has no %s under %s", operatorList, name, kind)
			}
		}
	}
	for _, c := range registered {
		uses := operatorUses{}
		parts, _ := c.parts(c.value(harmless), harmless)
		for _, p := range parts {
			collector{uses, c.Method}.part(p)
			if p.name == "partial" && hasOperator(p.value, "$in", "$or") {
				t.Errorf("%s: the condition of a partial index takes $in and $or since MongoDB 6.0", c.name())
			}
		}
		for kind, names := range uses {
			for name := range names {
				if since := newer[kind][name]; since != "" && !strings.Contains(docOf(t, c.Method), "MongoDB "+since) {
					t.Errorf("%s emits the %s %s of MongoDB %s: generate an older form, or name the version in the doc comment",
						c.name(), kind, name, since)
				}
			}
		}
	}
}

// TestWholeDocuments holds that no generated command compares the whole document with a
// value. MongoDB 4.4 and 5.0 rewrite such a comparison in $expr into a condition of the
// query language, and fail with error 16409. They take $in, and the comparison of $cmp
// with 0.
func TestWholeDocuments(t *testing.T) {
	for _, c := range registered {
		parts, _ := c.parts(c.value(harmless), harmless)
		for _, p := range parts {
			raw, err := bson.Marshal(bson.D{{Key: "v", Value: p.value}})
			if err != nil {
				continue // other tests find what can't be encoded
			}
			if bad := comparedWhole(bson.Raw(raw).Lookup("v")); bad != "" {
				t.Errorf("%s: %s: %s", c.name(), p.name, bad)
			}
		}
	}
}

// comparedWhole returns the first comparison of the whole document within a value, or "".
func comparedWhole(v bson.RawValue) string {
	if _, isArray := v.ArrayOK(); !isArray && v.Type != bson.TypeEmbeddedDocument {
		return ""
	}
	elements, _ := bson.Raw(v.Value).Elements()
	for _, e := range elements {
		inner := e.Value()
		switch e.Key() {
		case "$literal":
			continue
		case "$eq", "$gt", "$gte", "$lt", "$lte":
			operands, _ := inner.ArrayOK()
			values, _ := operands.Values()
			for _, x := range values {
				if s, ok := x.StringValueOK(); ok && (s == "$$ROOT" || s == "$$CURRENT") {
					return e.String()
				}
			}
		}
		if bad := comparedWhole(inner); bad != "" {
			return bad
		}
	}
	return ""
}

func hasOperator(v any, names ...string) bool {
	switch v := v.(type) {
	case bson.D:
		return slices.ContainsFunc(v, func(e bson.E) bool {
			return slices.Contains(names, e.Key) || hasOperator(e.Value, names...)
		})
	case bson.A:
		return slices.ContainsFunc(v, func(x any) bool { return hasOperator(x, names...) })
	}
	return false
}

// docOf is the doc comment of the method or function that a case is of:
// join.Join.Pipeline, model.Merge.
func docOf(t *testing.T, method string) string {
	t.Helper()
	names := strings.Split(method, ".")
	owner, own := strings.Join(names[1:len(names)-1], "."), names[len(names)-1]
	for _, p := range libraries(t) {
		if p.Name() != names[0] {
			continue
		}
		dir := filepath.Join(root(), filepath.FromSlash(strings.TrimPrefix(p.Path(), module+"/")))
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if comment := typeComment(d, owner); comment != "" && fromParts[own] {
					return comment
				}
				f, ok := d.(*ast.FuncDecl)
				if ok && f.Name.Name == own && receiverOf(f) == owner {
					return f.Doc.Text()
				}
			}
		}
	}
	t.Fatalf("%s has no declaration", method)
	return ""
}

// fromParts are the methods that techniques have from model.Parts. The comments of the
// techniques' types describe them.
var fromParts = map[string]bool{"Indexes": true, "Checks": true}

// typeComment returns the comment of a declaration, if it declares the type.
func typeComment(d ast.Decl, name string) string {
	if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == name {
		return g.Doc.Text()
	}
	return ""
}

// receiverOf is the name of the type that a method belongs to, or "" for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
