// Package assign decides which member of a consumer group reads which partition, as a broker does that assigns for its
// members. Its functions are pure: the same members and topics have the same answer.
//
//	            ┌ all subscribe to the same ─ quotas: total/members, and one more for some ─ keep up to the quota, hand out the rest
//	Uniform ────┤
//	            └ they differ ─ keep all that is allowed ─ hand out the rest, fewest readers first ─ level along paths
//
//	Range ─────── each topic on its own: members in order, a run of neighbouring partitions for each
//
// # Why
//
//   - Uniform keeps what members have, since every partition that moves is read by nobody for a while. Who already holds
//     more than the lower quota is the first to be allowed the higher one.
//   - Range keeps nothing: topics with equally many partitions must be cut at the same places, so that records of one key
//     meet in one member. Static members come first, by instance, so that a restart under new member ids changes nothing.
//   - Where subscriptions differ, a partition can be of no use to the member that has too little, yet free another one that
//     is. So loads are levelled along paths of members: none is left that would lower a maximum, which is the best there is.
//   - What comes out shares memory with what went in, since most of it is the same from one time to the next.
package assign
