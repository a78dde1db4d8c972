package differ

import (
	"context"
	"strings"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// saysDatabaseEnded reports whether an error's text says that the database behind the server has ended, as a fault in
// one of its processes makes all of them do.
func saysDatabaseEnded(message string) bool {
	for _, text := range []string{
		"unexpected EOF", "not yet accepting connections", "in recovery mode", "terminating connection",

		"connection reset by peer", "failed to connect", "broken pipe",
	} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// saysServerEnded reports whether what came of a case says that the server has ended: the case couldn't be run, or
// its command was answered with such an error.
func saysServerEnded(o outcome.Outcome, err error) bool {
	return saysDatabaseEnded(errorText(err)) || saysDatabaseEnded(o.Text)
}

// maxAgain is how often a case runs again on a server that has ended: other runs on the same server end it too.
const maxAgain = 3

// ask runs a case on the server. If the server ends, the case runs again, alone, and the second result tells whether
// it ends the server each time.
func (p pair) ask(ctx context.Context, c cases.Case) (outcome.Outcome, bool, error) {
	p.alone.RLock()
	out, err := p.server.Run(ctx, c)
	p.alone.RUnlock()
	if !saysServerEnded(out, err) {
		return out, false, err
	}
	p.alone.Lock()
	defer p.alone.Unlock()
	for range maxAgain {
		if err := p.server.Recover(ctx); err != nil {
			return outcome.Outcome{}, false, err
		}
		if out, err = p.server.Run(ctx, c); !saysServerEnded(out, err) {
			return out, false, err
		}
	}
	return out, true, p.server.Recover(ctx)
}

// errorText returns an error's text, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
