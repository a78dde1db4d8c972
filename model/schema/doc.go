// Package schema declares what documents look like, and how they change: validators from Go types, enforced by the server and
// checked without one, and versions of documents that are read as the newest whatever is stored.
//
// # Choosing
//
//	What documents must look like, whoever writes them        [Of]
//	Forms of one collection's documents, told by a tag        [OneOf]
//
// # Tasks
//
//   - See the $jsonSchema of a type: [Schema.JSONSchema]; what it says nothing about: [Schema.Opaque]
//   - Say more about a field: [Field] and the methods of [FieldRule]; about the whole: [Closed], [Loose]
//   - Find what doesn't conform, and why: [Schema.Nonconforming], [Schema.ValidateRaw]
//   - Refuse a document before it is sent: [Schema.Validate]
//   - Have the server refuse it: [Schema.Enforced], [Validation.Ensure]; see what it enforces: [Validation.Diff]
//
// # Costs
//
// A validator costs the server a look at each document that is written, and no command. [Schema.Nonconforming] reads the whole
// collection. [Validation.Ensure] sends one command where nothing differs.
//
// # Consistency
//
// A validator holds for what is written from the moment it is in place. What is there before stays, until it is changed ([Strict]
// then refuses the change, [Moderate] doesn't). Programs of different versions that each ensure their own schema take turns.
//
// # Limits
//
// $jsonSchema has no references: a type that holds itself is described once. Patterns are those that both Go's engine and the
// server's have. Servers that aren't MongoDB may lack keywords: DocumentDB has no additionalProperties, which maps and [Closed]
// need, and enforces no validator.
package schema
