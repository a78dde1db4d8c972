package expr

import "github.com/docmodel/docmodel/internal/bsonval"

// Show renders a value for a message.
func Show(v any) string { return bsonval.Show(v) }
