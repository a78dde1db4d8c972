// Package schema declares what documents look like and how they change: validators made
// from Go types, document versions, expiry and archiving, and numbers that JSON can't
// represent.
//
// # Choosing
//
//	What documents must look like, whoever writes them        [Of]
//	Several forms in one collection, told apart by a tag      [Of], [As]
//	Documents whose form changes                              [Versions]
//	Documents that expire, or are archived first              [Expiry]
//	Numbers that are sent as JSON                             [Number]
//
// # Tasks
//
//   - Get the $jsonSchema of a type: [Schema.JSONSchema]; the paths it doesn't describe:
//     [Schema.Opaque]
//   - Add rules about documents: [Spec]; about a field: [Field]
//   - Find documents that don't conform: the check of a [Schema], [Schema.ValidateRaw]
//   - Refuse a document before it is sent: [Schema.Validate]; by the server:
//     [Schema.Validation]
//   - Read all versions as the newest, and insert the newest: the collection itself,
//     after [NewVersions]; a single document: [Versions.Decode]
//   - Upgrade one document: [Versions.Edit], [Versions.Save], [Versions.Upgrade]
//   - Upgrade all documents: [Versions.Migrate]; see the progress: [Versions.Counts],
//     [Versions.Outdated]
//   - Archive expired documents and restore them: [Expiry.Archive], [Expiry.Restore];
//     hide them: [Expiry.Live]; list them: [Expiry.Expired]; set one document's time:
//     [Expiry.Until]; compare both collections: [Expiry.Both], [Expiry.Discard]
//   - Find fields that lose digits in JSON: [NumberRisks]; convert whole documents:
//     [DocumentJSON], [DocumentFromJSON]
//
// # Costs
//
// A validator inspects each written document, without a command. The check of a Schema
// reads the collection. Ensure of a [model.Validation] sends one command if nothing
// differs. Reading an older version runs Go code, without a command. Upgrading a document
// is one read and one write. Archiving takes 3 commands for each batch of 500 documents,
// restoring one takes 3.
//
// # Consistency
//
// A validator applies to writes after its creation. Older documents stay until they are
// changed: the level "strict" then refuses the change, "moderate" doesn't.
//
// An upgrade is one atomic update. Its filter contains the values that were read, so it
// never overwrites concurrent changes, also by old code. Unknown fields stay. While old
// code runs, a version may only add fields (expand). The next version removes the old
// fields, when no old code is left (contract). Ensure the newer validator, which accepts
// both, before the first upgrade, with the level "moderate" until the last.
//
// Archiving copies a document first, and deletes it only if it is unchanged since the
// read. After a crash, documents can be in both collections until the next run. The
// server deletes expired documents a minute late, or later.
//
// # Limits
//
// $jsonSchema has no references, so a recursive type is described only once. Patterns
// must be valid for Go and for the server. DocumentDB lacks additionalProperties, which
// maps and Closed need, and enforces no validator.
//
// Query conditions see stored documents: a field that a step computes matches only in
// upgraded documents. A step must not change the length of an array with unknown fields
// in its elements. An upgrade sends the old and the new values, so a document of more
// than 8 MiB may not fit. There are no steps back to an older version.
//
// A [Number] of more than 34 digits is stored as a string. JSON doesn't preserve a
// number's BSON type.
package schema
