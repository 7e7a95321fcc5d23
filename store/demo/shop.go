package demo

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/strata-kafka/strata/model"
)

const (
	topicOrders   = "orders"
	topicPayments = "payments"
	topicClicks   = "clicks"
	topicStock    = "stock"
	topicAudit    = "audit"
)

// shares says which part of the traffic goes where; audit has its own slow beat.
var shares = [...]struct {
	topic string
	part  float64
}{{topicClicks, 0.72}, {topicOrders, 0.14}, {topicPayments, 0.10}, {topicStock, 0.04}}

// shopTopics are the topics for a rate in records a second. Segments are small, so that there are layers to look at from
// the first minute on, but grow with the rate: a demo of 100,000 records a second should not roll all the time.
func shopTopics(rate int64) []model.TopicSpec {
	scale := max(1, rate/defaultRate)
	topic := func(name string, partitions int32, segment int64, kv ...string) model.TopicSpec {
		s := model.TopicSpec{Name: name, Partitions: partitions}
		kv = append(kv, "segment.bytes", strconv.FormatInt(min(segment*scale, 64<<20), 10))
		for i := 0; i < len(kv); i += 2 {
			s.Configs = append(s.Configs, model.ConfigChange{Name: kv[i], Value: kv[i+1]})
		}
		return s
	}
	return []model.TopicSpec{
		topic(topicOrders, 3, 24<<10, "retention.bytes", "134217728"),
		topic(topicPayments, 2, 12<<10, "retention.bytes", "134217728"),
		topic(topicClicks, 4, 48<<10, "retention.bytes", "134217728", "file.delete.delay.ms", "5000"),
		topic(topicStock, 1, 8<<10, "cleanup.policy", "compact,delete", "retention.bytes", "134217728", "retention.ms", "-1"),
		topic(topicAudit, 1, 16<<10, "segment.ms", "8000", "retention.ms", "30000", "file.delete.delay.ms", "5000"),
	}
}

func codecs(topic string) string {
	switch topic {
	case topicOrders:
		return "zstd"
	case topicPayments:
		return "lz4"
	case topicClicks:
		return "snappy"
	case topicStock:
		return "gzip"
	}
	return "none"
}

// shop makes believable records. It is not safe for concurrent use.
type shop struct {
	rnd    *rand.Rand
	order  int
	audits int
}

func newShop(rnd *rand.Rand) *shop { return &shop{rnd: rnd, order: 100_000} }

var (
	items = []string{"green tea", "espresso", "sourdough", "notebook", "wool socks", "bicycle bell", "抹茶", "crème brûlée", "chess set", "rain jacket", "desk lamp", "🌵 cactus"}
	pages = []string{"/", "/tea", "/coffee", "/bread", "/search?q=lamp", "/cart", "/checkout", "/account", "/help"}
	agent = []string{"firefox", "safari", "chrome", "curl"}
	names = []string{"ada", "grace", "linus", "山田", "zoë", "björn", "mary", "tim"}
	kinds = []string{"login", "logout", "price changed", "refund approved", "role granted", "password changed"}
)

// make makes n records of a topic, the first dated from, each step later.
func (s *shop) make(topic string, n int, from time.Time, step time.Duration) []model.ProduceRecord {
	rs := make([]model.ProduceRecord, n)
	for i := range rs {
		r := model.ProduceRecord{Timestamp: from.Add(step * time.Duration(i)).UnixMilli(), Partition: -1}
		switch topic {
		case topicOrders:
			s.orders(&r)
		case topicPayments:
			s.payment(&r)
		case topicClicks:
			s.click(&r)
		case topicStock:
			s.stock(&r)
		default:
			s.audit(&r)
		}
		rs[i] = r
	}
	return rs
}

func (s *shop) pick(from []string) string { return from[s.rnd.IntN(len(from))] }

func (s *shop) customer() string { return "customer-" + strconv.Itoa(s.rnd.IntN(500)) }

func (s *shop) amount(b []byte) []byte {
	return strconv.AppendFloat(b, float64(s.rnd.IntN(20000))/100, 'f', 2, 64)
}

func (s *shop) orders(r *model.ProduceRecord) {
	s.order++
	r.Key = []byte(s.customer())
	b := append(make([]byte, 0, 160), `{"order":`...)
	b = strconv.AppendInt(b, int64(s.order), 10)
	b = append(b, `,"state":"new","items":[`...)
	for i, n := 0, 1+s.rnd.IntN(3); i < n; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":"`...)
		b = append(b, s.pick(items)...)
		b = append(b, `","n":`...)
		b = strconv.AppendInt(b, int64(1+s.rnd.IntN(4)), 10)
		b = append(b, '}')
	}
	b = append(b, `],"total":`...)
	b = s.amount(b)
	r.Value = append(b, '}')
	r.Headers = []model.Header{
		{Name: "trace", Value: strconv.AppendUint(nil, s.rnd.Uint64(), 16)},
		{Name: "source", Value: []byte(s.pick(agent))},
	}
}

func (s *shop) payment(r *model.ProduceRecord) {
	r.Key = strconv.AppendInt([]byte("order-"), int64(s.order-s.rnd.IntN(50)), 10)
	if s.rnd.IntN(40) == 0 {
		return // a payment taken back: null
	}
	b := append(make([]byte, 0, 96), `{"method":"`...)
	b = append(b, s.pick([]string{"card", "transfer", "voucher"})...)
	b = append(b, `","amount":`...)
	b = s.amount(b)
	b = append(b, `,"currency":"EUR"}`...)
	r.Value = b
	if s.rnd.IntN(3) == 0 {
		r.Headers = []model.Header{{Name: "retry", Value: nil}}
	}
}

func (s *shop) click(r *model.ProduceRecord) {
	b := append(make([]byte, 0, 96), `{"page":"`...)
	b = append(b, s.pick(pages)...)
	b = append(b, `","user":`...)
	b = strconv.AppendInt(b, int64(s.rnd.IntN(100_000)), 10)
	b = append(b, `,"agent":"`...)
	b = append(b, s.pick(agent)...)
	b = append(b, `","ms":`...)
	b = strconv.AppendInt(b, int64(s.rnd.IntN(900)), 10)
	r.Value = append(b, '}')
}

func (s *shop) stock(r *model.ProduceRecord) {
	r.Key = []byte(s.pick(items))
	if s.rnd.IntN(60) == 0 {
		return // sold out: a tombstone
	}
	b := append(make([]byte, 0, 48), `{"left":`...)
	b = strconv.AppendInt(b, int64(s.rnd.IntN(400)), 10)
	b = append(b, `,"price":`...)
	b = s.amount(b)
	r.Value = append(b, '}')
}

func (s *shop) audit(r *model.ProduceRecord) {
	s.audits++
	b := append(make([]byte, 0, 400), `{"n":`...)
	b = strconv.AppendInt(b, int64(s.audits), 10)
	b = append(b, `,"who":"`...)
	b = append(b, s.pick(names)...)
	b = append(b, `","what":"`...)
	b = append(b, s.pick(kinds)...)
	b = append(b, `","at":"`...)
	b = time.UnixMilli(r.Timestamp).UTC().AppendFormat(b, time.RFC3339Nano)
	r.Value = append(b, `"}`...)
}
