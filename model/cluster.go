package model

import "context"

// Broker is a node of a cluster.
type Broker struct {
	ID         int32
	Address    string // HOST:PORT that it tells clients
	Rack       string // "" for none
	Controller bool
	Alive      bool   // it has answered lately
	Version    string // as far as its APIs tell: "4.0", "at least 3.6"; "" where it was not asked
	Led        int    // partitions that it leads
	Hosted     int    // replicas that it has
	Lagging    int    // replicas that it has and that are not in sync
	Bytes      int64  // of its log directories; Unknown where it does not say
	Dirs       []LogDirUse
	Err        error // why it does not answer
}

// LogDirUse is one of a broker's log directories.
type LogDirUse struct {
	Path        string
	Bytes       int64 // of partitions
	Total, Free int64 // of the volume; Unknown where the broker does not say
	Partitions  int
	Err         error
}

// BrokerReader is the ability to see the nodes of a cluster.
type BrokerReader interface {
	Brokers(ctx context.Context) ([]Broker, error) // by id
	// BrokerConfig returns the configs of one node.
	BrokerConfig(ctx context.Context, id int32) ([]ConfigEntry, error)
	// Quorum returns the voters and observers of the metadata quorum; none where there is none.
	Quorum(ctx context.Context) ([]QuorumNode, error)
}

// RackReader is the ability to say at once where brokers stand.
type RackReader interface {
	Racks() map[int32]string // by id; brokers without a rack are not in it
}

// QuorumNode is a replica of the metadata log.
type QuorumNode struct {
	ID       int32
	Leader   bool
	Voter    bool
	LogEnd   int64
	Lag      int64 // behind the leader's log end
	CaughtUp int64 // ms, when it last was; NoTime where not known
}

// ACL is a rule of who may do what.
type ACL struct {
	Resource  string // Topic, Group, Cluster, TransactionalId, …
	Name      string
	Pattern   string // Literal, Prefixed
	Principal string
	Host      string
	Operation string
	Allow     bool
}

// Quota is a bound on what a client may use.
type Quota struct {
	Entity string // user=ada, client-id=billing, …
	Key    string // producer_byte_rate, …
	Value  float64
}

// AccessReader is the ability to see who may do what, and how much.
type AccessReader interface {
	ACLs(ctx context.Context) ([]ACL, error) // ErrRefused where the cluster does not tell
	Quotas(ctx context.Context) ([]Quota, error)
}

// SubjectLister is the ability to list the subjects of a schema registry.
type SubjectLister interface {
	Subjects(ctx context.Context) ([]string, error)
}

// Profiled is a source that was opened by a profile.
type Profiled interface {
	Profile() Profile
}

// Profile is what the explorer shows of the profile by which a source was opened.
type Profile struct {
	Name     string
	Colour   string // "", red, yellow, green, blue, magenta, cyan: of the line at the top
	ReadOnly bool
}
