package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"
)

// costTypes is how many types of documents a service has whose costs are measured.
const costTypes = 10

// A costTechnique is a technique of a generated service, on a type of documents. $ is the
// type's number, # the number of the next type, to which the technique refers.
type costTechnique struct {
	fields  string // of the document
	imports string // packages of docmodel
	declare string // further declarations, and the technique itself
	name    string // of the variable, if it is for model.New: in a model of its own, as some guard what others write
	use     string // what a handler does
}

// costTechniques are in the order in which a service takes more of them.
var costTechniques = []costTechnique{{
	"Parent string `bson:\"parent\"`", "relate",
	"parentRef$ = parentref.New(docs$, \"parent\", docs#, parentref.Spec{})\n" +
		"parentStore$ = model.NewStore(model.New(\"$\", parentRef$), docs$)", "parentRef$",
	"_, _, err := parentStore$.Set(id, bson.D{{Key: \"parent\", Value: \"b\"}}).Run(ctx, db); if err != nil { return err }; _, err = parentRef$.Children(\"b\").All(ctx, db); return err",
}, {
	"Version int64 `bson:\"version\"`", "model/embed",
	"versioned$ = embed.NewVersioned(docs$, embed.VersionedSpec{})\n" +
		"versionStore$ = model.NewStore(model.New(\"$\", versioned$), docs$)", "versioned$",
	"_, _, err := versionStore$.Edit(id, func(d *Doc$) error { d.Name += \"!\"; return nil }).Run(ctx, db); return err",
}, {
	"Kids []string `bson:\"kids,omitempty\"`", "relate",
	"childRefs$ = childrefs.New(docs$, \"kids\", docs#)", "childRefs$",
	"_, err := childRefs$.Add(id, \"b\").Run(ctx, db); if err != nil { return err }; _, err = childRefs$.ChildrenOf(id).All(ctx, db); return err",
}, {
	"Of string `bson:\"of\"`", "denorm",
	"counter$ = counter.New(docs$, \"of\", docs#, counter.Spec{Count: \"count\"})\n" +
		"countStore$ = model.NewStore(model.New(\"$\", counter$), docs$)", "counter$",
	"_, _, err := countStore$.Insert(Doc${ID: id, Of: \"b\"}).Run(ctx, db); if err != nil { return err }; _, _, err = counter$.Recount(\"b\").Run(ctx, db); return err",
}, {
	"Items []item `bson:\"items,omitempty\"`", "model/embed",
	"embedded$ = embed.NewEmbedded[item](docs$, \"items\", embed.EmbeddedSpec{Key: \"id\"})", "embedded$",
	"_, err := embedded$.Add(id, item{ID: \"i\"}).Run(ctx, db); if err != nil { return err }; _, err = embedded$.Having(bson.D{{Key: \"id\", Value: \"i\"}}).All(ctx, db); return err",
}, {
	"Copied copied `bson:\"copied\"`", "denorm",
	"copy$ = copies.New(docs#, docs$, copies.Spec{KeyPath: \"copied.id\", Fields: []copies.Field{{From: \"name\", To: \"copied.name\"}}})\n" +
		"copyStore$ = model.NewStore(model.New(\"$\", copy$), docs#)", "copy$",
	"_, _, err := copyStore$.Set(id, bson.D{{Key: \"name\", Value: \"new\"}}).Run(ctx, db); return err",
}, {
	"Latest []string `bson:\"latest,omitempty\"`", "denorm",
	"bounded$ = bounded.New(docs$, \"latest\", bounded.Spec{Max: 10})", "bounded$",
	"_, err := bounded$.Push(id, \"new\").Run(ctx, db); return err",
}, {
	"Until *time.Time `bson:\"until,omitempty\"`", "model/schema",
	"expiry$ = schema.NewExpiry(docs$, \"until\", schema.ExpirySpec{Archive: \"archive$\"})", "expiry$",
	"_, err := expiry$.Live(time.Now()).All(ctx, db); if err != nil { return err }; _, err = expiry$.Archive(time.Now()).Run(ctx, db, model.JobOptions{}); return err",
}, {
	"Outbox outbox.Outgoing[item] `bson:\"outbox,omitempty\"`", "denorm",
	"outbox$ = outbox.New[item](docs$, \"outbox\", outbox.Spec{})", "outbox$",
	"_, err := outbox$.Publish(id, item{ID: \"e\"}, time.Now(), bson.NewObjectID()).Run(ctx, db); if err != nil { return err }; " +
		"return outbox$.Relay(\"r\", outbox.RelaySpec{Once: true}, func(context.Context, outbox.Delivery[string, item]) error { return nil }).Run(ctx, db)",
}, {
	"Up *string `bson:\"up\"`\nPath string `bson:\"path\"`\nOrder string `bson:\"order\"`\nChange int64 `bson:\"change\"`", "paths",
	"tree$ = paths.NewMaterializedPath(docs$, paths.MaterializedPathSpec{TreeSpec: paths.TreeSpec{Parent: \"up\"}})", "tree$",
	"_, _, err := tree$.Insert(Doc${ID: id}, paths.LastRoot[string]()).Run(ctx, db); if err != nil { return err }; _, err = tree$.Descendants(&Doc${ID: id}, 0).All(ctx, db); return err",
}, {
	"Specs []spec `bson:\"specs,omitempty\"`", "denorm",
	"attributes$ = attributes.New(docs$, \"specs\", attributes.Spec{})", "attributes$",
	"_, err := attributes$.Set(id, bson.D{{Key: \"color\", Value: \"red\"}}).Run(ctx, db); if err != nil { return err }; _, err = attributes$.Equal(\"color\", \"red\").All(ctx, db); return err",
}, {
	"Joined []string `bson:\"joined,omitempty\"`", "relate",
	"join$ = join.New(docs$, \"joined\", docs#, join.Spec{})", "",
	"_, err := join$.Load(ctx, db, []Doc${{ID: id}}); return err",
}, {
	"Revision int64 `bson:\"revision\"`\nRevised *history.Revised `bson:\"revised,omitempty\"`", "denorm",
	"revisions$ = model.NewCollection[history.Revision[Doc$, string], history.RevisionID[string]](\"revisions$\")\n" +
		"history$ = history.New(docs$, revisions$, history.Spec{Version: \"revision\"})", "history$",
	"_, _, err := history$.Insert(Doc${ID: id}, history.Revised{At: time.Now()}, bson.NewObjectID()).Run(ctx, db); if err != nil { return err }; _, err = history$.AsOf(id, time.Now()).One(ctx, db); return err",
}, {
	"Edges []string `bson:\"edges,omitempty\"`", "paths",
	"graph$ = paths.NewGraph(docs$, \"edges\", paths.GraphSpec{})", "graph$",
	"_, err := graph$.Components().Job().Run(ctx, db, model.JobOptions{}); if err != nil { return err }; _, err = graph$.Top(10).All(ctx, db); return err",
}, {
	"Number string `bson:\"number\"`", "model/keys",
	"numbers$ = model.NewCollection[keys.SequenceCounter[string], string](\"numbers$\")\n" +
		"sequence$ = keys.NewSequence(docs$, numbers$, keys.SequenceSpec{Digits: 6})", "sequence$",
	"_, _, err := sequence$.Append(\"owner\", Doc${Name: id}).Run(ctx, db); return err",
}}

