package model

// compares reports whether the scope compares a string tenant in a collection. The scope
// that tests set everywhere doesn't count: it would ask for each command.
func (s *scope) compares(collection string) bool {
	return s.text != "" && !s.tests && s.holds(collection)
}

// collect returns the scope for one command, which adds its uses to the list.
func (s *scope) collect(list *[]use) *scope {
	if s.text == "" || s.tests {
		return s
	}
	own := *s
	own.used = list
	return &own
}

// use adds a collection to the uses of the command.
func (s *scope) use(collection string) {
	if s.used != nil {
		*s.used = s.withUse(*s.used, collection)
	}
}

// withUse returns the uses with a collection, if the scope compares a string tenant in it.
func (s *scope) withUse(list []use, collection string) []use {
	if !s.compares(collection) {
		return list
	}
	return append(list, use{collection, s.text})
}
