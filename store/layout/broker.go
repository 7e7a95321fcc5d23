package layout

import (
	_ "embed" // the list of a broker's keys
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// brokerKeys are the keys that brokers know or knew, a line each.
//
//go:embed brokerkeys.txt
var brokerKeys string

// Broker is what a server.properties sets for a broker, with what it leaves out at its default.
type Broker struct {
	// Topic holds the defaults of topic configs that the file sets, by the topic's name of the config.
	Topic map[string]string
	// Known holds every valid key that has an effect here, as it is in the file.
	Known map[string]string

	NodeID     int32    // -1 where the file does not say
	LogDirs    []string // nil where the file does not say
	Partitions int32    // num.partitions: of a topic created without a number; default 1

	RetentionCheckMS  int64 // log.retention.check.interval.ms; default 5 minutes
	FlushCheckMS      int64 // log.flush.scheduler.interval.ms; default Unlimited
	RecoveryPointMS   int64 // log.flush.offset.checkpoint.interval.ms; default one minute
	RecoveryThreads   int   // num.recovery.threads.per.data.dir; default 2
	ProducerExpiryMS  int64 // producer.id.expiration.ms; default a day
	OffsetRetentionMS int64 // offsets.retention.minutes; default 7 days

	Cleaner         Cleaner
	Groups          Groups
	TxnMaxTimeoutMS int64 // transaction.max.timeout.ms; default 15 minutes
	TxnIDExpiryMS   int64 // transactional.id.expiration.ms; default 7 days

	Listeners  []Listener // listeners (or host.name and port), without those of controllers; nil where the file does not say
	Advertised []Listener // advertised.listeners
	Secured    Secured

	Unknown []string // keys that no broker knows, each in a sentence with the nearest known ones
	Unused  []string // keys that brokers know and that have no effect here
	Invalid []string // what is wrong with values, each in a sentence; they count as not set
}

// Cleaner is how compaction works in the background: log.cleaner.*.
type Cleaner struct {
	Enable         bool    // log.cleaner.enable; default true
	Threads        int     // log.cleaner.threads; default 1
	Memory         int64   // log.cleaner.dedupe.buffer.size: bytes that all threads may take for keys; default 128 MiB
	Load           float64 // log.cleaner.io.buffer.load.factor: which part of that is filled; default 0.9
	BackoffMS      int64   // log.cleaner.backoff.ms: between looks at what is to be cleaned; default 15 s
	BytesPerSecond float64 // log.cleaner.io.max.bytes.per.second: of a thread, read and written; 0, the default, means any
}

// BrokerDefaults reads the properties of a server.properties.
func BrokerDefaults(props []Property) Broker {
	b := Broker{Topic: map[string]string{}, Known: map[string]string{}, NodeID: -1}
	s := settings{props: map[string]Property{}, broker: &b, refused: map[string]bool{}}
	for _, p := range props {
		s.props[p.Key] = p // the last one counts
	}
	b.NodeID = int32(s.number("broker.id", -1, -1, math.MaxInt32))
	b.NodeID = int32(s.number("node.id", int64(b.NodeID), 0, math.MaxInt32))
	b.Partitions = int32(s.number("num.partitions", 1, 1, math.MaxInt32))
	b.RetentionCheckMS = s.number("log.retention.check.interval.ms", 300_000, 1, Unlimited)
	b.FlushCheckMS = s.number("log.flush.scheduler.interval.ms", Unlimited, 1, Unlimited)
	b.RecoveryPointMS = s.number("log.flush.offset.checkpoint.interval.ms", 60_000, 0, math.MaxInt32)
	b.RecoveryThreads = int(s.number("num.recovery.threads.per.data.dir", 2, 1, 1024))
	b.ProducerExpiryMS = s.number("producer.id.expiration.ms", 86_400_000, 1, math.MaxInt32)
	b.OffsetRetentionMS = 60_000 * s.number("offsets.retention.minutes", 10_080, 1, math.MaxInt32)
	b.TxnMaxTimeoutMS = s.number("transaction.max.timeout.ms", 900_000, 1, math.MaxInt32)
	b.TxnIDExpiryMS = s.number("transactional.id.expiration.ms", 604_800_000, 1, math.MaxInt32)
	b.Cleaner = s.cleaner()
	b.Groups = s.groups()
	for _, key := range []string{"log.dir", "log.dirs"} {
		if p, ok := s.take(key); ok {
			b.LogDirs = SplitList(p.Value)
		}
	}
	s.listeners()
	b.Secured = s.secured()
	s.topics()
	s.clients()
	s.rest(props)
	return b
}

// settings takes properties into a Broker one by one.
type settings struct {
	props   map[string]Property
	refused map[string]bool // keys with an invalid value
	broker  *Broker
}

func (s *settings) take(key string) (Property, bool) {
	p, ok := s.props[key]
	if ok {
		s.broker.Known[key] = p.Value
	}
	return p, ok
}

func (s *settings) invalid(p Property, want string) {
	delete(s.broker.Known, p.Key)
	s.refused[p.Key] = true
	s.broker.Invalid = append(s.broker.Invalid, fmt.Sprintf("line %d: %s is %s: want %s", p.Line, p.Key, short(p.Value), want))
}

func (s *settings) number(key string, def, low, high int64) int64 {
	p, ok := s.take(key)
	if !ok {
		return def
	}
	n, err := strconv.ParseInt(strings.TrimSpace(p.Value), 10, 64)
	if err != nil || n < low || n > high {
		s.invalid(p, ConfigDef{Type: Long, Min: low, Max: high}.Allowed())
		return def
	}
	return n
}

// float is number for a key of type double; both ends are allowed.
func (s *settings) float(key string, def, low, high float64) float64 {
	p, ok := s.take(key)
	if !ok {
		return def
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(p.Value), 64)
	if err != nil || !(x >= low && x <= high) {
		s.invalid(p, fmt.Sprintf("a number from %g to %g", low, high))
		return def
	}
	return x
}

// flag takes a key that is true or false.
func (s *settings) flag(key string, def bool) bool {
	p, ok := s.take(key)
	if !ok {
		return def
	}
	switch strings.ToLower(strings.TrimSpace(p.Value)) {
	case "true":
		return true
	case "false":
		return false
	}
	s.invalid(p, "true or false")
	return def
}

// leastMemory is what Kafka asks for a cleaner's thread at least, in bytes.
const leastMemory = 1 << 20

func (s *settings) cleaner() Cleaner {
	c := Cleaner{
		Enable:         s.flag("log.cleaner.enable", true),
		Threads:        int(s.number("log.cleaner.threads", 1, 1, 64)),
		Load:           s.float("log.cleaner.io.buffer.load.factor", 0.9, 0.01, 1),
		BackoffMS:      s.number("log.cleaner.backoff.ms", 15_000, 0, Unlimited),
		BytesPerSecond: s.float("log.cleaner.io.max.bytes.per.second", math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxFloat64),
	}
	if c.BytesPerSecond > 1<<50 {
		c.BytesPerSecond = 0
	}
	c.Memory = s.number("log.cleaner.dedupe.buffer.size", max(128<<20, leastMemory*int64(c.Threads)), leastMemory*int64(c.Threads), Unlimited)
	return c
}

// topics takes the keys that set topic configs; of several that set the same the first in the table counts.
func (s *settings) topics() {
	for _, d := range table() {
		for _, key := range slices.Backward(d.Broker) {
			p, ok := s.take(key)
			if !ok {
				continue
			}
			value, want := inUnit(d, key, strings.TrimSpace(p.Value))
			if want != "" {
				s.invalid(p, want)
				continue
			}
			s.broker.Topic[d.Name] = value
		}
	}
}

// inUnit turns the value of a broker's key into the one of the topic config d, or else says what it wants.
func inUnit(d ConfigDef, key, value string) (ms, want string) {
	unit := int64(1)
	switch {
	case strings.HasSuffix(key, ".hours"):
		unit = 3_600_000
	case strings.HasSuffix(key, ".minutes"):
		unit = 60_000
	}
	if unit > 1 {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return "", ConfigDef{Type: Int, Min: d.Min, Max: math.MaxInt32}.Allowed()
		}
		value = strconv.FormatInt(n*unit, 10)
	}
	// A broker takes any negative retention for none.
	if d.Name == "retention.ms" && strings.HasPrefix(value, "-") && decimal(value[1:]) {
		value = "-1"
	}
	if d.Validate(value) != nil {
		return "", d.Allowed()
	}
	return value, ""
}

