package subsetpages

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
)

// Reactions returns how a store deletes the pages of a parent, and refuses writes of pages.
func (s *Subset) Reactions() []model.Reaction {
	return []model.Reaction{{Collection: s.docs.Name(), React: func(w model.StoreWrite) (a model.Answer, err error) {
		switch {
		case w.After != nil:
			return a, nil
		case !w.Tx:
			return a, commands.NeedsTransaction("denorm.SubsetPages", s.docs.Name(), "SubsetPages.Delete")
		}
		pages, err := s.in.OfStoredKey(w.Before.Lookup("_id"))
		a.First = []model.Step{s.deletePages(pages)}
		return a, err
	}}, s.in.RefuseStores("SubsetPages.Append, SubsetPages.Set and SubsetPages.Remove")}
}
