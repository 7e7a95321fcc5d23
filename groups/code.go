package groups

// Code is a Kafka error code, as the published protocol numbers them; 0 is none. Coordinators answer with codes, because
// clients act on them and not on words.
type Code int16

// The codes that coordinators answer.
const (
	None                      Code = 0
	UnknownServerError        Code = -1
	UnknownTopicOrPartition   Code = 3
	OffsetMetadataTooLarge    Code = 12
	CoordinatorNotAvailable   Code = 15
	NotCoordinator            Code = 16
	NotEnoughReplicas         Code = 19
	IllegalGeneration         Code = 22
	InconsistentGroupProtocol Code = 23
	InvalidGroupID            Code = 24
	UnknownMemberID           Code = 25
	InvalidSessionTimeout     Code = 26
	RebalanceInProgress       Code = 27
	TopicAuthorizationFailed  Code = 29
	UnsupportedVersion        Code = 35
	InvalidRequest            Code = 42
	InvalidProducerEpoch      Code = 47
	InvalidTxnState           Code = 48
	InvalidProducerIDMapping  Code = 49
	InvalidTransactionTimeout Code = 50
	ConcurrentTransactions    Code = 51
	OperationNotAttempted     Code = 55
	NonEmptyGroup             Code = 68
	GroupIDNotFound           Code = 69
	MemberIDRequired          Code = 79
	GroupMaxSizeReached       Code = 81
	FencedInstanceID          Code = 82
	GroupSubscribedToTopic    Code = 86
	UnstableOffsetCommit      Code = 88
	ProducerFenced            Code = 90
	UnknownTopicID            Code = 100
	TransactionalIDNotFound   Code = 105
	FencedMemberEpoch         Code = 110
	UnreleasedInstanceID      Code = 111
	UnsupportedAssignor       Code = 112
	StaleMemberEpoch          Code = 113
	TransactionAbortable      Code = 120
	InvalidRegularExpression  Code = 128
)
