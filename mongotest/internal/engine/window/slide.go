package window

// This file computes functions that can forget values, over windows that move.

// removable is a function at work on a window that moves. Values are removed in the order in which they were added, so
// remove gets the oldest value that is in.
type removable interface {
	add(v any) error
	remove(v any) error
	result() (any, error)
}

// slide computes a function over the window of each document. It adds the documents that the window reaches, and
// removes those that it leaves. A partition costs at most one addition and one removal for each document, however long
// the windows are.
func (b *bounds) slide(p *Partition, in *inputs, state removable) Values {
	f := b.newFrames(p)
	from, to := 0, 0 // the documents that are in; to is the first that isn't
	return func(i int) (any, error) {
		first, last, err := f.findFrame(i)
		if err != nil {
			return nil, err
		}
		// An empty frame may begin after the partition, or end long before it begins.
		first = min(first, len(p.Docs))
		last = max(last, first-1)
		for ; to <= last; to++ {
			if to < first && from == to { // no window has it, and nothing is in
				from++
				continue
			}
			v, err := in.evalInput(to)
			if err == nil {
				err = state.add(v)
			}
			if err != nil {
				return nil, err
			}
		}
		for ; from < min(first, to); from++ {
			v, err := in.evalInput(from)
			if err == nil {
				err = state.remove(v)
			}
			if err != nil {
				return nil, err
			}
		}
		return state.result()
	}
}
