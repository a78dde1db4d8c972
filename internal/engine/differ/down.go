package differ

import (
	"context"
	"strings"
	"time"
)

// down reports whether an error's text says that the database behind the server has ended, as a fault in
// one of its processes makes all of them do.
func down(message string) bool {
	for _, text := range []string{"unexpected EOF", "not yet accepting connections", "in recovery mode", "terminating connection",
		"connection reset by peer", "failed to connect", "broken pipe"} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// recover waits until the backend answers again and makes its database anew: indexes may have been broken.
func (b *backend) recover(ctx context.Context) error {
	var err error
	for range 300 {
		if err = b.db.Drop(ctx); err == nil {
			b.held = map[string]bool{}
			if err = createAll(ctx, b.db); err == nil {
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
