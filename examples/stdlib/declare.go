package main

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
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

	imports   = relate.NewChildRefs(packages, "imports", packages)
	bothWays  = relate.NewManyToMany(packages, "imports", packages, "importedBy", relate.ManyToManySpec{})
	paired    = relate.NewJoinCollection(pairings, "from", packages, "to", packages, relate.JoinCollectionSpec{})
	joined    = relate.NewJoin(packages, "imports", packages, relate.JoinSpec{})
	twoLevels = relate.Then(joined, joined)
	weak      = relate.NewDangling(packages, "imports", packages, relate.DanglingSpec{})
	removal   = relate.NewOnDelete(packages, relate.OnDeleteSpec{Cascade: []relate.Referrer{imports}})

	inside  = relate.NewParentRef(files, "package", packages, relate.ParentRefSpec{By: "bytes"})
	owned   = relate.NewTwoWay(packages, "files", files, "package", relate.TwoWaySpec{})
	largest = denorm.NewBounded(packages, "largest", denorm.BoundedSpec{Max: 3, First: true, By: largestFirst, Key: "name"})
	kept    = embed.NewEmbedded[Sized](packages, "largest", embed.EmbeddedSpec{Key: "name"})
	top     = denorm.NewSubset(files, "package", packages, "top", denorm.SubsetSpec{
		Max: 3, By: bson.D{{Key: "bytes", Value: -1}}, Fields: []string{"name"},
	})
	sizes = denorm.NewCounter(files, "package", packages, denorm.CounterSpec{
		Count: "count", Sums: []denorm.Field{{From: "bytes", To: "bytes"}},
	})
	synopses = denorm.NewCopy(packages, files, denorm.CopySpec{
		KeyPath: "package", Fields: []denorm.Field{{From: "doc", To: "synopsis"}},
	})

	byName  = denorm.NewIndexTable(packages, "name", "packagesByName", denorm.IndexTableSpec{Copies: []string{"doc"}})
	byWords = denorm.NewInverted(files, "filesBy", "words", "package")

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
