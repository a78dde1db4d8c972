package mongoerr

// The codes that have a name, by subject. The place that gives a code says when. A new code needs its name in the list
// names too. Some codes are given by real servers alone: a fail point of the engine can send them, and tests and the
// driver's retries know them.

// The codes of a command that isn't understood. Each of MongoDB's commands has its own choice among BadValue,
// FailedToParse and TypeMismatch, which the engine follows. Commands whose parser MongoDB generates from an IDL file
// give IDLFailedToParse and IDLUnknownField instead.
const (
	BadValue            int32 = 2
	NoSuchKey           int32 = 4
	FailedToParse       int32 = 9
	UnsupportedFormat   int32 = 12
	TypeMismatch        int32 = 14
	Overflow            int32 = 15
	InvalidLength       int32 = 16
	CommandNotFound     int32 = 59
	InvalidOptions      int32 = 72
	InvalidNamespace    int32 = 73
	CommandNotSupported int32 = 115
	ConversionFailure   int32 = 241
	IDLFailedToParse    int32 = 40414
	IDLUnknownField     int32 = 40415
)

// The codes of a command that is understood and refused. InternalError is a bug of the server. The engine gives
// NotImplemented for a part of MongoDB that it lacks: a test that meets it must not take it for MongoDB's answer.
const (
	InternalError int32 = 1
	// The engine gives it if a command panicked.
	UnknownError                   int32 = 8
	IllegalOperation               int32 = 20
	AlreadyInitialized             int32 = 23
	OperationFailed                int32 = 96
	ConflictingOperationInProgress int32 = 117
	QueryFeatureNotAllowed         int32 = 224
	NotImplemented                 int32 = 238
	FailPointSetFailed             int32 = 266
	APIVersionError                int32 = 322
	APIStrictError                 int32 = 323
	APIDeprecationError            int32 = 324
)

// The codes of users and their roles.
const (
	UserNotFound         int32 = 11
	Unauthorized         int32 = 13
	ProtocolError        int32 = 17
	AuthenticationFailed int32 = 18
	RoleNotFound         int32 = 31
)

// The codes of documents, and of updates that can't be applied to them.
const (
	EmptyArrayOperation        int32 = 21
	InvalidBSON                int32 = 22
	PathNotViable              int32 = 28
	NonExistentPath            int32 = 29
	InvalidPath                int32 = 30
	NotExactValueField         int32 = 33
	ConflictingUpdateOperators int32 = 40
	// A change stream that must show a document which is gone.
	NoMatchingDocument      int32 = 47
	DollarPrefixedFieldName int32 = 52
	InvalidIDField          int32 = 53
	NotSingleValueField     int32 = 54
	InvalidDBRef            int32 = 55
	EmptyFieldName          int32 = 56
	DottedFieldName         int32 = 57
	ImmutableField          int32 = 66
	// It has the further field errInfo, which says what the validator refused.
	DocumentValidationFailure           int32 = 121
	KeyNotFound                         int32 = 211
	AtomicityFailure                    int32 = 226
	CannotGrowDocumentInCappedNamespace int32 = 10003
	BSONObjectTooLarge                  int32 = 10334
	// It has the further fields keyPattern and keyValue.
	DuplicateKey int32 = 11000
)

// The codes of collections, views and indexes. An index of the same name with other options is an IndexOptionsConflict,
// one with other keys an IndexKeySpecsConflict.
const (
	NamespaceNotFound               int32 = 26
	IndexNotFound                   int32 = 27
	NamespaceExists                 int32 = 48
	CannotCreateIndex               int32 = 67
	IndexAlreadyExists              int32 = 68
	IndexOptionsConflict            int32 = 85
	IndexKeySpecsConflict           int32 = 86
	WrongCollation                  int32 = 120
	IncompatibleCollationVersion    int32 = 161
	ViewDepthLimitExceeded          int32 = 165
	CommandNotSupportedOnView       int32 = 166
	OptionNotSupportedOnView        int32 = 167
	CannotIndexParallelArrays       int32 = 171
	AmbiguousIndexKeyPattern        int32 = 181
	InvalidIndexSpecificationOption int32 = 197
	CannotConvertIndexToUnique      int32 = 359
)

