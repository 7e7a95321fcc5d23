package model

import (
	"context"
	"time"
)

// Client is a connection of a Kafka client to the embedded broker's listener.
type Client struct {
	ID       string // client.id; "" for none
	Software string // as the client names itself: "apache-kafka-java"; "" for one that does not
	Version  string // of the software
	Address  string // HOST:PORT, its end of the connection
	User     string // as authenticated; "" for nobody
	TLS      bool

	Since    int64  // ms, when it connected
	LastAt   int64  // ms, of its last request; NoTime before the first
	LastAPI  string // the name of its last request's API: "Fetch"
	Requests int64
	Errors   int64 // answers with an error code
	In, Out  int64 // bytes, lengths of frames included

	RequestRate, InRate, OutRate float64 // a second, over the last few seconds

	// What it has shown of its delivery settings. Acks is "", "0", "1" or "all", of its last Produce.
	Acks          string
	Idempotent    bool
	Transactional string   // its transactional.id; "" for none
	Groups        []string // in which it has been a member, by name
}

// APIStat is how an API of the listener does.
type APIStat struct {
	Name     string // "Produce"
	Key      int16
	Count    int64
	Errors   int64 // answers with an error code
	Rate     float64
	P50, P99 time.Duration // of serving it, over the last minute or so; waiting in a long poll is not counted
}

// ClientReader is the ability to tell who is connected.
type ClientReader interface {
	Clients(ctx context.Context) ([]Client, error) // by time of connecting
	APIs(ctx context.Context) ([]APIStat, error)   // by key, those that were asked
}

// Refusal is a connection that was closed though its client did not end it, or could not authenticate.
type Refusal struct {
	At      int64  // ms
	Address string // HOST:PORT, the client's end of the connection
	Why     string // without what it had sent
}

// RefusalReader is the ability to tell who was not let in, or was sent away.
type RefusalReader interface {
	// Refused returns the last refusals, oldest first, and how many there were since the start.
	Refused(ctx context.Context) (last []Refusal, all int64, err error)
}
