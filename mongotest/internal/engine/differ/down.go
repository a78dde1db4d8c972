package differ

import (
	"context"
	"strings"
	"time"
)

// down reports whether an error's text says that the database behind the server has ended, as a fault in
// one of its processes makes all of them do.
func down(message string) bool {
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

// ended reports whether what came of a case says so.
func ended(o Outcome, err error) bool { return down(errorText(err)) || down(o.Text) }

// maxAgain is how often a case runs again on a server that has ended: other runs on the same server end it too.
const maxAgain = 3

// ask runs a case on the server. If the server ends, the case runs again, alone, and the second result tells whether it
// ends the server each time.
func (p pair) ask(ctx context.Context, c Case) (Outcome, bool, error) {
	p.alone.RLock()
	out, err := p.server.run(ctx, c)
	p.alone.RUnlock()
	if !ended(out, err) {
		return out, false, err
	}
	p.alone.Lock()
	defer p.alone.Unlock()
	for range maxAgain {
		if err := p.server.recover(ctx); err != nil {
			return Outcome{}, false, err
		}
		if out, err = p.server.run(ctx, c); !ended(out, err) {
			return out, false, err
		}
	}
	return out, true, p.server.recover(ctx)
}

// recover waits until the backend answers again and makes its database anew: indexes may have been broken.
func (b *backend) recover(ctx context.Context) error {
	var err error
	for range 600 {
		if err = b.db.Drop(ctx); err == nil {
			if err = createAll(ctx, b.db); err == nil {
				b.held = map[string]bool{}
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
