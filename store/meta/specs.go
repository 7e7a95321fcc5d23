package meta

import "sync"

// The schemas are made once, and never changed. A mistake in a description is one of this package: the tests read them all.

var clusterSchemas = sync.OnceValue(func() map[int16]*schema { return byID(clusterSpec) })

var groupKeySchemas = sync.OnceValue(func() map[int16]*schema { return byID(groupKeySpec) })

var groupValueSchemas = sync.OnceValue(func() map[int16]*schema { return byID(groupValueSpec) })

var txnKeySchemas = sync.OnceValue(func() map[int16]*schema { return byID(txnKeySpec) })

var txnValueSchemas = sync.OnceValue(func() map[int16]*schema { return byID(txnValueSpec) })

var shareKeySchemas = sync.OnceValue(func() map[int16]*schema { return byID(shareKeySpec) })

var shareValueSchemas = sync.OnceValue(func() map[int16]*schema { return byID(shareValueSpec) })

var controlSchemas = sync.OnceValue(func() map[int16]*schema { return byID(controlSpec) })

var protocolSchemas = sync.OnceValue(func() map[int16]*schema { return byID(protocolSpec) })

func byID(spec string) map[int16]*schema {
	list, err := parseSchemas(spec)
	if err != nil {
		panic(err) // a slip in this file
	}
	m := make(map[int16]*schema, len(list))
	for i := range list {
		m[list[i].id] = &list[i]
	}
	return m
}

// clusterSpec describes the records of __cluster_metadata: type, name, versions.
const clusterSpec = `
0 RegisterBrokerRecord 0-4 0 : brokerId i32 ; isMigratingZkBroker bool 2+ ; incarnationId uuid ; brokerEpoch i64 ; endPoints []( name str ; host str ; port u16 ; securityProtocol i16 ) ; features []( name str ; minSupportedVersion i16 ; maxSupportedVersion i16 ) ; rack str? ; fenced bool ; inControlledShutdown bool 1+ ; logDirs []uuid 3+ #0 ; cordonedLogDirs []?uuid 4+ #1
1 UnregisterBrokerRecord 0-0 0 : brokerId i32 ; brokerEpoch i64
2 TopicRecord 0-0 0 : name str ; topicId uuid
3 PartitionRecord 0-2 0 : partitionId i32 ; topicId uuid ; replicas []i32 ; isr []i32 ; removingReplicas []i32 ; addingReplicas []i32 ; leader i32 ; leaderEpoch i32 ; partitionEpoch i32 ; directories []uuid 1+ ; leaderRecoveryState i8 #0 ; eligibleLeaderReplicas []?i32 2+ #1 ; lastKnownElr []?i32 2+ #2
4 ConfigRecord 0-0 0 : resourceType i8 ; resourceName str ; name str ; value str?
5 PartitionChangeRecord 0-2 0 : partitionId i32 ; topicId uuid ; isr []?i32 #0 ; leader i32 #1 ; replicas []?i32 #2 ; removingReplicas []?i32 #3 ; addingReplicas []?i32 #4 ; leaderRecoveryState i8 #5 ; eligibleLeaderReplicas []?i32 2+ #6 ; lastKnownElr []?i32 2+ #7 ; directories []?uuid 1+ #8
7 FenceBrokerRecord 0-0 0 : id i32 ; epoch i64
8 UnfenceBrokerRecord 0-0 0 : id i32 ; epoch i64
9 RemoveTopicRecord 0-0 0 : topicId uuid
10 DelegationTokenRecord 0-0 0 : owner str ; requester str ; renewers []str ; issueTimestamp i64 ; maxTimestamp i64 ; expirationTimestamp i64 ; tokenId str
11 UserScramCredentialRecord 0-0 0 : name str ; mechanism i8 ; salt bytes ; storedKey bytes ; serverKey bytes ; iterations i32
12 FeatureLevelRecord 0-0 0 : name str ; featureLevel i16
14 ClientQuotaRecord 0-0 0 : entity []( entityType str ; entityName str? ) ; key str ; value f64 ; remove bool
15 ProducerIdsRecord 0-0 0 : brokerId i32 ; brokerEpoch i64 ; nextProducerId i64
17 BrokerRegistrationChangeRecord 0-3 0 : brokerId i32 ; brokerEpoch i64 ; fenced i8 #0 ; inControlledShutdown i8 1+ #1 ; logDirs []uuid 2+ #2 ; cordonedLogDirs []?uuid 3+ #3
18 AccessControlEntryRecord 0-0 0 : id uuid ; resourceType i8 ; resourceName str ; patternType i8 ; principal str ; host str ; operation i8 ; permissionType i8
19 RemoveAccessControlEntryRecord 0-0 0 : id uuid
20 NoOpRecord 0-0 0 :
21 ZkMigrationStateRecord 0-0 0 : zkMigrationState i8
22 RemoveUserScramCredentialRecord 0-0 0 : name str ; mechanism i8
23 BeginTransactionRecord 0-0 0 : name str? #0
24 EndTransactionRecord 0-0 0 :
25 AbortTransactionRecord 0-0 0 : reason str? #0
26 RemoveDelegationTokenRecord 0-0 0 : tokenId str
27 RegisterControllerRecord 0-0 0 : controllerId i32 ; incarnationId uuid ; zkMigrationReady bool ; endPoints []( name str ; host str ; port u16 ; securityProtocol i16 ) ; features []( name str ; minSupportedVersion i16 ; maxSupportedVersion i16 )
28 ClearElrRecord 0-0 0 : topicName str
29 UnregisterControllerRecord 0-0 0 : controllerId i32
`