// clients takes the keys that say how clients are served; who serves them looks them up in Known.
func (s *settings) clients() {
	for _, key := range []string{"auto.create.topics.enable", "connections.max.idle.ms", "max.connections", "socket.request.max.bytes"} {
		p, ok := s.take(key)
		if !ok {
			continue
		}
		if d, _ := BrokerConfig(key); d.Validate(p.Value) != nil {
			s.invalid(p, d.Allowed())
			continue
		}
		s.broker.Known[key] = strings.ToLower(strings.TrimSpace(p.Value))
	}
}

// rest sorts the keys that were not taken into unused and unknown ones.
func (s *settings) rest(props []Property) {
	known := strings.Fields(brokerKeys)
	told := map[string]bool{}
	for _, p := range props {
		_, taken := s.broker.Known[p.Key]
		if taken || told[p.Key] || s.refused[p.Key] {
			continue
		}
		told[p.Key] = true
		if slices.Contains(known, p.Key) || strings.HasPrefix(p.Key, "listener.name.") {
			s.broker.Unused = append(s.broker.Unused, p.Key)
			continue
		}
		what := fmt.Sprintf("line %d: no broker knows %s", p.Line, p.Key)
		if d, ok := Config(p.Key); ok {
			what += "; it is a topic's config"
			if d.Broker != nil {
				what += ", a broker's is " + d.Broker[0]
			}
		} else if near := model.Nearest(p.Key, known); len(near) > 0 {
			what += "; did you mean " + strings.Join(near, ", ") + "?"
		}
		s.broker.Unknown = append(s.broker.Unknown, what)
	}
}
