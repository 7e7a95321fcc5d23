package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
	"github.com/strata-kafka/strata/groups/txn"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/logdir"
	"github.com/strata-kafka/strata/store/wire"
)

// OffsetsFile is the store of groups and configs in a data directory.
const OffsetsFile = "strata.db"

// Options says what to open and how.
type Options struct {
	Dir    string        // the data directory
	Engine store.Options // OpenConfigs is set here
	// Still switches off what goes on by itself on the reading side; see logdir.Options.
	Still bool
	// Listen is the HOST:PORT where Kafka clients are served; "" for nowhere, DefaultListen for what is usual. Port 0 takes
	// a free one.
	Listen string
	// AnyPort takes a free port where the one of Listen is taken, and says so in the notices of Info.
	AnyPort  bool
	Security Security
	Wire     wire.Options // TLS and SASL are set here

	txnStep func(next string) error // see txn.Options.Step; for tests
}

// Broker is the embedded broker as a source: all reads go through the files, writes through the engine, groups through
// their store.
//
// Invariants:
//   - db outlives the engine and the groups, which write to it until they are closed
type Broker struct {
	*logdir.Dir
	*store.Engine
	*groups.Service
	db          *groups.DB
	coordinator *coordinator.Coordinator
	txns        *txn.Coordinator // nil until it is opened
	server      *wire.Server     // nil where nothing listens
	door        door
	told        []string           // what is to be said of where it listens
	stop        context.CancelFunc // ends tend
	done        sync.WaitGroup
	unexpired   atomic.Pointer[error] // why offsets could not be expired last
}

// broker reads the server.properties, where there is one. Its LogDirs are the data directory where it names none.
func (o Options) broker() (layout.Broker, error) {
	var props []layout.Property
	if o.Engine.Properties != "" {
		b, err := os.ReadFile(o.Engine.Properties)
		if err != nil {
			return layout.Broker{}, fmt.Errorf("read properties: %w", err)
		}
		props, _ = layout.ParseProperties(b) // what is wrong in it is told by the engine
	}
	broker := layout.BrokerDefaults(props)
	if len(broker.LogDirs) == 0 {
		broker.LogDirs = []string{o.Dir}
	}
	return broker, nil
}

