package ui

import (
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/pages/access"
	"github.com/strata-kafka/strata/ui/pages/batches"
	"github.com/strata-kafka/strata/ui/pages/brokers"
	"github.com/strata-kafka/strata/ui/pages/change"
	"github.com/strata-kafka/strata/ui/pages/check"
	"github.com/strata-kafka/strata/ui/pages/clients"
	"github.com/strata-kafka/strata/ui/pages/delivery"
	"github.com/strata-kafka/strata/ui/pages/disk"
	"github.com/strata-kafka/strata/ui/pages/group"
	"github.com/strata-kafka/strata/ui/pages/groups"
	"github.com/strata-kafka/strata/ui/pages/index"
	"github.com/strata-kafka/strata/ui/pages/journal"
	"github.com/strata-kafka/strata/ui/pages/lookup"
	"github.com/strata-kafka/strata/ui/pages/overview"
	"github.com/strata-kafka/strata/ui/pages/partitions"
	"github.com/strata-kafka/strata/ui/pages/produce"
	"github.com/strata-kafka/strata/ui/pages/record"
	"github.com/strata-kafka/strata/ui/pages/records"
	"github.com/strata-kafka/strata/ui/pages/reset"
	"github.com/strata-kafka/strata/ui/pages/search"
	"github.com/strata-kafka/strata/ui/pages/segments"
	"github.com/strata-kafka/strata/ui/pages/subjects"
	"github.com/strata-kafka/strata/ui/pages/tail"
	"github.com/strata-kafka/strata/ui/pages/topics"
	"github.com/strata-kafka/strata/ui/pages/transactions"
)

// registry says which page a Kind is. A page adds its line here:
//
//	page.Topics: topics.New,
func registry() map[page.Kind]page.Constructor {
	return map[page.Kind]page.Constructor{
		page.Disk:         disk.New,
		page.Overview:     overview.New,
		page.Check:        check.New,
		page.Lookup:       lookup.New,
		page.Index:        index.New,
		page.Batches:      batches.New,
		page.Search:       search.New,
		page.Tail:         tail.New,
		page.Record:       record.New,
		page.Records:      records.New,
		page.Segments:     segments.New,
		page.Partitions:   partitions.New,
		page.Topics:       topics.New,
		page.Groups:       groups.New,
		page.Group:        group.New,
		page.Reset:        reset.New,
		page.Journal:      journal.New,
		page.Create:       change.NewCreate,
		page.Alter:        change.NewAlter,
		page.Delete:       change.NewDelete,
		page.Truncate:     change.NewTruncate,
		page.Produce:      produce.New,
		page.Clients:      clients.New,
		page.Transactions: transactions.New,
		page.Delivery:     delivery.New,
		page.Brokers:      brokers.New,
		page.Access:       access.New,
		page.Subjects:     subjects.New,
	}
}
