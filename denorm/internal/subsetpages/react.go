package subsetpages

import (
	"github.com/docmodel/docmodel/model"
)

// MakeReactions returns how a store deletes the pages of a parent, and refuses writes of pages.
func (s *Subset) MakeReactions() []model.Reaction {
	return []model.Reaction{
		{Collection: s.docs.Name(), On: model.OnDelete, React: func(w model.StoreWrite) (a model.Answer, err error) {
			pages, err := s.in.MatchStoredKey(w.Before.Lookup("_id"))
			if steps := []model.Step{s.deletePages(pages)}; w.Tx {
				a.First = steps
			} else { // the parent tells of the deletion until the pages are deleted
				a.Then = steps
			}
			return a, err
		}},
		s.in.RefuseStores("SubsetPages.Append, SubsetPages.Set and SubsetPages.Remove"),
	}
}
