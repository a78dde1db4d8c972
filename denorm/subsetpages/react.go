package subsetpages

import (
	"github.com/docmodel/docmodel/model"
)

// makeReactions returns the reactions of a store: it deletes the pages of a deleted
// parent, and refuses writes of pages. In a transaction, the pages are deleted before the
// parent. Outside, the parent keeps the unfinished action until its pages are deleted.
func (s *untypedSubset) makeReactions() []model.Reaction {
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
