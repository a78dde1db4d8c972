package store

import "github.com/docmodel/docmodel/internal/bsonval"

// Show writes a value as MongoDB's messages do: { a: 1, b: "x" }.
func Show(v any) string { return bsonval.Text(v) }
