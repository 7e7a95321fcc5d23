package uitest

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// Brokers implements model.BrokerReader.
func (s *Source) Brokers(context.Context) ([]model.Broker, error) {
	return append([]model.Broker(nil), s.Nodes...), s.note("Brokers")
}

// BrokerConfig implements model.BrokerReader.
func (s *Source) BrokerConfig(_ context.Context, id int32) ([]model.ConfigEntry, error) {
	return append([]model.ConfigEntry(nil), s.Settings...), s.note("BrokerConfig", id)
}

// Quorum implements model.BrokerReader.
func (s *Source) Quorum(context.Context) ([]model.QuorumNode, error) {
	return append([]model.QuorumNode(nil), s.Voters...), s.note("Quorum")
}

// ACLs implements model.AccessReader.
func (s *Source) ACLs(context.Context) ([]model.ACL, error) {
	return append([]model.ACL(nil), s.Rules...), s.note("ACLs")
}

// Quotas implements model.AccessReader.
func (s *Source) Quotas(context.Context) ([]model.Quota, error) {
	return append([]model.Quota(nil), s.Bounds...), s.note("Quotas")
}

// Subjects implements model.SubjectLister.
func (s *Source) Subjects(context.Context) ([]string, error) {
	return append([]string(nil), s.Schemas...), s.note("Subjects")
}
