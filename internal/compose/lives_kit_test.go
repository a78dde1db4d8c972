package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// entryLives are the lives of posts that have entries.
func entryLives(x model.Technique, id string) []life {
	s := postStore(x)
	lives := func(id string) []operation {
		return []operation{
			changed("delete", s.Delete(id)), changed("insert", s.Insert(newPost(id))),
			changed("set", s.Set(id, bson.D{e("tags", bson.A{"blue"})})),
		}
	}
	return []life{
		{"p1", lives("p1")}, {"p2", lives("p2")},
		{"a new post", []operation{changed("insert", s.Insert(newPost(id))), changed("delete", s.Delete(id))}},
	}
}

func versionedLives(x model.Technique) []life {
	s := postStore(x)
	lives := func(id string) []operation {
		p := newPost(id)
		p.Version = 0
		return []operation{
			written("delete", posts.Delete(id)), acted("insert", s.Insert(p), token(101)),
			changed("edit", s.Edit(id, func(p *post) error { p.Author += "-"; return nil })),
		}
	}
	return []life{{"p1", lives("p1")}, {"p2", lives("p2")}}
}

// treeLives are lives of nodes.
func treeLives(x model.Technique) []life {
	t := x.(*paths.Tree[post, string])
	lives := func(id string) []operation {
		p := newPost(id)
		p.Order, p.Parent = "", nil
		return []operation{
			changed("delete", t.Delete(id, paths.Restrict)), changed("insert", t.Insert(p, paths.LastChild("p2"))),
			changed("move", t.Move(id, paths.LastChild("p1"))),
		}
	}
	return []life{
		{"p3", lives("p3")}, {"the parent", lives("p1")},
		{"a new node", []operation{lives("p6")[1], lives("p6")[0]}},
	}
}

func init() {
	for _, name := range []string{"parents", "children", "ancestors", "paths", "nested sets"} {
		livesOf["paths.Tree by "+name] = treeLives
	}
}
