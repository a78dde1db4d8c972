// Package choice weighs layouts of one application, with no server: see docs/GUIDE.md.
package choice

import (
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/design"
)

// What is known of one relation: a course has some announcements, and no end of them.
var announcements = advise.Relation{
	Parent: advise.End{
		Name: "courses", Has: advise.Count{Typical: 200, Max: 2000, Unbounded: true},
	},
	Child:       advise.End{Name: "announcements", Bytes: 400},
	ReadsPerAdd: 50,
}

// What is known of the application: its documents, and how often each operation comes.
var school = design.Workload{
	Name:   "school",
	Server: design.Server{Transactions: true}, // a replica set
	Entities: []design.Entity{
		{Name: "courses", Count: 1_000, Fields: []design.Field{{Name: "title", Text: 40}}},
		{Name: "announcements", Count: 50_000, Fields: []design.Field{
			{Name: "text", Text: 300}, {Name: "at", Grows: true},
		}},
	},
	Relations: []design.Relation{
		{Child: "announcements", Field: "course", Parent: "courses", List: "news"},
	},
	Operations: []design.Operation{
		{Name: "show a course", Rate: 100, Accesses: []design.Access{
			{Of: "courses", By: []string{"_id"}},
			{Of: "announcements", By: []string{"course"}, Order: "at", Limit: 3},
		}},
		{Name: "announce", Rate: 1, Accesses: []design.Access{
			{Do: design.Insert, Of: "announcements"},
		}},
	},
}