// The codes of queries, pipelines and cursors. MaxTimeMSExpired is for the limit that the client set, ExceededTimeLimit
// for a limit of the server.
const (
	GraphContainsCycle int32 = 5
	CursorInUse        int32 = 36
	CursorNotFound     int32 = 43
	MaxTimeMSExpired   int32 = 50
	// A tailable cursor whose next document was already removed from the capped collection.
	CappedPositionLost          int32 = 136
	ExceededMemoryLimit         int32 = 146
	InvalidPipelineOperator     int32 = 168
	QueryPlanKilled             int32 = 175
	MaxSubPipelineDepthExceeded int32 = 232
	// A getMore whose cursor was killed. An operation that was killed is Interrupted.
	CursorKilled                             int32 = 237
	ExceededTimeLimit                        int32 = 262
	NoQueryExecutionPlans                    int32 = 291
	QueryExceededMemoryLimitNoDiskUseAllowed int32 = 292
	Interrupted                              int32 = 11601
	// A pipeline wrote more to disk than the engine allows.
	OutOfDiskSpace int32 = 14031
)

// The codes of sessions and transactions. In a transaction some of them, such as WriteConflict, carry the label
// TransientTransactionError, after which the driver runs the transaction again.
const (
	LockTimeout                             int32 = 24
	LockBusy                                int32 = 46
	WriteConflict                           int32 = 112
	NoSuchSession                           int32 = 206
	IncompleteTransactionHistory            int32 = 217
	TransactionTooOld                       int32 = 225
	SnapshotTooOld                          int32 = 239
	TransactionAborted                      int32 = 244
	SnapshotUnavailable                     int32 = 246
	NoSuchTransaction                       int32 = 251
	TransactionCommitted                    int32 = 256
	TransactionTooLarge                     int32 = 257
	OperationNotSupportedInTransaction      int32 = 263
	PreparedTransactionInProgress           int32 = 267
	TransactionExceededLifetimeLimitSeconds int32 = 290
)

// The codes of change streams.
const (
	CloseChangeStream       int32 = 222
	RetryChangeStream       int32 = 234
	InvalidResumeToken      int32 = 260
	ChangeStreamFatalError  int32 = 280
	ChangeStreamHistoryLost int32 = 286
)

// The codes of sharded clusters.
const (
	ShardKeyNotFound        int32 = 61
	StaleShardVersion       int32 = 63
	ShardNotFound           int32 = 70
	NamespaceNotSharded     int32 = 118
	StaleEpoch              int32 = 150
	StaleChunkHistory       int32 = 250
	MigrationConflict       int32 = 273
	CannotDropShardKeyIndex int32 = 370
	StaleConfig             int32 = 13388
)

// The codes of replica sets and connections. The driver retries a read or a write after most of them: the server has
// changed its role or is gone, so another server may answer. Its rules are in the specifications of retryable reads and
// writes (https://github.com/mongodb/specifications/tree/master/source/retryable-writes).
const (
	HostUnreachable                    int32 = 6
	HostNotFound                       int32 = 7
	WriteConcernTimeout                int32 = 64
	NoReplicationEnabled               int32 = 76
	UnknownReplWriteConcern            int32 = 79
	NetworkTimeout                     int32 = 89
	ShutdownInProgress                 int32 = 91
	UnsatisfiableWriteConcern          int32 = 100
	NotAReplicaSet                     int32 = 123
	FailedToSatisfyReadPreference      int32 = 133
	ReadConcernMajorityNotAvailableYet int32 = 134
	PrimarySteppedDown                 int32 = 189
	ClientDisconnect                   int32 = 279
	SocketException                    int32 = 9001
	NotWritablePrimary                 int32 = 10107
	InterruptedAtShutdown              int32 = 11600
	InterruptedDueToReplStateChange    int32 = 11602
	NotPrimaryNoSecondaryOk            int32 = 13435
	NotPrimaryOrSecondary              int32 = 13436
)

