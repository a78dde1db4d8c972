package advise_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/docmodel/docmodel/model/advise"
)

// A team has members; how it grows is known.
var teamHasMembers = advise.Relation{
	Parent:      advise.End{Name: "teams", Has: advise.Count{Typical: 8, Max: 40, PerDay: 0.02}},
	Child:       advise.End{Name: "members", Bytes: 300, Alone: 0.6},
	ReadsPerAdd: 200,
}

// The page shows the commands as bars, and how large a team gets with its members in it. It
// can be opened in a browser as it is.
func ExampleAdvice_HTML() {
	dir, err := os.MkdirTemp("", "advice")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	advice := advise.Choose(teamHasMembers)
	err = os.WriteFile(filepath.Join(dir, "teams.html"), []byte(advice.HTML()), 0o644)
	fmt.Println(advice.Choice, err)
	// Output: parent reference <nil>
}
