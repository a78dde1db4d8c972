package checks

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A row of docs/STATUS.md's table: a technique and what declares it, types or functions ("twosided.TwoWay").
type row struct {
	name     string
	declares []string
	shares   []string // types that other rows declare too, and whose tests are this row's as well
	cases    string   // how the reasons of this row's cases of what it shares begin; "" means that it has none
	example  string   // whose example shows it; "" means what it declares first
}

// A feature is something that not every server can do, told by what stands in golden commands.
type feature struct{ name, sign string }

var features = []feature{
	{"pipeline updates", "}, [{$"},
	{"`arrayFilters`", "arrayFilters: "},
	{"`$lookup`", "{$lookup: "},
	{"`$graphLookup`", "{$graphLookup: "},
	{"`$setWindowFields`", "{$setWindowFields: "},
	{"`$unionWith`", "{$unionWith: "},
	{"`$merge`", "{$merge: "},
	{"`$sample`", "{$sample: "},
	{"transactions", "; transactional"},
	{"change streams", "changeStream"},
}

// amazonLacks are operators that Amazon DocumentDB 8.0 hasn't, as the compatibility tool of
// awslabs/amazon-documentdb-tools told in May 2026 (compat-tool/compat.py). Those that are no features of their own are
// listed where a row's commands use them.
var amazonLacks = []string{
	"$graphLookup", "$setWindowFields", "$unionWith", "$facet", "$sortByCount", "$bucketAuto",
	"$densify", "$documents", "$fill", "$accumulator", "$function", "$binarySize", "$bsonSize", "$dateDiff",
	"$dateFromParts", "$dateToParts", "$getField", "$setField", "$unsetField", "$isNumber", "$round", "$trunc",
	"$sampleRate", "$sortArray", "$stdDevPop", "$stdDevSamp", "$bottom", "$bottomN", "$firstN", "$lastN", "$maxN", "$minN",
	"$median", "$percentile", "$top", "$topN", "$box", "$center", "$centerSphere", "$polygon", "$where",
}

const (
	statusBegins = "<!-- status: written by go test ./internal/checks -run Status -update -->\n"
	statusEnds   = "<!-- end of status -->\n"
)

// docs/STATUS.md's table says of each row how it is shown, as the tests themselves tell.
func TestStatus(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads source")
	}
	checkPart(t, "docs/STATUS.md", statusBegins, statusEnds, statusTable(t))
}

func statusTable(t *testing.T) string {
	byName := map[string]goPackage{}
	tests := map[string][]testFiles{}
	all := packages(t)
	for _, p := range all {
		if !p.isLibrary() {
			continue
		}
		byName[p.Name] = p
		var shared []goPackage
		for _, q := range all { // what tests of several packages, or of the library's cores, have in common
			isOurs := within(q.ImportPath, p.ImportPath+"/internal") && strings.HasSuffix(q.Name, "test")
			if isOurs || q.local() == "internal/testkit" {
				shared = append(shared, q)
			}
		}
		for _, q := range all { // a technique's tests are the package's, beside its core, or in denorm for several
			if q.ImportPath == p.ImportPath || within(q.ImportPath, p.ImportPath+"/internal") ||
				(q.local() == "denorm" || q.local() == "relate") && within(p.local(), q.local()) {
				tests[p.Name] = append(tests[p.Name], readTests(t, q, shared))
			}
		}
	}
	var b strings.Builder
	b.WriteString("| row | declared by | golden commands |")
	for _, p := range proofs {
		fmt.Fprintf(&b, " %s |", p.name)
	}
	b.WriteString(" it needs |\n| --- | --- | ---: |" + strings.Repeat(" :---: |", len(proofs)) + " --- |\n")
	for _, r := range rows {
		pkg, _, _ := strings.Cut(r.declares[0], ".")
		p, ok := byName[pkg]
		if !ok {
			t.Fatalf("%s: there is no package %s", r.name, pkg)
		}
		commands := "–"
		if n := r.golden(); n > 0 {
			commands = fmt.Sprint(n)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |", r.name, r.declarations(), commands)
		for _, shown := range r.proofs(tests[pkg]) {
			fmt.Fprintf(&b, " %s |", map[bool]string{true: "yes", false: "–"}[shown])
		}
		fmt.Fprintf(&b, " %s |\n", strings.Join(r.needs(t), ", "))
		_, name, _ := strings.Cut(cmp.Or(r.example, r.declares[0]), ".")
		if problem := exampleProblem(t, p, name); problem != "" {
			t.Errorf("%s: %s", r.name, problem)
		}
	}
	return b.String()
}

// declarations is the row's second column: the package's name stands once.
func (r row) declarations() string {
	pkg, _, _ := strings.Cut(r.declares[0], ".")
	var out []string
	for i, d := range r.declares {
		if i > 0 {
			d = strings.TrimPrefix(d, pkg+".")
		}
		out = append(out, "`"+d+"`")
	}
	return strings.Join(out, ", ")
}

// golden counts the golden commands: the cases of the row's types and functions.
func (r row) golden() int {
	n := 0
	for _, c := range registered {
		if r.has(c) {
			n++
		}
	}
	return n
}

// has reports whether a case is one of the row's.
func (r row) has(c Case) bool {
	of := func(d string) bool { return c.Method == d || strings.HasPrefix(c.Method, d+".") }
	return slices.ContainsFunc(r.declares, of) ||
		r.cases != "" && slices.ContainsFunc(r.shares, of) &&
			(c.Reason == r.cases || strings.HasPrefix(c.Reason, r.cases+":"))
}

// proofs tells for each kind of proof whether a test leads to it and to what the row declares.
func (r row) proofs(all []testFiles) []bool {
	shown := make([]bool, len(proofs))
	for _, s := range all {
		for _, test := range s.tests {
			reach := s.reach(test)
			if !slices.ContainsFunc(slices.Concat(r.declares, r.shares), func(d string) bool {
				pkg, name, _ := strings.Cut(d, ".")
				return reach[d] || reach[pkg+".New"+name] || pkg != "model" && pkg != "design" && reach[pkg+".New"]
			}) {
				continue
			}
			for i, p := range proofs {
				shown[i] = shown[i] || p.by(test, reach)
			}
		}
	}
	return shown
}

// needs lists the features that stand in the row's golden commands.
func (r row) needs(t *testing.T) []string {
	text := r.commands(t)
	var out []string
	for _, f := range features {
		if !strings.Contains(text, f.sign) {
			continue
		}
		name := f.name
		if slices.Contains(amazonLacks, strings.Trim(name, "`")) {
			name += "†"
		}
		out = append(out, name)
	}
	for _, op := range amazonLacks {
		if strings.Contains(text, op+": ") &&
			!slices.ContainsFunc(features, func(f feature) bool { return f.name == "`"+op+"`" }) {
			out = append(out, "`"+op+"`†")
		}
	}
	return out
}

// commands is the text of the row's golden commands, which TestGolden holds to be what is generated.
func (r row) commands(t *testing.T) string {
	var b strings.Builder
	for _, c := range registered {
		if !r.has(c) {
			continue
		}
		file, err := os.ReadFile(filepath.Join("testdata", c.group()+".golden"))
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(file), "// "+c.Method+": "+c.Reason+"\n")
		text, _, _ = strings.Cut(text, "\n\n// ")
		b.WriteString(text)
	}
	return b.String()
}
