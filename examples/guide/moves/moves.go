// Package moves changes a model whose program runs on: see docs/GUIDE.md.
package moves

import (
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/relate/migrate"
)

// OldPerson is how documents without a schemaVersion look.
type OldPerson struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type Person struct {
	ID    string `bson:"_id"`
	First string `bson:"first"`
	Last  string `bson:"last"`
}

var (
	people = model.NewCollection[Person, string]("people")
	forms  = schema.NewVersions(people, schema.VersionsSpec{},
		schema.Upcast(func(old OldPerson) (Person, error) {
			first, last, _ := strings.Cut(old.Name, " ")
			return Person{old.ID, first, last}, nil
		}),
	)
	personStore = model.NewStore(model.New("people", forms), people)
)

type Post struct {
	ID       string    `bson:"_id"`
	Comments []Comment `bson:"comments,omitempty"` // the old form
}

type Comment struct {
	ID   int64  `bson:"id"`
	Text string `bson:"text"`
}

// Remark is a comment in a document of its own: the new form.
type Remark struct {
	ID    int64  `bson:"_id"`
	Post  string `bson:"post"`
	Place int    `bson:"place"`
	Text  string `bson:"text"`
}

var (
	posts   = model.NewCollection[Post, string]("posts")
	remarks = model.NewCollection[Remark, int64]("remarks")
	extract = migrate.NewExtract(posts, "comments", remarks,
		migrate.ExtractSpec[string, int64]{Key: "id", Parent: "post", Order: "place"})
)
