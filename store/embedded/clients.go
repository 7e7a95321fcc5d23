package embedded

import (
	"context"
	"strconv"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/wire"
)

// Clients implements model.ClientReader.
func (b *Broker) Clients(ctx context.Context) ([]model.Client, error) {
	if b.server == nil {
		return nil, ctx.Err()
	}
	return b.server.Clients(ctx)
}

// APIs implements model.ClientReader.
func (b *Broker) APIs(ctx context.Context) ([]model.APIStat, error) {
	if b.server == nil {
		return nil, ctx.Err()
	}
	return b.server.APIs(ctx)
}

// Refused implements model.RefusalReader.
func (b *Broker) Refused(ctx context.Context) (last []model.Refusal, all int64, err error) {
	if b.server == nil {
		return nil, 0, ctx.Err()
	}
	return b.server.Refused(ctx)
}

// tuned fills in what a server.properties says of the listener, where o does not.
func tuned(o wire.Options, static map[string]string) wire.Options {
	number := func(key string) int64 {
		n, err := strconv.ParseInt(static[key], 10, 64)
		if err != nil {
			return 0 // not set; values were checked as the file was read
		}
		return n
	}
	if o.MaxConns == 0 {
		o.MaxConns = int(number("max.connections"))
	}
	if o.MaxRequest == 0 {
		o.MaxRequest = int(number("socket.request.max.bytes"))
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = time.Duration(number("connections.max.idle.ms")) * time.Millisecond
	}
	if v, ok := static["auto.create.topics.enable"]; ok && o.AutoCreate == nil {
		create := v == "true"
		o.AutoCreate = &create
	}
	return o
}
