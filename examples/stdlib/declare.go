package main

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Package lists the packages that it imports, and keeps its largest files beside their names.
type Package struct {
	ID      string   `bson:"_id"` // import path
	Name    string   `bson:"name"`
	Doc     string   `bson:"doc"`
	Imports []string `bson:"imports,omitempty"` // ids of packages
	Largest []Sized  `bson:"largest,omitempty"` // at most three files, the largest first
}

// Sized is what a package keeps of a file.
type Sized struct {
	Name  string `bson:"name"`
	Bytes int64  `bson:"bytes"`
}

// A File holds the id of its package.
type File struct {
	ID      string `bson:"_id"`
	Package string `bson:"package"`
	Name    string `bson:"name"`
	Bytes   int64  `bson:"bytes"`
}

// The model: two collections and three techniques.
var (
	packages = model.NewCollection[Package, string]("packages")
	files    = model.NewCollection[File, string]("files")

	imports = relate.NewChildRefs(packages, "imports", packages)
	inside  = relate.NewParentRef(files, "package", packages, relate.ParentRefSpec{By: "bytes"})
	largest = denorm.NewBounded(packages, "largest", denorm.BoundedSpec{
		Max: 3, Keep: denorm.First, By: bson.D{{Key: "bytes", Value: -1}, {Key: "name", Value: 1}}, Key: "name",
	})
)