// names are the names of the codes, as servers send them in codeName. They are equal to the names of the constants,
// apart from InvalidIdField. The order is that of the numbers.
var names = map[int32]string{
	InternalError:                            "InternalError",
	BadValue:                                 "BadValue",
	NoSuchKey:                                "NoSuchKey",
	GraphContainsCycle:                       "GraphContainsCycle",
	HostUnreachable:                          "HostUnreachable",
	HostNotFound:                             "HostNotFound",
	UnknownError:                             "UnknownError",
	FailedToParse:                            "FailedToParse",
	UserNotFound:                             "UserNotFound",
	UnsupportedFormat:                        "UnsupportedFormat",
	Unauthorized:                             "Unauthorized",
	TypeMismatch:                             "TypeMismatch",
	Overflow:                                 "Overflow",
	InvalidLength:                            "InvalidLength",
	ProtocolError:                            "ProtocolError",
	AuthenticationFailed:                     "AuthenticationFailed",
	IllegalOperation:                         "IllegalOperation",
	EmptyArrayOperation:                      "EmptyArrayOperation",
	InvalidBSON:                              "InvalidBSON",
	AlreadyInitialized:                       "AlreadyInitialized",
	LockTimeout:                              "LockTimeout",
	NamespaceNotFound:                        "NamespaceNotFound",
	IndexNotFound:                            "IndexNotFound",
	PathNotViable:                            "PathNotViable",
	NonExistentPath:                          "NonExistentPath",
	InvalidPath:                              "InvalidPath",
	RoleNotFound:                             "RoleNotFound",
	NotExactValueField:                       "NotExactValueField",
	CursorInUse:                              "CursorInUse",
	ConflictingUpdateOperators:               "ConflictingUpdateOperators",
	CursorNotFound:                           "CursorNotFound",
	LockBusy:                                 "LockBusy",
	NoMatchingDocument:                       "NoMatchingDocument",
	NamespaceExists:                          "NamespaceExists",
	MaxTimeMSExpired:                         "MaxTimeMSExpired",
	DollarPrefixedFieldName:                  "DollarPrefixedFieldName",
	InvalidIDField:                           "InvalidIdField",
	NotSingleValueField:                      "NotSingleValueField",
	InvalidDBRef:                             "InvalidDBRef",
	EmptyFieldName:                           "EmptyFieldName",
	DottedFieldName:                          "DottedFieldName",
	CommandNotFound:                          "CommandNotFound",
	ShardKeyNotFound:                         "ShardKeyNotFound",
	StaleShardVersion:                        "StaleShardVersion",
	WriteConcernTimeout:                      "WriteConcernTimeout",
	ImmutableField:                           "ImmutableField",
	CannotCreateIndex:                        "CannotCreateIndex",
	IndexAlreadyExists:                       "IndexAlreadyExists",
	ShardNotFound:                            "ShardNotFound",
	InvalidOptions:                           "InvalidOptions",
	InvalidNamespace:                         "InvalidNamespace",
	NoReplicationEnabled:                     "NoReplicationEnabled",
	UnknownReplWriteConcern:                  "UnknownReplWriteConcern",
	IndexOptionsConflict:                     "IndexOptionsConflict",
	IndexKeySpecsConflict:                    "IndexKeySpecsConflict",
	NetworkTimeout:                           "NetworkTimeout",
	ShutdownInProgress:                       "ShutdownInProgress",
	OperationFailed:                          "OperationFailed",
	UnsatisfiableWriteConcern:                "UnsatisfiableWriteConcern",
	WriteConflict:                            "WriteConflict",
	CommandNotSupported:                      "CommandNotSupported",
	ConflictingOperationInProgress:           "ConflictingOperationInProgress",
	NamespaceNotSharded:                      "NamespaceNotSharded",
	WrongCollation:                           "WrongCollation",
	DocumentValidationFailure:                "DocumentValidationFailure",
	NotAReplicaSet:                           "NotAReplicaSet",
	FailedToSatisfyReadPreference:            "FailedToSatisfyReadPreference",
	ReadConcernMajorityNotAvailableYet:       "ReadConcernMajorityNotAvailableYet",
	CappedPositionLost:                       "CappedPositionLost",
	ExceededMemoryLimit:                      "ExceededMemoryLimit",
	StaleEpoch:                               "StaleEpoch",
	IncompatibleCollationVersion:             "IncompatibleCollationVersion",
	ViewDepthLimitExceeded:                   "ViewDepthLimitExceeded",
	CommandNotSupportedOnView:                "CommandNotSupportedOnView",
	OptionNotSupportedOnView:                 "OptionNotSupportedOnView",
	InvalidPipelineOperator:                  "InvalidPipelineOperator",
	CannotIndexParallelArrays:                "CannotIndexParallelArrays",
	QueryPlanKilled:                          "QueryPlanKilled",
	AmbiguousIndexKeyPattern:                 "AmbiguousIndexKeyPattern",
	PrimarySteppedDown:                       "PrimarySteppedDown",
	InvalidIndexSpecificationOption:          "InvalidIndexSpecificationOption",
	NoSuchSession:                            "NoSuchSession",
	KeyNotFound:                              "KeyNotFound",
	IncompleteTransactionHistory:             "IncompleteTransactionHistory",
	CloseChangeStream:                        "CloseChangeStream",
	QueryFeatureNotAllowed:                   "QueryFeatureNotAllowed",
	TransactionTooOld:                        "TransactionTooOld",
	AtomicityFailure:                         "AtomicityFailure",
	MaxSubPipelineDepthExceeded:              "MaxSubPipelineDepthExceeded",
	RetryChangeStream:                        "RetryChangeStream",
	CursorKilled:                             "CursorKilled",
	NotImplemented:                           "NotImplemented",
	SnapshotTooOld:                           "SnapshotTooOld",
	ConversionFailure:                        "ConversionFailure",
	TransactionAborted:                       "TransactionAborted",
	SnapshotUnavailable:                      "SnapshotUnavailable",
	StaleChunkHistory:                        "StaleChunkHistory",
	NoSuchTransaction:                        "NoSuchTransaction",
	TransactionCommitted:                     "TransactionCommitted",
	TransactionTooLarge:                      "TransactionTooLarge",
	InvalidResumeToken:                       "InvalidResumeToken",
	ExceededTimeLimit:                        "ExceededTimeLimit",
	OperationNotSupportedInTransaction:       "OperationNotSupportedInTransaction",
	FailPointSetFailed:                       "FailPointSetFailed",
	PreparedTransactionInProgress:            "PreparedTransactionInProgress",
	MigrationConflict:                        "MigrationConflict",
	ClientDisconnect:                         "ClientDisconnect",
	ChangeStreamFatalError:                   "ChangeStreamFatalError",
	ChangeStreamHistoryLost:                  "ChangeStreamHistoryLost",
	TransactionExceededLifetimeLimitSeconds:  "TransactionExceededLifetimeLimitSeconds",
	NoQueryExecutionPlans:                    "NoQueryExecutionPlans",
	QueryExceededMemoryLimitNoDiskUseAllowed: "QueryExceededMemoryLimitNoDiskUseAllowed",
	APIVersionError:                          "APIVersionError",
	APIStrictError:                           "APIStrictError",
	APIDeprecationError:                      "APIDeprecationError",
	CannotConvertIndexToUnique:               "CannotConvertIndexToUnique",
	CannotDropShardKeyIndex:                  "CannotDropShardKeyIndex",
	SocketException:                          "SocketException",
	CannotGrowDocumentInCappedNamespace:      "CannotGrowDocumentInCappedNamespace",
	NotWritablePrimary:                       "NotWritablePrimary",
	BSONObjectTooLarge:                       "BSONObjectTooLarge",
	DuplicateKey:                             "DuplicateKey",
	InterruptedAtShutdown:                    "InterruptedAtShutdown",
	Interrupted:                              "Interrupted",
	InterruptedDueToReplStateChange:          "InterruptedDueToReplStateChange",
	StaleConfig:                              "StaleConfig",
	NotPrimaryNoSecondaryOk:                  "NotPrimaryNoSecondaryOk",
	NotPrimaryOrSecondary:                    "NotPrimaryOrSecondary",
	OutOfDiskSpace:                           "OutOfDiskSpace",
	IDLFailedToParse:                         "IDLFailedToParse",
	IDLUnknownField:                          "IDLUnknownField",
}
