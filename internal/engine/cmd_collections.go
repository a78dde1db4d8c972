package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/engine/query"
	"github.com/docmodel/docmodel/internal/engine/store"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

func init() {
	register(
		&command{name: "create", txn: true, writes: true, run: create, fields: []string{
			"capped", "size", "max", "autoIndexId", "timeseries", "expireAfterSeconds", "clusteredIndex",
			"changeStreamPreAndPostImages", "storageEngine", "validator", "validationLevel", "validationAction",
			"indexOptionDefaults", "viewOn", "pipeline", "collation", "encryptedFields", "flags", "temp",
		}},
		&command{name: "drop", run: drop},
		&command{name: "dropDatabase", run: dropDatabase},
		&command{name: "listCollections", run: listCollections, fields: []string{
			"filter", "nameOnly", "authorizedCollections", "cursor",
		}},
		&command{name: "listDatabases", admin: true, run: listDatabases, fields: []string{
			"filter", "nameOnly", "authorizedDatabases",
		}},
		&command{name: "createSearchIndexes", refused: "search indexes are Atlas's"},
		&command{name: "updateSearchIndex", refused: "search indexes are Atlas's"},
		&command{name: "dropSearchIndex", refused: "search indexes are Atlas's"},
	)
}

// create makes a collection. Every option that would change what it does is
// refused.
func create(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	var options bson.D
	for _, name := range r.command.fields {
		switch name {
		case "capped":
			a.refuse(name, false)
		case "collation":
			a.collation()
		case "pipeline", "storageEngine", "indexOptionDefaults":
			a.refuse(name, bson.A{}, bson.D{})
		case "validator", "validationLevel", "validationAction": // see below
		case "autoIndexId":
			a.refuse(name, true)
		case "changeStreamPreAndPostImages":
			images := a.document(name)
			part := &args{place: "create." + name, doc: images}
			a.fail(part.known([]string{"enabled"}))
			if images != nil {
				on := part.boolean("enabled", false)
				options = append(options, bson.E{Key: name, Value: bson.D{{Key: "enabled", Value: on}}})
			}
			a.fail(part.err)
		case "flags":
			a.integer(name, 0)
		default:
			a.refuse(name)
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	v, err := readValidation(a)
	if err != nil {
		return nil, err
	}
	return nil, r.write(func(w *store.Writer) error {
		if err := w.Create(ns, options); err != nil || len(v.given) == 0 {
			return err
		}
		return w.SetOptions(ns, append(options, v.given...), v.check())
	})
}

func drop(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	rep := reply{}
	err = r.write(func(w *store.Writer) error {
		c := w.Collection(ns)
		existed, err := w.Drop(ns)
		if existed && err == nil {
			rep = reply{{Key: "nIndexesWas", Value: int32(len(c.Indexes))}, {Key: "ns", Value: ns.String()}}
		}
		return err
	})
	return rep, err
}

func dropDatabase(r *request) (reply, error) {
	found := false
	err := r.write(func(w *store.Writer) error {
		var err error
		found, err = w.DropDatabase(r.db)
		return err
	})
	if !found {
		return nil, err
	}
	return reply{{Key: "dropped", Value: r.db}}, err
}

func listCollections(r *request) (reply, error) {
	a := r.args()
	nameOnly := a.boolean("nameOnly", false)
	a.boolean("authorizedCollections", false)
	limit := batchOf(a)
	if a.err != nil {
		return nil, a.err
	}
	m, err := query.Parse(a.document("filter"), query.Options{})
	if err != nil {
		return nil, err
	}
	var list []bson.D
	for c := range r.state().Collections(r.db) {
		doc := bson.D{{Key: "name", Value: c.NS.Coll}, {Key: "type", Value: "collection"}}
		full := append(doc[:2:2], bson.D{
			{Key: "options", Value: append(bson.D{}, c.Options...)},
			{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}, {Key: "uuid", Value: c.UUID}}},
			{Key: "idIndex", Value: describeIndex(c.Indexes[0].Spec)},
		}...)
		ok, err := m.Match(full)
		if err != nil {
			return nil, err
		}
		if !nameOnly {
			doc = full
		}
		if ok {
			list = append(list, doc)
		}
	}
	ns := store.Namespace{DB: r.db, Coll: "$cmd.listCollections"}
	return r.first(ns, &documents{list}, limit, false)
}

// batchOf reads the cursor field of a command: the size of the first batch.
func batchOf(a *args) int64 {
	doc := a.document("cursor")
	sub := args{place: a.place + ".cursor", doc: doc}
	a.fail(sub.known([]string{"batchSize"}))
	n := sub.natural("batchSize", defaultFirstBatch)
	a.fail(sub.err)
	return n
}

func listDatabases(r *request) (reply, error) {
	a := r.args()
	nameOnly := a.boolean("nameOnly", false)
	a.boolean("authorizedDatabases", false)
	m, err := query.Parse(a.document("filter"), query.Options{})
	if err != nil {
		a.fail(err)
	}
	if a.err != nil {
		return nil, a.err
	}
	list := bson.A{}
	total, last := int64(0), ""
	sizes := map[string]int64{}
	var names []string
	for c := range r.state().Collections("") {
		if c.NS.DB != last {
			last = c.NS.DB
			names = append(names, last)
		}
		if nameOnly {
			continue
		}
		for x := range c.Records.All() {
			sizes[last] += int64(bsonval.Size(x.Doc))
		}
	}
	for _, name := range names {
		doc := bson.D{{Key: "name", Value: name}}
		full := append(doc[:1:1], bson.E{Key: "sizeOnDisk", Value: sizes[name]}, bson.E{Key: "empty", Value: false})
		if ok, err := m.Match(full); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		if !nameOnly {
			doc = full
		}
		total += sizes[name]
		list = append(list, doc)
	}
	rep := reply{{Key: "databases", Value: list}}
	if !nameOnly {
		rep = append(rep, bson.E{Key: "totalSize", Value: total}, bson.E{Key: "totalSizeMb", Value: total >> 20})
	}
	return rep, nil
}

// missing is the error for a collection that isn't there.
func missing(ns store.Namespace) error {
	return mongoerr.New(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
}
