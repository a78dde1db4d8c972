package window

// removable is a function at work on a window that moves: values go out in the order in which they came in.
type removable interface {
	add(v any) error
	remove(v any) error
	result() (any, error)
}

// slide computes the function of the window of each document: what the window reaches is added, what it leaves is
// removed.
func (b *bounds) slide(p *Partition, in *inputs, state removable) Values {
	f := b.newFrames(p)
	from, to := 0, 0 // what is in, to exclusive
	return func(i int) (any, error) {
		first, last, err := f.at(i)
		if err != nil {
			return nil, err
		}
		first = min(first, len(p.Docs))
		last = max(last, first-1)
		for ; to <= last; to++ {
			if to < first && from == to { // no window has it
				from++
				continue
			}
			v, err := in.at(to)
			if err == nil {
				err = state.add(v)
			}
			if err != nil {
				return nil, err
			}
		}
		for ; from < min(first, to); from++ {
			v, err := in.at(from)
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
