package core

import "fmt"

// Package model sets these functions to make its error types.
var (
	// ValueError makes a *model.ValueError.
	ValueError = func(collection, field string, value any, reason string) error {
		return fmt.Errorf("docmodel: %s: %s: %s: %v", collection, field, reason, value)
	}
	// DeclarationError makes a *model.DeclarationError.
	DeclarationError = func(problem, place, remedy string) error {
		return fmt.Errorf("docmodel: %s\n\tat %s\n\tremedy: %s", problem, place, remedy)
	}
)

// Fail panics with a *model.DeclarationError. It is for constructors.
func Fail(problem, place, remedy string) { panic(DeclarationError(problem, place, remedy)) }

// A Place is where a technique is declared: "NewEmbedded of parts.items".
type Place string

// Fail panics with a *model.DeclarationError.
func (p Place) Fail(problem, remedy string) { Fail(problem, string(p), remedy) }
