package expr

import "github.com/docmodel/docmodel/internal/bsonval"

// Show renders a value for the message of an error, as extended JSON. The packages that parse expressions call it too.
func Show(v any) string { return bsonval.Show(v) }