// costService returns the source of a service with so many techniques, on its types in
// turn, or each on every type. -1 is the service with only the driver.
func costService(techniques int, everywhere bool) ([]byte, error) {
	s := serviceText{fields: map[int][]string{}, imports: map[string]bool{}}
	for t := range max(techniques, 0) {
		for i := range costTypes {
			if everywhere || t%costTypes == i {
				s.add(costTechniques[t], i)
			}
		}
	}
	s.write(techniques >= 0)
	return format.Source(s.Bytes())
}

type serviceText struct {
	bytes.Buffer
	fields                  map[int][]string
	imports                 map[string]bool
	declare, names, handles []string
}

func (s *serviceText) add(t costTechnique, i int) {
	next := (i + 1) % costTypes
	fill := strings.NewReplacer("$", fmt.Sprint(i), "#", fmt.Sprint(next)).Replace
	s.fields[i] = append(s.fields[i], t.fields)
	if strings.HasPrefix(t.name, "counter") { // what the counted documents' parents have
		s.fields[next] = append(s.fields[next], "Count int64 `bson:\"count\"`")
	}
	s.imports["github.com/docmodel/docmodel/"+t.imports] = true
	s.declare = append(s.declare, fill(t.declare))
	if t.name != "" {
		s.names = append(s.names, fill("model.New(\"$\", "+t.name+")"))
	}
	s.handles = append(s.handles, fill("func(ctx context.Context, db *mongo.Database, id string) error { "+t.use+" },"))
}

