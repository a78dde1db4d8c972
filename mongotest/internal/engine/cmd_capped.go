package engine

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

// convertToCapped puts a capped collection in the place of another, with those of its documents that it holds, the
// latest ones, and without its indexes.
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
	return nil, r.write(func(w *store.Writer) error {
		c := w.Collection(ns)
		switch {
		case c == nil:
			return mongoerr.New(mongoerr.NamespaceNotFound, "source collection %s does not exist", ns)
		case c.Series != nil:
			return forms.RefuseOnSeries(ns, "convertToCapped")
		case c.View != nil:
			return mongoerr.New(mongoerr.CommandNotSupportedOnView, "cloneCollectionAsCapped not supported for views: %s", ns)
		}
		return w.Overwrite(ns, func() error {
			if _, err := w.Drop(ns); err != nil {
				return err
			}
			if err := w.CreateAs(ns, forms.ShowCapped(form.Capped), form); err != nil {
				return err
			}
			for rec := range c.Records.All() {
				if err := r.watch.Step(); err != nil {
					return err
				}
				if _, err := w.Insert(ns, append(bson.D{}, rec.Doc...)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
