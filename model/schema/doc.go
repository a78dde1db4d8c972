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
//   - Find stored documents that don't conform: Checks of a [Schema],
//     [Schema.ValidateRaw]
//   - Refuse a document before it is sent: [Schema.Validate]; by the server:
//     [Schema.Validation]
//   - Read all versions as the newest: the collection itself, after [NewVersions]; a
//     single document: [Versions.Decode]
//   - Upgrade one document: [Versions.Edit], [Versions.Save], [Versions.Upgrade]
//   - Upgrade all: [Versions.Migrate]; see the progress: [Versions.Counts],
//     [Versions.Outdated]
//   - Archive and restore: [Expiry.Archive], [Expiry.Restore]; hide or list expired
//     documents: [Expiry.Live], [Expiry.Expired]; set one document's time:
//     [Expiry.Until]; compare both collections: [Expiry.Both], [Expiry.Discard]
//   - Find fields that lose digits in JSON: [NumberRisks]; convert whole documents:
//     [DocumentJSON], [DocumentFromJSON]
//
// # Consistency
//
// Before an upgrade begins, ensure a validator that accepts old and new documents, with
// the level "moderate" until the upgrade is complete.
//
// # Limits
//
// DocumentDB lacks additionalProperties, which maps and Closed need, and enforces no
// validator.
//
// Documents can't be converted back to an older version.
package schema
