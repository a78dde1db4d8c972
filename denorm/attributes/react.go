package attributes

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns how a store refuses a document that has an attribute twice, or
// one without a name.
func (a *untypedAttributes) makeReactions() []model.Reaction {
	return []model.Reaction{{Collection: a.docs.Name(), Paths: []string{a.path}, Amend: a.checkDocument}}
}

// checkDocument amends nothing: it only refuses wrong names.
func (a *untypedAttributes) checkDocument(w model.StoreWrite) (bson.D, error) {
	list, _ := core.ValueAt(w.After, a.path)
	var names []string
	for _, e := range core.Elements(list) {
		doc, _ := e.DocumentOK()
		name, _ := doc.Lookup(a.name).StringValueOK()
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	return nil, a.checkNames(names)
}
