// Package docmodel lists the packages of a library of document-modeling patterns for
// MongoDB. A program declares its data model as Go values. From these declarations the
// library generates documents, queries, updates, indexes, checks and repairs for the
// official driver.
//
//	model             collections, plans, changes, jobs, scopes, audits
//	model/embed       arrays and single documents inside a document, versions
//	model/keys        composite and sequence keys, shard keys
//	model/schema      validators, types in one collection, migrations, expiry
//	model/advise      which type fits the data
//	model/design      a model with growth and costs, without a server
//	model/modeltest   tests of models: costs, indexes, crashes, races
//	mongotest         an in-memory MongoDB for tests, with or without models
//	relate/…          references: parent, child, two-way, many-to-many, rules of deletion
//	denorm/…          copies, counters, buckets, index tables, histories and other data
//	                  that is stored more than once
//	paths             trees and graphs
//	geohash           geohash keys; geohash/geofield stores and searches them
//
// Begin with [github.com/docmodel/docmodel/model]. README.md has a first program,
// docs/TYPES.md lists every type by its purpose, and docs/GUIDE.md has tasks step by step.
package docmodel
