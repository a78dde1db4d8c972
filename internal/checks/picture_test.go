package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A room of the picture in docs/ARCHITECTURE.md has packages that stand on the same floor of the house.
type room struct {
	title string
	boxes []box
}

// A box has a name and says what it is for, or how many packages it holds. The packages have spaces between them.
// "/..." stands for all packages below one.
type box struct{ name, says, packages string }

// rooms are drawn in this order. A package belongs to the box that names most of its path.
var rooms = []room{
	{"Programs", []box{{"examples", "", "examples/..."}}},
	{testsRoom, []box{
		{"checks", "rules for all", "internal/checks"},
		{"compose", "two at once", "internal/compose/..."},
		{"kills", "killed writers", "internal/kills"},
		{"designtest", "measured layouts", "model/design/designtest"},
	}},
	{"Advice", []box{
		{"design", "cheapest layout", "model/design"},
		{"advise", "which type fits", "model/advise"},
	}},
	{"Techniques", []box{
		{"relate", "references", "relate/..."},
		{"denorm", "copies, counts", "denorm/..."},
		{"paths", "trees, graphs", "paths"},
		{"geofield", "places", "geohash/geofield"},
		{"embed", "parts", "model/embed"},
		{"keys", "_ids", "model/keys"},
		{"schema", "versions", "model/schema"},
	}},
	{"Behind the techniques", []box{
		{"…/internal", "", "relate/internal/... denorm/internal/... paths/internal/... model/keys/internal/... " +
			"model/schema/internal/..."},
		{"commands", "shared writes", "internal/commands"},
		{"found", "shared checks", "internal/found"},
	}},
	{"Geography", []box{{"geohash", "cells of the globe", "geohash"}}},
	{"Help for tests", []box{{"modeltest", "costs, cuts, races", "model/modeltest internal/tenancy internal/verify"}}},
	{"Model", []box{{"model", "sends every command", "model"}}},
	{"Behind the model", []box{
		{"core", "without Go types", "internal/core/..."},
		{"bsondoc", "forms of filters", "internal/bsondoc"},
		{"keyed", "tenants in _ids", "internal/keyed"},
		{"runctx", "context", "internal/runctx"},
		{"page", "web pages", "internal/page"},
	}},
	{"Test server", []box{
		{"mongotest", "starts a server", "mongotest internal/testserver"},
		{"engine", "", "mongotest/internal/engine/..."},
	}},
	{"Values", []box{
		{"bsonval", "order, equality", "internal/bsonval/... internal/rawdoc"},
		{"mql", "expressions, sorts", "internal/mql internal/direction"},
		{"mongosh", "shell syntax", "internal/mongosh"},
		{"mongoerr", "errors", "internal/mongoerr"},
	}},
}

// undrawn is for packages without a room: the module's documentation, and programs and helpers of tests.
var undrawn = box{packages: "internal/ci/... mongotest/internal/engine/specs internal/testkit paths/internal/pathstest"}

const testsRoom = "Tests"

const (
	pictureBegins = "<!-- picture: written by go test ./internal/checks -run Picture -update -->\n"
	pictureEnds   = "<!-- end of picture -->\n"

	// Boxes close to each other leave their text legible in the width of a page.
	pictureFormat = "%%{init: {\"flowchart\": {\"nodeSpacing\": 12, \"rankSpacing\": 36, \"padding\": 8}}}%%\n"
)

// TestPicture holds the picture in docs/ARCHITECTURE.md equal to the imports. An arrow is an import. An import that
// follows from other arrows is left out.
func TestPicture(t *testing.T) {
	checkPart(t, "docs/ARCHITECTURE.md", pictureBegins, pictureEnds, drawRooms(t))
}

// drawRooms returns the picture as a Mermaid flowchart.
func drawRooms(t *testing.T) string {
	t.Helper()
	held, imports := importsOfRooms(t)
	var b strings.Builder
	b.WriteString("\n```mermaid\n" + pictureFormat + "flowchart TB\n")
	for _, r := range rooms {
		fmt.Fprintf(&b, "    subgraph %s[\"%s\"]\n        direction TB\n", r.id(), r.title)
		for _, x := range r.boxes {
			if held[x] == 0 {
				t.Errorf("the box %s of %q holds no package", x.name, r.title)
			}
			fmt.Fprintf(&b, "        %s[\"%s<br/>%s\"]\n", x.id(), x.name, cmp.Or(x.says, fmt.Sprintf("%d packages", held[x])))
		}
		b.WriteString("    end\n")
	}
	indirect := reachedIndirectly(imports)
	for from, r := range rooms {
		if indirect[from][from] {
			t.Errorf("%q imports itself by way of another room", r.title)
		}
		for to, other := range rooms {
			if imports[from][to] && !indirect[from][to] {
				fmt.Fprintf(&b, "    %s --> %s\n", r.id(), other.id())
			}
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}

// A roomTable says of two rooms, by their places in rooms, whether the first leads to the second.
type roomTable [][]bool

// importsOfRooms returns how many packages each box holds, and which room imports which other room.
func importsOfRooms(t *testing.T) (held map[box]int, imports roomTable) {
	t.Helper()
	held, imports = map[box]int{}, newRoomTable()
	for _, p := range packages(t) {
		from, x := roomOf(p.local())
		if from < 0 {
			if p.local() != "" && undrawn.holds(p.local()) == 0 {
				t.Errorf("no box of rooms holds %s", p.ImportPath)
			}
			continue
		}
		held[x]++
		imported := p.Imports
		if rooms[from].title == testsRoom { // its packages have test files, and hardly any others
			imported = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		}
		for _, path := range imported {
			local, isOurs := strings.CutPrefix(path, module+"/")
			if to, _ := roomOf(local); isOurs && to >= 0 && to != from {
				imports[from][to] = true
			}
		}
	}
	return held, imports
}

// reachedIndirectly returns which room reaches which by way of at least one other room.
func reachedIndirectly(imports roomTable) roomTable {
	reached, indirect := newRoomTable(), newRoomTable()
	for i := range rooms {
		copy(reached[i], imports[i])
	}
	for by := range rooms { // Warshall's algorithm
		for from := range rooms {
			for to := range rooms {
				if reached[from][by] && reached[by][to] {
					reached[from][to], indirect[from][to] = true, true
				}
			}
		}
	}
	return indirect
}

func newRoomTable() roomTable {
	table := make(roomTable, len(rooms))
	for i := range table {
		table[i] = make([]bool, len(rooms))
	}
	return table
}

// roomOf returns the room and the box of a package, or -1 for a package that isn't drawn.
func roomOf(local string) (at int, in box) {
	at = -1
	most := undrawn.holds(local)
	for i, r := range rooms {
		for _, x := range r.boxes {
			if n := x.holds(local); n > most {
				at, in, most = i, x, n
			}
		}
	}
	return at, in
}

// holds returns how much of a package's path the box names, and 0 if it doesn't hold the package.
func (x box) holds(local string) (most int) {
	for _, pattern := range strings.Fields(x.packages) {
		folder, all := strings.CutSuffix(pattern, "/...")
		if local == folder || all && within(local, folder) {
			most = max(most, len(folder))
		}
	}
	return most
}

// An id is a name that Mermaid accepts.
func (r room) id() string { return "room_" + strings.ReplaceAll(r.title, " ", "_") }

func (x box) id() string { return "box_" + strings.TrimPrefix(x.name, "…/") }
