package profile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
)

// maxReply bounds what a broker may answer, bytes.
const maxReply = 16 << 20

// wire asks a broker one thing after the other.
type wire struct {
	conn net.Conn
	addr string
	last int32 // correlation id
}

// node is a broker as metadata has it.
type node struct {
	id   int32
	addr string
}

// versions says which versions a broker knows, by API key.
type versions map[int16]int16

var (
	errNoKafka = errors.New("this is no answer of Kafka's")
	errTLS     = errors.New("it answers in TLS")
)

// ask sends a request and reads its answer, within a time.
func (w *wire) ask(req kmsg.Request, res kmsg.Response, within time.Duration) error {
	if err := w.conn.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	w.last++
	if _, err := w.conn.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("strata")).AppendRequest(nil, req, w.last)); err != nil {
		return err
	}
	var head [4]byte
	if n, err := io.ReadFull(w.conn, head[:]); err != nil {
		if n > 0 {
			return errNoKafka
		}
		return err
	}
	if head[0] == 0x15 && head[1] == 3 { // an alert of TLS
		return errTLS
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 4 || size > maxReply {
		return errNoKafka
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(w.conn, b); err != nil {
		return err
	}
	if int32(binary.BigEndian.Uint32(b)) != w.last {
		return errNoKafka
	}
	b = b[4:]
	if res.IsFlexible() && res.Key() != int16(kmsg.ApiVersions) {
		if len(b) == 0 || b[0] != 0 {
			return errNoKafka
		}
		b = b[1:]
	}
	if res.ReadFrom(b) != nil {
		return errNoKafka
	}
	return nil
}

// versions asks what the broker knows, in the oldest way, which every broker answers.
func (w *wire) versions(overTLS bool) (versions, Step) {
	s := Step{Name: "ApiVersions", Target: w.addr}
	req := kmsg.NewPtrApiVersionsRequest()
	res := kmsg.NewPtrApiVersionsResponse()
	err := w.ask(req, res, stepWithin)
	if err == nil {
		err = kerr.ErrorForCode(res.ErrorCode)
	}
	if err != nil {
		s.What = gone(err)
		s.Next = "check that this is the port of a Kafka broker"
		if !overTLS {
			s.Next += "; if it wants TLS, add an empty table tls to the profile"
		} else {
			s.Next += ", and that it wants no client's certificate (tls.cert, tls.key)"
		}
		return nil, s
	}
	known := versions{}
	for _, k := range res.ApiKeys {
		known[k.ApiKey] = k.MaxVersion
	}
	s.OK, s.What = true, fmt.Sprintf("it knows %d APIs, as Kafka %s", len(known), generation(known))
	return known, s
}

// generation names the oldest release that may know what a broker knows.
func generation(known versions) string {
	for _, g := range []struct {
		key, version int16
		name         string
	}{
		{int16(kmsg.DescribeShareGroupOffsets), 0, "4.1 or later"},
		{int16(kmsg.ShareGroupDescribe), 0, "4.0 or later"},
		{int16(kmsg.ConsumerGroupDescribe), 0, "3.7 or later"},
		{int16(kmsg.ConsumerGroupHeartbeat), 0, "3.5 or later"},
		{int16(kmsg.ListTransactions), 0, "3.0 or later"},
		{int16(kmsg.DescribeCluster), 0, "2.8 or later"},
		{int16(kmsg.DescribeClientQuotas), 0, "2.6 or later"},
		{int16(kmsg.IncrementalAlterConfigs), 0, "2.3 or later"},
		{int16(kmsg.SASLAuthenticate), 0, "1.0 or later"},
	} {
		if v, ok := known[g.key]; ok && v >= g.version {
			return g.name
		}
	}
	return "before 1.0"
}

// gone says why no answer came.
func gone(err error) string {
	var ne net.Error
	switch {
	case errors.As(err, &ne) && ne.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the broker closed the connection"
	case errors.Is(err, errTLS):
		return "it answers in TLS, and was not asked in it"
	}
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "remote error":
		return "the broker refuses: " + op.Err.Error()
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

// login says who the client is.
func (w *wire) login(ctx context.Context, m sasl.Mechanism, known versions) Step {
	s := Step{Name: "SASL", Target: w.addr}
	if known[int16(kmsg.SASLHandshake)] < 1 {
		s.What, s.Next = "the broker knows no SASL, or is older than 1.0", "leave sasl out of the profile, or take the port of the listener with SASL"
		return s
	}
	hs := kmsg.NewPtrSASLHandshakeRequest()
	hs.Version, hs.Mechanism = 1, m.Name()
	offered := kmsg.NewPtrSASLHandshakeResponse()
	offered.Version = 1
	if err := w.ask(hs, offered, stepWithin); err != nil {
		s.What, s.Next = gone(err), "is SASL asked for on this port? If not, leave sasl out of the profile"
		return s
	}
	if err := kerr.ErrorForCode(offered.ErrorCode); err != nil {
		if errors.Is(err, kerr.UnsupportedSaslMechanism) {
			s.What = fmt.Sprintf("the broker does not know %s; it knows %s", m.Name(), strings.Join(offered.SupportedMechanisms, ", "))
			s.Next = "set sasl.mechanism to one of those"
			return s
		}
		s.What, s.Next = err.Error(), "is SASL asked for on this port? If not, leave sasl out of the profile"
		return s
	}
	loginCtx, done := context.WithTimeout(ctx, loginWithin)
	defer done()
	session, out, err := m.Authenticate(loginCtx, w.addr)
	if err != nil {
		s.What, s.Next = err.Error(), "check where the profile's sasl gets its secret"
		return s
	}
	if err := w.authenticate(session, out, min(known[int16(kmsg.SASLAuthenticate)], 2)); err != nil {
		s.What, s.Next = err.Error(), "check the user and the secret of the profile, and that "+m.Name()+" is what that user was made for"
		return s
	}
	s.OK, s.What = true, m.Name()
	return s
}

// authenticate goes through the exchange of a mechanism.
func (w *wire) authenticate(session sasl.Session, out []byte, version int16) error {
	for done := false; !done || len(out) > 0; {
		req := kmsg.NewPtrSASLAuthenticateRequest()
		req.Version, req.SASLAuthBytes = version, out
		res := kmsg.NewPtrSASLAuthenticateResponse()
		res.Version = version
		if err := w.ask(req, res, loginWithin); err != nil {
			return errors.New(gone(err))
		}
		if err := kerr.ErrorForCode(res.ErrorCode); err != nil {
			var ke *kerr.Error
			if errors.As(err, &ke) && res.ErrorMessage != nil && *res.ErrorMessage != "" {
				return fmt.Errorf("%s: %s", ke.Message, *res.ErrorMessage)
			}
			return err
		}
		if done {
			return nil
		}
		var err error
		if done, out, err = session.Challenge(res.SASLAuthBytes); err != nil {
			return err
		}
	}
	return nil
}

// cluster asks who the brokers are. A broker that wants SASL hangs up instead.
func (w *wire) cluster(known versions, loggedIn bool) ([]node, Step) {
	s := Step{Name: "cluster", Target: w.addr}
	req := kmsg.NewPtrMetadataRequest()
	req.Version = min(known[req.Key()], 9)
	req.Topics = []kmsg.MetadataRequestTopic{} // none; where the version has no none, all
	res := kmsg.NewPtrMetadataResponse()
	res.Version = req.Version
	if err := w.ask(req, res, stepWithin); err != nil {
		s.What, s.Next = gone(err), "the broker may be starting or in trouble: look at its log"
		if !loggedIn {
			s.What += " when it was asked about the cluster"
			s.Next = "this listener may want to know who you are: add a table sasl to the profile"
		}
		return nil, s
	}
	var out []node
	for _, b := range res.Brokers {
		out = append(out, node{b.NodeID, net.JoinHostPort(b.Host, fmt.Sprint(b.Port))})
	}
	slices.SortFunc(out, func(a, b node) int { return int(a.id) - int(b.id) })
	if len(out) == 0 {
		s.What, s.Next = "it names no broker", "the cluster may be starting: look at the broker's log"
		return nil, s
	}
	s.OK, s.What = true, fmt.Sprintf("%d brokers", len(out))
	if len(out) == 1 {
		s.What = "1 broker"
	}
	if res.ClusterID != nil {
		s.What += ", cluster " + *res.ClusterID
	}
	return out, s
}
