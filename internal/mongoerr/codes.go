package mongoerr

// The codes that have a name, in the order of the numbers. Which of them an operation gives is said where it is used. A
// new code needs its name in names too. Some are only given by real servers: tests and the driver's retries know them.
const (
	InternalError                            int32 = 1
	BadValue                                 int32 = 2
	NoSuchKey                                int32 = 4
	GraphContainsCycle                       int32 = 5
	HostUnreachable                          int32 = 6
	HostNotFound                             int32 = 7
	UnknownError                             int32 = 8
	FailedToParse                            int32 = 9
	UserNotFound                             int32 = 11
	UnsupportedFormat                        int32 = 12
	Unauthorized                             int32 = 13
	TypeMismatch                             int32 = 14
	Overflow                                 int32 = 15
	InvalidLength                            int32 = 16
	ProtocolError                            int32 = 17
	AuthenticationFailed                     int32 = 18
	IllegalOperation                         int32 = 20
	EmptyArrayOperation                      int32 = 21
	InvalidBSON                              int32 = 22
	AlreadyInitialized                       int32 = 23
	LockTimeout                              int32 = 24
	NamespaceNotFound                        int32 = 26
	IndexNotFound                            int32 = 27
	PathNotViable                            int32 = 28
	NonExistentPath                          int32 = 29
	InvalidPath                              int32 = 30
	RoleNotFound                             int32 = 31
	NotExactValueField                       int32 = 33
	CursorInUse                              int32 = 36
	ConflictingUpdateOperators               int32 = 40
	CursorNotFound                           int32 = 43
	LockBusy                                 int32 = 46
	NoMatchingDocument                       int32 = 47
	NamespaceExists                          int32 = 48
	MaxTimeMSExpired                         int32 = 50
	DollarPrefixedFieldName                  int32 = 52
	InvalidIDField                           int32 = 53
	NotSingleValueField                      int32 = 54
	InvalidDBRef                             int32 = 55
	EmptyFieldName                           int32 = 56
	DottedFieldName                          int32 = 57
	CommandNotFound                          int32 = 59
	ShardKeyNotFound                         int32 = 61
	StaleShardVersion                        int32 = 63
	WriteConcernTimeout                      int32 = 64
	ImmutableField                           int32 = 66
	CannotCreateIndex                        int32 = 67
	IndexAlreadyExists                       int32 = 68
	ShardNotFound                            int32 = 70
	InvalidOptions                           int32 = 72
	InvalidNamespace                         int32 = 73
	NoReplicationEnabled                     int32 = 76
	UnknownReplWriteConcern                  int32 = 79
	IndexOptionsConflict                     int32 = 85
	IndexKeySpecsConflict                    int32 = 86
	NetworkTimeout                           int32 = 89
	ShutdownInProgress                       int32 = 91
	OperationFailed                          int32 = 96
	UnsatisfiableWriteConcern                int32 = 100
	WriteConflict                            int32 = 112
	CommandNotSupported                      int32 = 115
	ConflictingOperationInProgress           int32 = 117
	NamespaceNotSharded                      int32 = 118
	WrongCollation                           int32 = 120
	DocumentValidationFailure                int32 = 121
	NotAReplicaSet                           int32 = 123
	FailedToSatisfyReadPreference            int32 = 133
	ReadConcernMajorityNotAvailableYet       int32 = 134
	CappedPositionLost                       int32 = 136
	ExceededMemoryLimit                      int32 = 146
	StaleEpoch                               int32 = 150
	IncompatibleCollationVersion             int32 = 161
	AmbiguousIndexKeyPattern                 int32 = 181
	ViewDepthLimitExceeded                   int32 = 165
	CommandNotSupportedOnView                int32 = 166
	OptionNotSupportedOnView                 int32 = 167
	InvalidPipelineOperator                  int32 = 168
	CannotIndexParallelArrays                int32 = 171
	QueryPlanKilled                          int32 = 175
	PrimarySteppedDown                       int32 = 189
	InvalidIndexSpecificationOption          int32 = 197
	NoSuchSession                            int32 = 206
	KeyNotFound                              int32 = 211
	IncompleteTransactionHistory             int32 = 217
	CloseChangeStream                        int32 = 222
	QueryFeatureNotAllowed                   int32 = 224
	TransactionTooOld                        int32 = 225
	AtomicityFailure                         int32 = 226
	MaxSubPipelineDepthExceeded              int32 = 232
	RetryChangeStream                        int32 = 234
	CursorKilled                             int32 = 237
	NotImplemented                           int32 = 238
	SnapshotTooOld                           int32 = 239
	ConversionFailure                        int32 = 241
	TransactionAborted                       int32 = 244
	SnapshotUnavailable                      int32 = 246
	StaleChunkHistory                        int32 = 250
	NoSuchTransaction                        int32 = 251
	TransactionCommitted                     int32 = 256
	TransactionTooLarge                      int32 = 257
	InvalidResumeToken                       int32 = 260
	ExceededTimeLimit                        int32 = 262
	OperationNotSupportedInTransaction       int32 = 263
	FailPointSetFailed                       int32 = 266
	PreparedTransactionInProgress            int32 = 267
	MigrationConflict                        int32 = 273
	ClientDisconnect                         int32 = 279
	ChangeStreamFatalError                   int32 = 280
	ChangeStreamHistoryLost                  int32 = 286
	TransactionExceededLifetimeLimitSeconds  int32 = 290
	NoQueryExecutionPlans                    int32 = 291
	QueryExceededMemoryLimitNoDiskUseAllowed int32 = 292
	APIVersionError                          int32 = 322
	APIStrictError                           int32 = 323
	APIDeprecationError                      int32 = 324
	CannotConvertIndexToUnique               int32 = 359
	CannotDropShardKeyIndex                  int32 = 370
	SocketException                          int32 = 9001
	CannotGrowDocumentInCappedNamespace      int32 = 10003
	NotWritablePrimary                       int32 = 10107
	BSONObjectTooLarge                       int32 = 10334
	DuplicateKey                             int32 = 11000
	InterruptedAtShutdown                    int32 = 11600
	Interrupted                              int32 = 11601
	InterruptedDueToReplStateChange          int32 = 11602
	StaleConfig                              int32 = 13388
	NotPrimaryNoSecondaryOk                  int32 = 13435
	NotPrimaryOrSecondary                    int32 = 13436
	OutOfDiskSpace                           int32 = 14031
	IDLFailedToParse                         int32 = 40414
	IDLUnknownField                          int32 = 40415
)

// names are the names of the codes, as servers send them in codeName. Apart from InvalidIdField they are those of the
// constants.
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
	AmbiguousIndexKeyPattern:                 "AmbiguousIndexKeyPattern",
	IncompatibleCollationVersion:             "IncompatibleCollationVersion",
	ViewDepthLimitExceeded:                   "ViewDepthLimitExceeded",
	CommandNotSupportedOnView:                "CommandNotSupportedOnView",
	OptionNotSupportedOnView:                 "OptionNotSupportedOnView",
	InvalidPipelineOperator:                  "InvalidPipelineOperator",
	CannotIndexParallelArrays:                "CannotIndexParallelArrays",
	QueryPlanKilled:                          "QueryPlanKilled",
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
