// Package schema declares what documents look like and how they change. It covers
// validators from Go types, document versions, expiry, archiving, and numbers that JSON
// can't represent.
//
// # Choosing
//
//	What documents must look like, whoever writes them    [Of], [Schema.Validation]
//	Several forms in one collection, told apart by a tag  [Of], [As]
//	Documents whose form changes                          [Versions], [Versions.Migrate]
//	Documents that expire, or are archived first          [Expiry]
//	Fields that lose digits in JSON                       [NumberRisks], [Number]
//	Whole documents sent as JSON                          [DocumentJSON]
//
// # Consistency
//
// Before you upgrade documents, ensure a [model.Validation] that accepts old and new
// documents. Keep Level "moderate" during the upgrade.
//
// # Limits
//
// DocumentDB lacks additionalProperties, which validators need for maps and Spec.Closed.
// Documents can't be converted back to an older version.
package schema
