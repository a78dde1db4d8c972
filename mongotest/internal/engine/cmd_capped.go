package engine

// This file has the command convertToCapped (https://www.mongodb.com/docs/manual/reference/command/convertToCapped/).
// Other options of capped collections are in package forms. A command, with the size in bytes:
//
//	{convertToCapped: "log", size: 4096}

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var cappedCommands = []*command{
	{name: "convertToCapped", fields: []string{"size"}, writes: true, run: convertToCapped},
	{name: "cloneCollectionAsCapped", refused: "use create, aggregate with $merge, or convertToCapped"},
}

// convertToCapped puts a capped collection in the place of another one. The new collection has the latest documents, as
// many as fit, and only the index on _id. Change streams show a rename, as of MongoDB, which copies into a temporary
// collection.
func convertToCapped(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("size")
	form := store.Form{Capped: &store.Capped{Size: forms.ReadCappedSize(a, "size")}}
	if a.Err != nil {
		return nil, a.Err
	}
	convert := func(w *store.Writer) error {
		c := w.Collection(ns)
		switch {
		case c == nil:
			return mongoerr.New(mongoerr.NamespaceNotFound, "source collection %s does not exist", ns)
		case c.Series != nil:
			return forms.RefuseOnSeries(ns, "convertToCapped")
		case c.View != nil:
			return mongoerr.New(mongoerr.CommandNotSupportedOnView,
				"cloneCollectionAsCapped not supported for views: %s", ns)
		}
		return w.Overwrite(ns, func() error { return copyIntoCapped(r, w, c, form) })
	}
	return nil, r.write(convert)
}

// copyIntoCapped drops a collection, makes a capped one of the same name, and inserts the documents in their order. The
// inserts remove the oldest documents again.
func copyIntoCapped(r *request, w *store.Writer, c *store.Collection, form store.Form) error {
	if _, err := w.Drop(c.NS); err != nil {
		return err
	}
	if err := w.CreateAs(c.NS, forms.ShowCapped(form.Capped), form); err != nil {
		return err
	}
	for rec := range c.Records.All() {
		if err := r.watch.Step(); err != nil {
			return err
		}
		if _, err := w.Insert(c.NS, append(bson.D{}, rec.Doc...)); err != nil {
			return err
		}
	}
	return nil
}
