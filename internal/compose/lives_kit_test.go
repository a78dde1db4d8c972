package compose

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// entries is a technique that keeps entries about posts.
type entries interface {
	Insert(doc post, token bson.ObjectID) model.Plan
	Set(doc *post, fields bson.D, token bson.ObjectID) model.Plan
	Delete(doc *post) model.Plan
}

func entryLives(x entries, id string) []life {
	gone := func(id string) operation {
		return read("delete", posts, id, func(p *post) model.Plan { return x.Delete(p) })
	}
	lives := func(id string) []operation {
		return []operation{
			gone(id), planned("insert", x.Insert(newPost(id), token(101))),
			read("set", posts, id, func(p *post) model.Plan { return x.Set(p, bson.D{e("tags", bson.A{"blue"})}, token(102)) }),
		}
	}
	return []life{{"p1", lives("p1")}, {"p2", lives("p2")}, {"a new post", []operation{planned("insert", x.Insert(newPost(id), token(101))), gone(id)}}}
}

func versionedLives(x model.Technique) []life {
	v := x.(*embed.Versioned[post, string])
	lives := func(id string) []operation {
		p := newPost(id)
		p.Version = 0
		return []operation{
			written("delete", posts.Delete(id)), written("insert", v.Insert(p, token(101))),
			changed("change", v.ChangeBy(id, token(102), func(p post) (bson.D, error) { return set("author", p.Author+"-"), nil })),
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
			changed("delete", t.Delete(id, paths.Restrict)), changed("insert", t.Insert(p, paths.LastChild("p2"))), changed("move", t.Move(id, paths.LastChild("p1"))),
		}
	}
	return []life{{"p3", lives("p3")}, {"the parent", lives("p1")}, {"a new node", []operation{lives("p6")[1], lives("p6")[0]}}}
}

func init() {
	for _, name := range []string{"parents", "children", "ancestors", "paths", "nested sets"} {
		livesOf["paths.Tree by "+name] = treeLives
	}
}