// offsetRetention is how long a group's offsets are kept.
func offsetRetention(b layout.Broker) time.Duration {
	return time.Duration(min(b.OffsetRetentionMS, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// Open opens the broker for writing. A *store.LockedError says that another process has it, a *TakenError that another
// one listens where it should.
func Open(o Options) (_ *Broker, err error) {
	b := &Broker{}
	broker, err := o.broker()
	if err != nil {
		return nil, err
	}
	at, err := o.place(broker)
	if err != nil {
		return nil, err
	}
	if err := inUse(broker.LogDirs); err != nil {
		return nil, err
	}
	ln, err := o.bind(&at, broker.LogDirs)
	if err != nil {
		return nil, err
	}
	if err := b.open(o, broker, at, ln); err != nil {
		if ln != nil {
			_ = ln.Close() // nobody was served
		}
		return nil, err
	}
	return b, nil
}

// open opens the parts one by one, and closes those that are open where one cannot be.
func (b *Broker) open(o Options, broker layout.Broker, at place, ln net.Listener) (err error) {
	b.told = at.notices
	so := o.Engine
	if ln != nil {
		so.Address = ln.Addr().String()
	}
	so.OpenConfigs = func() (store.ConfigStore, error) {
		db, err := groups.OpenDB(filepath.Join(o.Dir, OffsetsFile), groups.DBOptions{TopicsExist: func() bool { return hasTopics(broker.LogDirs) }})
		if err != nil {
			return nil, err
		}
		b.db = db
		return db.TopicConfigs(), nil
	}
	so.Forget = b.forget
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return fmt.Errorf("open data directory: %w", err)
	}
	if b.Engine, err = store.Open(broker.LogDirs, so); err != nil {
		return errors.Join(err, b.closeDB())
	}
	b.Dir, err = logdir.Open(b.Dirs(), logdir.Options{Configs: b.EffectiveConfigs, Embedded: true, Name: o.Dir, Still: o.Still})
	if err != nil {
		return errors.Join(err, b.Engine.Close(), b.closeDB())
	}
	b.Service = groups.New(b.db, b.Dir, groups.Options{Retention: offsetRetention(broker)})
	if err = b.openTxns(o, broker); err != nil {
		return errors.Join(err, b.Service.Close(), b.Dir.Close(), b.Engine.Close(), b.closeDB())
	}
	b.openGroups(broker.Groups)
	run, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.done.Go(func() { b.tend(run) })
	if ln == nil {
		return nil
	}
	if err := b.serve(o, at, ln); err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

// serve begins to serve Kafka clients.
func (b *Broker) serve(o Options, at place, ln net.Listener) (err error) {
	wo := tuned(o.Wire, b.Engine.Broker().Known)
	wo.Advertised = at.advertised
	if wo.TLS, err = at.security.tls(); err != nil {
		return err
	}
	if wo.SASL, err = at.security.sasl(b.db.Users()); err != nil {
		return err
	}
	wo.Notice = func(line string) {
		b.Note(line)
		b.Announce(model.Change{Info: true})
	}
	wo.Changed = func() { b.Announce(model.Change{Clients: true}) }
	served := wire.Broker{
		Engine: b.Engine, Admin: b, Groups: b.Service, Coordinator: b.coordinator, Txns: b.txns, Users: b.db.Users(),
	}
	b.server = wire.Serve(ln, served, wo)
	b.openDoor(at.security, served, wo)
	return nil
}

// Address returns where Kafka clients are served, "" for nowhere.
func (b *Broker) Address() string {
	if b.server == nil {
		return ""
	}
	return b.server.Address()
}

// tend announces what the groups do and lets old offsets expire, until Close.
func (b *Broker) tend(ctx context.Context) {
	expire := time.NewTicker(10 * time.Minute)
	defer expire.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.Changed():
			b.Announce(model.Change{Groups: true})
		case now := <-expire.C:
			if _, err := b.Expire(now); err == nil {
				b.unexpired.Store(nil)
			} else {
				b.unexpired.Store(&err)
				b.Announce(model.Change{Info: true})
			}
		}
	}
}

// hasTopics reports whether directories hold any partition's folder.
func hasTopics(dirs []string) bool {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if _, ok := layout.ParseDirName(e.Name()); ok && e.IsDir() {
				return true
			}
		}
	}
	return false
}

func (b *Broker) closeDB() error {
	if b.db == nil {
		return nil
	}
	return b.db.Close()
}

// Close stops the broker cleanly.
func (b *Broker) Close() error {
	b.stop()
	b.done.Wait()
	var err error
	if b.server != nil {
		err = errors.Join(b.server.Close(), b.door.close())
	}
	return errors.Join(err, b.coordinator.Close(), b.txns.Close(), b.Service.Close(), b.Dir.Close(), b.Engine.Close(), b.closeDB())
}

// Info says what the directory says, and what was done on opening.
func (b *Broker) Info(ctx context.Context) (model.Info, error) {
	info, err := b.Dir.Info(ctx)
	info.Address = b.Address()
	info.Notices = append(info.Notices, b.told...)
	info.Notices = append(append(info.Notices, b.Engine.Notices()...), b.db.Notices()...)
	if err := b.unexpired.Load(); err != nil {
		info.Notices = append(info.Notices, (*err).Error())
	}
	info.Notices = append(info.Notices, b.txns.Stuck()...)
	return info, err
}

// The abilities that more than one part has.

// Groups implements model.Source.
func (b *Broker) Groups(ctx context.Context) ([]model.Group, error) { return b.Service.Groups(ctx) }

// Group implements model.GroupReader.
func (b *Broker) Group(ctx context.Context, id string) (model.Group, error) {
	return b.Service.Group(ctx, id)
}

// TopicConfig implements model.TopicAdmin.
func (b *Broker) TopicConfig(ctx context.Context, topic string) ([]model.ConfigEntry, error) {
	return b.Engine.TopicConfig(ctx, topic)
}

// Topics implements model.Source.
func (b *Broker) Topics(ctx context.Context) ([]model.Topic, error) { return b.Dir.Topics(ctx) }

// forget deletes what groups have committed of topics that are deleted. The engine calls it, also while it is being opened.
func (b *Broker) forget(topics []string) error {
	if b.Service == nil {
		_, err := b.db.ForgetTopics(topics)
		return err
	}
	_, err := b.ForgetTopics(topics)
	return err
}