// groupKeySpec describes the keys of __consumer_offsets; the id is the key's leading version. No key is flexible.
const groupKeySpec = `
0 OffsetCommit 0-0 - : group str ; topic str ; partition i32
1 OffsetCommit 0-0 - : group str ; topic str ; partition i32
2 GroupMetadata 0-0 - : group str
3 ConsumerGroupMetadata 0-0 - : groupId str
4 ConsumerGroupPartitionMetadata 0-0 - : groupId str
5 ConsumerGroupMemberMetadata 0-0 - : groupId str ; memberId str
6 ConsumerGroupTargetAssignmentMetadata 0-0 - : groupId str
7 ConsumerGroupTargetAssignmentMember 0-0 - : groupId str ; memberId str
8 ConsumerGroupCurrentMemberAssignment 0-0 - : groupId str ; memberId str
9 ShareGroupPartitionMetadata 0-0 - : groupId str
10 ShareGroupMemberMetadata 0-0 - : groupId str ; memberId str
11 ShareGroupMetadata 0-0 - : groupId str
12 ShareGroupTargetAssignmentMetadata 0-0 - : groupId str
13 ShareGroupTargetAssignmentMember 0-0 - : groupId str ; memberId str
14 ShareGroupCurrentMemberAssignment 0-0 - : groupId str ; memberId str
15 ShareGroupStatePartitionMetadata 0-0 - : groupId str
16 ConsumerGroupRegularExpression 0-0 - : groupId str ; regularExpression str
17 StreamsGroupMetadata 0-0 - : groupId str
18 StreamsGroupPartitionMetadata 0-0 - : groupId str
19 StreamsGroupMemberMetadata 0-0 - : groupId str ; memberId str
20 StreamsGroupTargetAssignmentMetadata 0-0 - : groupId str
21 StreamsGroupTargetAssignmentMember 0-0 - : groupId str ; memberId str
22 StreamsGroupCurrentMemberAssignment 0-0 - : groupId str ; memberId str
23 StreamsGroupTopology 0-0 - : groupId str
`

