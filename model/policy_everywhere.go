package model

import "github.com/docmodel/docmodel/internal/runctx"

// everywhere are the policies of a context that carries none. Tests set one, to run as a tenant: see CONTRIBUTING.md.
func everywhere() []*Policy {
	p, ok := runctx.Everywhere.(Policy)
	if !ok {
		return nil
	}
	p = p.frozen()
	return []*Policy{&p}
}
