package engine

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var createCommands = []*command{
	{name: "create", txn: true, writes: true, run: create, fields: []string{
		"capped", "size", "max", "autoIndexId", "timeseries", "expireAfterSeconds", "clusteredIndex",
		"changeStreamPreAndPostImages", "storageEngine", "validator", "validationLevel", "validationAction",
		"indexOptionDefaults", "viewOn", "pipeline", "collation", "encryptedFields", "flags", "temp",
	}},
}

// create makes a collection or a view. Every option that would change what it does, and that the engine hasn't, is
// refused. One that is there already with the same options stays as it is.
func create(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	x, err := readCreation(r, ns)
	if err != nil {
		return nil, err
	}
	return nil, r.write(func(w *store.Writer) error {
		c := w.Collection(ns)
		if c == nil {
			return x.create(w, ns)
		}
		if r.txn != nil || !hasSameOptions(c.Options, x.options) || (c.View == nil) != (x.form.View == nil) {
			return mongoerr.New(mongoerr.NamespaceExists, "namespace %s already exists, but with different options: %s",
				ns, store.Show(c.Options))
		}
		return nil
	})
}

// creation is a create command that has been read.
type creation struct {
	form       store.Form
	options    bson.D // as the collection shows them
	validation forms.Validation
	expires    bool // measurements of a time series do
	after      time.Duration
}

// readCreation reads the options of a create command.
func readCreation(r *request, ns store.Namespace) (*creation, error) {
	a := r.args()
	x := &creation{}
	x.form.View, x.form.Capped = readView(r, a, ns), forms.ReadCapped(a)
	var series bson.D
	x.form.Series, series = forms.ReadSeries(a)
	x.after, x.expires = readSeriesExpiry(a)
	clustered := forms.ReadClustered(a)
	if x.form.Clustered = clustered; clustered != nil {
		clustered.Expires, clustered.ExpireAfter, x.expires = x.expires, x.after, false
		x.options = forms.ShowClustered(clustered)
	}
	for _, name := range []string{"encryptedFields", "temp"} {
		a.Refuse(name)
	}
	for _, name := range []string{"storageEngine", "indexOptionDefaults"} {
		a.Refuse(name, bson.D{})
	}
	a.Refuse("autoIndexId", true)
	by := readDefault(a, x.form)
	a.Integer("flags", 0)
	if by != nil {
		x.options = append(x.options, bson.E{Key: "collation", Value: by.Document()})
	}
	if x.form.Capped != nil {
		x.options = append(x.options, forms.ShowCapped(x.form.Capped)...)
	}
	x.options = append(x.options, forms.ReadImages(a, ns)...)
	var err error
	x.validation, err = forms.ReadValidation(a, by)
	a.Fail(err)
	x.options = append(x.options, x.validation.Given...)
	switch {
	case a.Err != nil:
	case clustered != nil && (x.form.Capped != nil || x.form.Series != nil):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "a clustered collection can be neither capped nor a time series"))
	case x.form.View != nil && len(x.options)+len(series) > 0:
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"a view takes no other options than 'viewOn', 'pipeline' and 'collation', not %s",
			store.Show(append(x.options, series...))))
	case x.form.View != nil:
		x.options = forms.ShowView(x.form.View)
	case x.form.Series != nil && (len(x.options) > 0 || r.txn != nil):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"a time-series collection can't be made in a transaction, and takes no other options "+
				"than 'timeseries', 'expireAfterSeconds' and 'collation', not %s", store.Show(x.options)))
	case x.expires:
		series = append(series, bson.E{Key: "expireAfterSeconds", Value: int64(x.after / time.Second)})
		fallthrough
	default:
		x.options = append(x.options, series...)
	}
	return x, a.Err
}

// readDefault reads the default collation of a collection. A view and a time series have none.
func readDefault(a *args.Reader, form store.Form) *collation.Collator {
	spec, ok := a.Get("collation")
	switch {
	case !ok || a.Document("collation") == nil:
		return nil
	case form.View != nil || form.Series != nil:
		a.Refuse("collation", bson.D{}, bson.D{{Key: "locale", Value: "simple"}})
		return nil
	}
	by, err := collation.Parse(spec.(bson.D), "create.collation")
	a.Fail(err)
	return by
}

// create makes what isn't there.
func (x *creation) create(w *store.Writer, ns store.Namespace) error {
	switch {
	case x.form.View != nil:
		return forms.PutView(w, ns, x.form.View)
	case x.form.Series != nil:
		return createSeries(w, ns, x)
	}
	if err := w.CreateAs(ns, x.options, x.form); err != nil || len(x.validation.Given) == 0 {
		return err
	}
	return w.SetOptions(ns, x.options, x.validation.NewCheck())
}

// hasSameOptions compares the options of collections, in any order.
func hasSameOptions(a, b bson.D) bool {
	for _, e := range a {
		if v, ok := bsonval.Get(b, e.Key); !ok || !bsonval.Equal(v, e.Value) {
			return false
		}
	}
	return len(a) == len(b)
}

// readSeriesExpiry reads after how long measurements expire.
func readSeriesExpiry(a *args.Reader) (after time.Duration, ok bool) {
	v, ok := a.Get("expireAfterSeconds")
	if !ok {
		return 0, false
	}
	after, err := indexes.ReadExpiry(v)
	a.Fail(err)
	return after, true
}

// createSeries makes a time series collection, with the index on meta and time that each has.
func createSeries(w *store.Writer, ns store.Namespace, x *creation) error {
	s := x.form.Series
	if err := w.CreateAs(ns, x.options, x.form); err != nil {
		return err
	}
	if s.Meta != "" {
		key := bson.D{{Key: s.Meta, Value: int32(1)}, {Key: s.Time, Value: int32(1)}}
		spec := &store.IndexSpec{Name: indexes.MakeName(key), Key: key,
			Fields: []store.Field{store.NewField(s.Meta, store.Ordered, false), store.NewField(s.Time, store.Ordered, false)}}
		if err := w.AddIndex(ns, spec); err != nil {
			return err
		}
	}
	if x.expires {
		return w.AddIndex(ns, s.SeriesTTL(x.after))
	}
	return nil
}