// groupValueSpec describes the values of __consumer_offsets, by the version of their key.
const groupValueSpec = `
0 OffsetCommit 0-4 4 : offset i64 ; leaderEpoch i32 3+ ; metadata str ; commitTimestamp i64 ; expireTimestamp i64 1-1 ; topicId uuid 4+ #0
1 OffsetCommit 0-4 4 : offset i64 ; leaderEpoch i32 3+ ; metadata str ; commitTimestamp i64 ; expireTimestamp i64 1-1 ; topicId uuid 4+ #0
2 GroupMetadata 0-4 4 : protocolType str ; generation i32 ; protocol str? ; leader str? ; currentStateTimestamp i64 2+ ; members []( memberId str ; groupInstanceId str? 3+ ; clientId str ; clientHost str ; rebalanceTimeout i32 1+ ; sessionTimeout i32 ; subscription bytes ; assignment bytes )
3 ConsumerGroupMetadata 0-0 0 : epoch i32 ; metadataHash i64 #0
4 ConsumerGroupPartitionMetadata 0-0 0 : topics []( topicId uuid ; topicName str ; numPartitions i32 ; partitionMetadata []( partition i32 ; racks []str ) )
5 ConsumerGroupMemberMetadata 0-0 0 : instanceId str? ; rackId str? ; clientId str ; clientHost str ; subscribedTopicNames []str ; subscribedTopicRegex str? ; rebalanceTimeoutMs i32 ; serverAssignor str? ; classicMemberMetadata ( sessionTimeoutMs i32 ; supportedProtocols []( name str ; metadata bytes ) )? #0
6 ConsumerGroupTargetAssignmentMetadata 0-0 0 : assignmentEpoch i32 ; assignmentTimestamp i64 #0
7 ConsumerGroupTargetAssignmentMember 0-0 0 : topicPartitions []( topicId uuid ; partitions []i32 )
8 ConsumerGroupCurrentMemberAssignment 0-0 0 : memberEpoch i32 ; previousMemberEpoch i32 ; state i8 ; assignedPartitions []( topicId uuid ; partitions []i32 ; assignmentEpochs []?i32 #0 ) ; partitionsPendingRevocation []( topicId uuid ; partitions []i32 ; assignmentEpochs []?i32 #0 )
9 ShareGroupPartitionMetadata 0-0 0 : topics []( topicId uuid ; topicName str ; numPartitions i32 ; partitionMetadata []( partition i32 ; racks []str ) )
10 ShareGroupMemberMetadata 0-0 0 : rackId str? ; clientId str ; clientHost str ; subscribedTopicNames []str
11 ShareGroupMetadata 0-0 0 : epoch i32 ; metadataHash i64
12 ShareGroupTargetAssignmentMetadata 0-0 0 : assignmentEpoch i32 ; assignmentTimestamp i64 #0
13 ShareGroupTargetAssignmentMember 0-0 0 : topicPartitions []( topicId uuid ; partitions []i32 )
14 ShareGroupCurrentMemberAssignment 0-0 0 : memberEpoch i32 ; previousMemberEpoch i32 ; state i8 ; assignedPartitions []( topicId uuid ; partitions []i32 )
15 ShareGroupStatePartitionMetadata 0-0 0 : initializingTopics []( topicId uuid ; topicName str ; partitions []i32 ) ; initializedTopics []( topicId uuid ; topicName str ; partitions []i32 ) ; deletingTopics []( topicId uuid ; topicName str )
16 ConsumerGroupRegularExpression 0-0 0 : topics []str ; version i64 ; timestamp i64
17 StreamsGroupMetadata 0-0 0 : epoch i32 ; metadataHash i64 ; validatedTopologyEpoch i32 #0 ; lastAssignmentConfigs []?( key str ; value str ) #1 ; storedDescriptionTopologyEpoch i32 #2 ; failedDescriptionTopologyEpoch i32 #3
19 StreamsGroupMemberMetadata 0-0 0 : instanceId str? ; rackId str? ; clientId str ; clientHost str ; rebalanceTimeoutMs i32 ; topologyEpoch i32 ; processId str ; userEndpoint ( host str ; port u16 )? ; clientTags []( key str ; value str )
20 StreamsGroupTargetAssignmentMetadata 0-0 0 : assignmentEpoch i32 ; assignmentTimestamp i64 #0
21 StreamsGroupTargetAssignmentMember 0-0 0 : activeTasks []( subtopologyId str ; partitions []i32 ) ; standbyTasks []( subtopologyId str ; partitions []i32 ) ; warmupTasks []( subtopologyId str ; partitions []i32 )
22 StreamsGroupCurrentMemberAssignment 0-0 0 : memberEpoch i32 ; previousMemberEpoch i32 ; state i8 ; activeTasks []( subtopologyId str ; partitions []i32 ; assignmentEpochs []?i32 #0 ) ; standbyTasks []( subtopologyId str ; partitions []i32 ; assignmentEpochs []?i32 #0 ) ; warmupTasks []( subtopologyId str ; partitions []i32 ; assignmentEpochs []?i32 #0 ) ; activeTasksPendingRevocation []( subtopologyId str ; partitions []i32 ; assignmentEpochs []?i32 #0 ) ; standbyTasksPendingRevocation []( subtopologyId str ; partitions []i32 ; assignmentEpochs []?i32 #0 ) ; warmupTasksPendingRevocation []( subtopologyId str ; partitions []i32 ; assignmentEpochs []?i32 #0 )
23 StreamsGroupTopology 0-0 0 : epoch i32 ; subtopologies []( subtopologyId str ; sourceTopics []str ; sourceTopicRegex []str ; stateChangelogTopics []( name str ; partitions i32 ; replicationFactor i16 ; topicConfigs []( key str ; value str ) ) ; repartitionSinkTopics []str ; repartitionSourceTopics []( name str ; partitions i32 ; replicationFactor i16 ; topicConfigs []( key str ; value str ) ) ; copartitionGroups []( sourceTopics []i16 ; sourceTopicRegex []i16 ; repartitionSourceTopics []i16 ) )
`

