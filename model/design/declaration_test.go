package design

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// songs has every kind of storage in one layout.
func songs() (Workload, Layout) {
	w := Workload{
		Name: "songs",
		Entities: []Entity{
			{Name: "people", Count: 200, Fields: []Field{{Name: "name", Text: 20}}},
			{Name: "albums", Count: 400, Fields: []Field{{Name: "title", Text: 30}, {Name: "released"}}},
			{Name: "songs", Count: 4000, Fields: []Field{{Name: "title", Text: 30}, {Name: "seconds", Values: 300}}},
			{Name: "verses", Count: 12000, Fields: []Field{{Name: "text", Text: 200}, {Name: "number", Values: 10}}},
			{Name: "genres", Count: 20, Fields: []Field{{Name: "name", Text: 15}}},
			{Name: "comments", Count: 8000, Fields: []Field{{Name: "text", Text: 80}, {Name: "at"}}},
		},
		Relations: []Relation{
			{Child: "albums", Field: "artist", Parent: "people", List: "albums"},
			{Child: "songs", Field: "album", Parent: "albums", List: "songs", Ordered: true},
			{Child: "verses", Field: "song", Parent: "songs", List: "verses", Max: 12, Fixed: true},
			{Child: "songs", Field: "genres", Parent: "genres", List: "songs", Each: 2},
			{Child: "comments", Field: "album", Parent: "albums", List: "comments"},
			{Child: "comments", Field: "author", Parent: "people", List: "written"},
		},
		Operations: []Operation{
			{Name: "ShowAlbum", Rate: 100, Accesses: []Access{
				{Of: "albums", By: []string{"_id"}, Fields: []string{"artist.name"}}, {Of: "songs", By: []string{"album"}},
				{Of: "comments", By: []string{"album"}, Order: "at", Limit: 5},
			}},
			{
				Name: "ShowPerson", Rate: 30,
				Accesses: []Access{{Of: "people", By: []string{"_id"}, Fields: []string{"count(written)", "max(written.at)"}}},
			},
			{
				Name: "ShowSong", Rate: 50,
				Accesses: []Access{
					{Of: "songs", By: []string{"_id"}, Fields: []string{"genres.name"}},
					{Of: "verses", By: []string{"song"}, Order: "number"},
				},
			},
			{
				Name: "ShowGenre", Rate: 2,
				Accesses: []Access{{Of: "songs", By: []string{"genres"}, Limit: 100, Order: "seconds"}},
			},
			{
				Name: "AddGenre", Rate: 0.5,
				Accesses: []Access{{Do: Update, Of: "songs", By: []string{"_id"}, Fields: []string{"genres"}}},
			},
			{Name: "FindVerse", Rate: 1, Accesses: []Access{{Of: "verses", By: []string{"text"}}}},
			{Name: "Comment", Rate: 5, Accesses: []Access{{Do: Insert, Of: "comments"}}},
			{
				Name: "Rename", Rate: 0.1,
				Accesses: []Access{{Do: Update, Of: "people", By: []string{"_id"}, Fields: []string{"name"}}},
			},
		},
	}
	return w, Layout{Name: "all", Stored: map[string]Storage{
		"albums.artist":   {Copy: []string{"name"}},
		"songs.genres":    {Copy: []string{"name"}},
		"verses.song":     {As: Embedded},
		"comments.album":  {Newest: 5, By: "at"},
		"comments.author": {},
	}}
}

// A declaration compiles, and its model has the indexes that were priced.
func TestDeclaration(t *testing.T) {
	w, l := songs()
	counted := l.with("comments.author", Storage{Totals: true}).with("comments.album", Storage{})
	paged := l.with("comments.album", Storage{As: Paged, Page: 20, Newest: 5, By: "at"})
	for _, l := range []Layout{l, counted, paged} {
		p, err := w.Price(l)
		if err != nil {
			t.Fatal(err)
		}
		source := "package main\n\nimport \"fmt\"\n\n" + p.Declaration() +
			"\nfunc main() {\n\tfor _, x := range songsModel.Indexes().Needed {\n\t\tfmt.Println(x)\n\t}\n}\n"
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, out, source)
		}
		got := strings.Split(strings.TrimSpace(string(out)), "\n")
		var want []string
		for _, x := range p.Model.Indexes().Needed {
			want = append(want, x.String())
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("the declaration asks for\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A collection can have the name of a package that the declaration imports.
func TestDeclarationVariables(t *testing.T) {
	for name, want := range map[string]string{"songs": "songs", "Copies": "copiesDocs", "bson": "bsonDocs", "9": "x9"} {
		if got := variable(name); got != want {
			t.Errorf("variable(%q) = %s, want %s", name, got, want)
		}
	}
}
