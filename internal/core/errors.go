package core

import "fmt"

// Package model sets these functions when it is initialized, because core can't import the
// types of its errors. Without package model, as in tests of core alone, they make texts.
var (
	// ValueError makes a *model.ValueError: a caller's value that can't be stored or sent.
	// collection may be "", value nil.
	ValueError = func(collection, field string, value any, reason string) error {
		return fmt.Errorf("docmodel: %s: %s: %s: %v", collection, field, reason, value)
	}
	// DeclarationError makes a *model.DeclarationError: a program's declaration that can't
	// work. remedy says what to write instead.
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