const txnKeySpec = `
0 TransactionLog 0-0 - : transactionalId str
`

const txnValueSpec = `
0 TransactionLog 0-1 1 : producerId i64 ; producerEpoch i16 ; transactionTimeoutMs i32 ; transactionStatus i8 ; transactionPartitions []?( topic str ; partitionIds []i32 ) ; transactionLastUpdateTimestampMs i64 ; transactionStartTimestampMs i64 ; previousProducerId i64 1+ #0 ; nextProducerId i64 1+ #1 ; clientTransactionVersion i16 1+ #2 ; nextProducerEpoch i16 1+ #3
`

const shareKeySpec = `
0 ShareSnapshot 0-0 - : groupId str ; topicId uuid ; partition i32
1 ShareUpdate 0-0 - : groupId str ; topicId uuid ; partition i32
`

const shareValueSpec = `
0 ShareSnapshot 0-0 0 : snapshotEpoch i32 ; stateEpoch i32 ; leaderEpoch i32 ; startOffset i64 ; createTimestamp i64 ; writeTimestamp i64 ; stateBatches []( firstOffset i64 ; lastOffset i64 ; deliveryState i8 ; deliveryCount i16 ) ; deliveryCompleteCount i32 #0
1 ShareUpdate 0-0 0 : snapshotEpoch i32 ; leaderEpoch i32 ; startOffset i64 ; stateBatches []( firstOffset i64 ; lastOffset i64 ; deliveryState i8 ; deliveryCount i16 ) ; deliveryCompleteCount i32 #0
`

// controlSpec describes the values of control records, by the type in their key. The version that leads the value is
// the message's.
const controlSpec = `
0 Abort 0-0 - : coordinatorEpoch i32
1 Commit 0-0 - : coordinatorEpoch i32
2 LeaderChange 0-1 0 : leaderId i32 ; voters []( voterId i32 ; voterDirectoryId uuid 1+ ) ; grantingVoters []( voterId i32 ; voterDirectoryId uuid 1+ )
3 SnapshotHeader 0-0 0 : lastContainedLogTimestamp i64
4 SnapshotFooter 0-0 0 :
5 KRaftVersion 0-0 0 : kraftVersion i16
6 KRaftVoters 0-0 0 : voters []( voterId i32 ; voterDirectoryId uuid ; endpoints []( name str ; host str ; port u16 ) ; kraftVersionFeature ( minSupportedVersion i16 ; maxSupportedVersion i16 ) )
`

// protocolSpec describes what a consumer of the classic protocol puts into a group's record.
const protocolSpec = `
0 Subscription 0-3 - : topics []str ; userData bytes? ; ownedPartitions []( topic str ; partitions []i32 ) 1+ ; generationId i32 2+ ; rackId str? 3+
1 Assignment 0-3 - : assignedPartitions []( topic str ; partitions []i32 ) ; userData bytes?
`