// write combines the documents, a handler for each type that stores, reads and changes a
// document, and the techniques' handlers.
func (s *serviceText) write(withLibrary bool) {
	declared := strings.Join(s.declare, "\n")
	for _, p := range []string{"context", "encoding/json", "log", "net/http", "os"} {
		s.imports[p] = true
	}
	const driver = "go.mongodb.org/mongo-driver/v2/"
	s.imports[driver+"bson"], s.imports[driver+"mongo"], s.imports[driver+"mongo/options"] = true, true, true
	s.imports["github.com/docmodel/docmodel/model"] = withLibrary
	s.imports["time"] = strings.Contains(fmt.Sprint(s.fields, s.handles), "time.")
	s.WriteString("package main\n\nimport (\n")
	for _, p := range slices.Sorted(maps.Keys(s.imports)) {
		if s.imports[p] {
			fmt.Fprintf(s, "%q\n", p)
		}
	}
	s.WriteString(")\n\ntype item struct { ID string `bson:\"id\"` }\ntype copied struct { ID string `bson:\"id\"`; Name string `bson:\"name\"` }\n")
	s.WriteString("type spec struct { K string `bson:\"k\"`; V any `bson:\"v\"` }\n")
	for i := range costTypes { // no two types have one shape
		fmt.Fprintf(s, "type Doc%d struct {\nID string `bson:\"_id\"`\nName string `bson:\"name\"`\nOwn%d string `bson:\"own\"`\n%s\n}\n", i, i, strings.Join(s.fields[i], "\n"))
	}
	setup := "if err := client.Ping(ctx, nil); err != nil { log.Fatal(err) }"
	if withLibrary {
		s.WriteString("var (\n")
		for i := range costTypes {
			fmt.Fprintf(s, "docs%d = model.NewCollection[Doc%d, string](\"docs%d\")\n", i, i, i)
		}
		s.WriteString(declared + "\n)\n")
		setup = "for _, m := range []*model.Model{" + strings.Join(s.names, ", ") + "} {\nif err := m.Indexes().Ensure(ctx, db); err != nil { log.Fatal(err) }\n}"
	}
	s.WriteString("var handlers = []func(context.Context, *mongo.Database, string) error{\n")
	for i := range costTypes {
		s.WriteString(strings.ReplaceAll(crud(withLibrary), "@", fmt.Sprint(i)))
	}
	s.WriteString(strings.Join(s.handles, "\n") + "\n}\n")
	s.WriteString(strings.ReplaceAll(costMain, "SETUP", setup))
}

func crud(withLibrary bool) string {
	if withLibrary {
		return `func(ctx context.Context, db *mongo.Database, id string) error {
			if _, err := docs@.Insert(Doc@{ID: id}).Run(ctx, db); err != nil { return err }
			doc, err := docs@.ByID(id).One(ctx, db)
			if err != nil { return err }
			_, err = docs@.Update(id, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: doc.Name + "!"}}}}).Run(ctx, db)
			return err
		},
`
	}
	return `func(ctx context.Context, db *mongo.Database, id string) error {
		docs, byID := db.Collection("docs@"), bson.D{{Key: "_id", Value: id}}
		if _, err := docs.InsertOne(ctx, Doc@{ID: id}); err != nil { return err }
		var doc Doc@
		if err := docs.FindOne(ctx, byID).Decode(&doc); err != nil { return err }
		_, err := docs.UpdateOne(ctx, byID, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: doc.Name + "!"}}}})
		return err
	},
`
}

const costMain = `
func main() {
	client, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("MONGODB_URI")))
	if err != nil {
		log.Fatal(err)
	}
	ctx, db := context.Background(), client.Database("service")
	SETUP
	http.HandleFunc("POST /{id}", func(w http.ResponseWriter, r *http.Request) {
		var failed []string
		for _, handle := range handlers {
			if err := handle(r.Context(), db, r.PathValue("id")); err != nil {
				failed = append(failed, err.Error())
			}
		}
		_ = json.NewEncoder(w).Encode(failed)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDRESS"), nil))
}
`
