package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// ConfigStore keeps the configs that topics were given one by one.
type ConfigStore interface {
	Load() (map[string]map[string]string, error)
	Save(topic string, configs map[string]string) error
	Delete(topic string) error
	// Lost reports whether configs were kept that cannot be read any more. Topics whose configs are not known must not
	// lose records by the defaults. It stays so, over restarts too, until Replace.
	Lost() bool
	// Replace makes these the configs of all topics, in one step.
	Replace(all map[string]map[string]string) error
}

// Options tunes an Engine. The zero value is Kafka's defaults, with topic configs kept in memory only.
type Options struct {
	// Configs keeps topic configs; nil means in memory, where OpenConfigs is nil too.
	Configs ConfigStore
	// OpenConfigs returns what keeps topic configs. It is called once the directories are locked, so that it may open a
	// file there.
	OpenConfigs func() (ConfigStore, error)
	// Forget is told of topics that are deleted, so that what is kept of them elsewhere goes with them, again at the next
	// start where the process dies before it has returned; and of topics that are about to be made, for what has come to
	// one of the same name while it was being deleted. nil means that nothing is kept elsewhere.
	Forget func(topics []string) error
	// Broker holds topic configs, by Kafka's topic names, for all topics that have none of their own, as flags give them.
	Broker map[string]string
	// Properties is the path of a server.properties, the layer below Broker; "" for none.
	Properties string
	NodeID     int32  // of a new data directory; 0 means 1
	ClusterID  string // of a new data directory; "" means a random one
	Address    string // written into the lock, for who finds it held
	// Partitions is how many a topic gets that is created without a number; 0 means num.partitions of Properties, or 1.
	Partitions int32
	Writers    int // partitions kept open for appending at most; 0 means 256
	Readers    int // segments kept open for clients that read at most; 0 means 256

	RetentionEvery  time.Duration // 0 means log.retention.check.interval.ms, or 5 minutes
	CheckpointEvery time.Duration // of recovery points and log starts; 0 means a minute
	HighWaterEvery  time.Duration // of high watermarks; 0 means 5 s
	FlushEvery      time.Duration // how often flush.ms is looked at; 0 means 1 s

	// Now is the clock; nil means the system's.
	Now func() time.Time
	// OpenFile opens the files that are appended to and the small ones of a partition; nil means os.OpenFile.
	OpenFile func(path string) (segment.AppendFile, error)
	// AllowKafka opens a directory that belongs to a Kafka broker (which must not run) all the same.
	AllowKafka bool
}

const (
	defaultWriters   = 256
	defaultHighWater = 5 * time.Second
	defaultFlush     = time.Second
)

// settle fills the defaults in, those that a server.properties sets before our own, and says in words what it took no
// notice of.
func (o *Options) settle() (layout.Broker, []string, error) {
	var props []layout.Property
	var notices []string
	if o.Properties != "" {
		b, err := os.ReadFile(o.Properties)
		if err != nil {
			return layout.Broker{}, nil, fmt.Errorf("read properties: %w", err)
		}
		if props, err = layout.ParseProperties(b); err != nil {
			notices = append(notices, fmt.Sprintf("%s: %v", o.Properties, err))
		}
	}
	broker := layout.BrokerDefaults(props)
	for _, list := range [][]string{broker.Invalid, broker.Unknown} {
		for _, s := range list {
			notices = append(notices, o.Properties+": "+s)
		}
	}
	for _, s := range broker.Unused {
		notices = append(notices, o.Properties+": "+s+" has no effect here")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Broker)) {
		if err := layout.ValidateConfig(name, o.Broker[name]); err != nil {
			return broker, nil, err
		}
	}
	if o.NodeID == 0 {
		o.NodeID = max(broker.NodeID, 1)
	}
	if o.Partitions == 0 {
		o.Partitions = broker.Partitions
	}
	if o.Writers == 0 {
		o.Writers = defaultWriters
	}
	orMS := func(d *time.Duration, ms int64) {
		if *d == 0 {
			*d = time.Duration(min(ms, int64(time.Duration(1<<62)/time.Millisecond))) * time.Millisecond
		}
	}
	orMS(&o.RetentionEvery, broker.RetentionCheckMS)
	orMS(&o.CheckpointEvery, max(broker.RecoveryPointMS, 1))
	orMS(&o.HighWaterEvery, defaultHighWater.Milliseconds())
	orMS(&o.FlushEvery, min(broker.FlushCheckMS, defaultFlush.Milliseconds()))
	if o.Now == nil {
		o.Now = time.Now
	}
	return broker, notices, nil
}

// recoverers is how many logs are recovered at once.
func recoverers(b layout.Broker) int { return max(1, min(b.RecoveryThreads, runtime.NumCPU())) }

// memoryConfigs keeps topic configs for as long as the engine lives.
type memoryConfigs struct{}

func (memoryConfigs) Load() (map[string]map[string]string, error) { return nil, nil }
func (memoryConfigs) Save(string, map[string]string) error        { return nil }
func (memoryConfigs) Delete(string) error                         { return nil }
func (memoryConfigs) Lost() bool                                  { return false }
func (memoryConfigs) Replace(map[string]map[string]string) error  { return nil }

// readMeta reads meta.properties of a directory; ok is false where there is none.
func readMeta(path string) (m layout.Meta, ok bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return layout.Meta{}, false, nil
	}
	if err != nil {
		return layout.Meta{}, false, err
	}
	if m, err = layout.ParseMeta(b); err != nil {
		return m, true, &model.CorruptError{Path: path, What: "cannot be read", Err: err}
	}
	return m, true, nil
}
