package page_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/page"
)

// A diagram has a picture for wide screens and one for narrow screens, also if both are equal.
func TestDiagramOfOneBox(t *testing.T) {
	p := page.New("one")
	p.Diagram(page.Diagram{Boxes: []page.Box{{Name: "posts", Fields: []page.Field{{Path: "_id"}}}}})
	html := p.String()
	for _, class := range []string{"broad", "narrow"} {
		if n := strings.Count(html, `<svg class="diagram `+class+`"`); n != 1 {
			t.Errorf("%d pictures for %s screens", n, class)
		}
	}
}
