package main

import (
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Package lists its imports. One technique each maintains the fields below Imports.
// They are side by side for comparison; an application would choose.
type Package struct {
	ID      string   `bson:"_id"` // import path
	Name    string   `bson:"name"`
	Doc     string   `bson:"doc"`
	Imports []string `bson:"imports,omitempty"` // ids of packages

	ImportedBy []string  `bson:"importedBy,omitempty"` // ids of packages: the other side of Imports
	Files      []string  `bson:"files,omitempty"`      // ids of files: the other side of File.Package
	Largest    []Sized   `bson:"largest,omitempty"`    // at most three files, largest first
	Top        []TopFile `bson:"top,omitempty"`        // the same, as a subset of the files
	Count      int64     `bson:"count"`                // of files
	Bytes      int64     `bson:"bytes"`                // of all files
}

// Sized is the copy of a file in Package.Largest.
type Sized struct {
	Name  string `bson:"name"`
	Bytes int64  `bson:"bytes"`
}

// TopFile is an element of the subset.
type TopFile struct {
	ID    string `bson:"_id"`
	Bytes int64  `bson:"bytes"`
	Name  string `bson:"name"`
}

// A File has the id of its package, and a copy of the package's synopsis.
type File struct {
	ID       string   `bson:"_id"`
	Package  string   `bson:"package"`
	Name     string   `bson:"name"`
	Words    []string `bson:"words,omitempty"` // of the name
	Bytes    int64    `bson:"bytes"`
	Synopsis string   `bson:"synopsis,omitempty"` // the package's Doc
}

// An Import is a pair of packages: one imports the other. It lists the files.
type Import struct {
	ID    string `bson:"_id"`
	From  string `bson:"from"`
	To    string `bson:"to"`
	Code  bool   `bson:"code"`
	Tests bool   `bson:"tests"`
}

var largestFirst = bson.D{{Key: "bytes", Value: -1}, {Key: "name", Value: 1}}

// The model: three collections and their techniques.
var (
	packages = model.NewCollection[Package, string]("packages")
	files    = model.NewCollection[File, string]("files")
	pairings = model.NewCollection[Import, string]("imports")

	imports   = childrefs.New(packages, "imports", packages)
	bothWays  = twosided.NewManyToMany(packages, "imports", packages, "importedBy", twosided.ManyToManySpec{})
	paired    = joincollection.New(pairings, "from", packages, "to", packages, joincollection.Spec{})
	joined    = join.New(packages, "imports", packages, join.Spec{})
	twoLevels = join.Then(joined, joined)
	weak      = dangling.New(packages, "imports", packages, dangling.Spec{})
	removal   = ondelete.New(packages, ondelete.Spec{Cascade: []relate.Referrer{imports}})

	inside  = parentref.New(files, "package", packages, parentref.Spec{By: "bytes"})
	owned   = twosided.NewTwoWay(packages, "files", files, "package", twosided.TwoWaySpec{})
	largest = bounded.New(packages, "largest", bounded.Spec{Max: 3, First: true, By: largestFirst, Key: "name"})
	kept    = embed.NewEmbedded[Sized](packages, "largest", embed.EmbeddedSpec{Key: "name"})
	top     = subset.New(files, "package", packages, "top", subset.Spec{
		Max: 3, By: bson.D{{Key: "bytes", Value: -1}}, Fields: []string{"name"},
	})
	sizes = counter.New(files, "package", packages, counter.Spec{
		Count: "count", Sums: []counter.Field{{From: "bytes", To: "bytes"}},
	})
	synopses = copies.New(packages, files, copies.Spec{
		KeyPath: "package", Fields: []copies.Field{{From: "doc", To: "synopsis"}},
	})

	byName  = indextable.New(packages, "name", "packagesByName", indextable.Spec{Copies: []string{"doc"}})
	byWords = inverted.New(files, "filesBy", "words", "package")

	everything = model.New("stdlib",
		model.Entity(packages), model.Entity(files), model.Entity(pairings), imports, bothWays, paired, weak, removal, inside, owned, largest, kept, top, sizes, synopses, byName, byWords,
	)
)

// Stores of models of one technique each, because each chapter shows one. An application
// has one model, and one store for each collection.
var (
	linkedPackages = storeOf(packages, bothWays)
	ownedFiles     = storeOf(files, owned)
	placedFiles    = storeOf(files, inside)
	shownFiles     = storeOf(files, top)
	countedFiles   = storeOf(files, sizes)
	copiedPackages = storeOf(packages, synopses)
	namedPackages  = storeOf(packages, byName)
	tiedPackages   = storeOf(packages, removal)
)

func storeOf[D, K any](docs *model.Collection[D, K], t model.Technique) *model.Store[D, K] {
	return model.NewStore(model.New("chapter", t), docs)
}

// Computations on the graph of imports, each with a collection of states.
var (
	near   = paths.NewGraph(packages, "imports", paths.GraphSpec{States: "near"})
	groups = paths.NewGraph(packages, "imports", paths.GraphSpec{States: "groups"})
	ranks  = paths.NewGraph(packages, "imports", paths.GraphSpec{States: "ranks"})
	layers = paths.NewGraph(packages, "imports", paths.GraphSpec{States: "layers"})
)
